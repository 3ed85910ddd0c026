"""Calls through a register: threads part by the function that they hold the address of."""

from __future__ import annotations

import struct
from typing import Any

import pytest

import ptx
from ptx.emu import EmulatorFault, Memory, Unmodelled, launch

INDIRECT = """
.version 8.0
.target sm_90
.address_size 64
.func (.param .u32 out) apply(.param .u64 f, .param .u32 x);
.func (.param .u32 out) twice(.param .u32 x)
{{
  .reg .u32 %r; ld.param.u32 %r, [x]; add.u32 %r, %r, %r; st.param.u32 [out], %r; ret;
}}
.func (.param .u32 out) square(.param .u32 x)
{{
  .reg .u32 %r; ld.param.u32 %r, [x]; mul.lo.u32 %r, %r, %r; st.param.u32 [out], %r; ret;
}}
.func (.param .u32 out) triangle(.param .u32 x)
{{
  .reg .u32 %r, %s, %m; .reg .u64 %f; .reg .pred %p; .param .u32 a; .param .u32 b;
  ld.param.u32 %r, [x]; mov.u32 %s, %r;
  setp.eq.u32 %p, %r, 0; @%p bra done;
  sub.u32 %m, %r, 1; st.param.u32 [a], %m; mov.u64 %f, triangle;
  self: .callprototype (.param .u32 _) _ (.param .u32 _);
  call (b), %f, (a), self;
  ld.param.u32 %m, [b]; add.u32 %s, %m, %r;
done: st.param.u32 [out], %s; ret;
}}
.func (.param .u64 out) wide(.param .u64 x) {{ ret; }}
.global .align 8 .u64 table[4] = {{twice, square, triangle, wide}};
.visible .entry test(.param .u64 p)
{{
  .reg .u64 %rd<4>; .reg .u32 %i, %r, %n; .reg .pred %p;
  .param .u32 a; .param .u32 b;
  {declared}
  ld.param.u64 %rd0, [p];
  mov.u32 %i, %tid.x;
  rem.u32 %n, %i, 3; {pick}
  mov.u64 %rd1, table; mad.wide.u32 %rd1, %n, 8, %rd1; ld.global.u64 %rd2, [%rd1]; {change}
  st.param.u32 [a], %i;
  call (b), %rd2, (a), allowed;
  ld.param.u32 %r, [b];
  mad.wide.u32 %rd3, %i, 4, %rd0; st.global.u32 [%rd3], %r;
  ret;
}}
"""
PROTOTYPE = "allowed: .callprototype (.param .u32 _) _ (.param .u32 _);"
LISTED = "allowed: .calltargets twice, square, triangle;"


def indirect(declared: str = PROTOTYPE, pick: str = "", change: str = "") -> list[int]:
    text = INDIRECT.format(declared=declared, pick=pick, change=change)
    memory = Memory()
    address = memory.allocate(4 * 48)
    arguments = struct.pack("<Q", address)
    launch("test", ptx.parse(text), (1, 1, 1), (48, 1, 1), arguments, memory=memory)
    return list(memory.read(address, 4 * 48).view("u4").tolist())


@pytest.mark.parametrize("declared", [PROTOTYPE, LISTED])
def test_threads_call_what_a_table_holds(declared: str) -> None:
    functions: list[Any] = [lambda x: 2 * x, lambda x: x * x, lambda x: x * (x + 1) // 2]
    assert indirect(declared) == [functions[n % 3](n) for n in range(48)]


def test_all_threads_call_one_function() -> None:
    assert indirect(pick="mov.u32 %n, 1;") == [n * n for n in range(48)]


@pytest.mark.parametrize(
    "changes",
    [
        {"pick": "setp.eq.u32 %p, %i, 7; @%p mov.u32 %n, 3;"},
        {"change": "setp.eq.u32 %p, %i, 7; @%p add.u64 %rd2, %rd2, 4;"},
        {"declared": LISTED.replace(", triangle", ""), "pick": "setp.ne.u32 %p, %i, 7; "
         "selp.u32 %n, 0, 2, %p;"},
    ],
    ids=["another signature", "inside a function", "not listed"],
)  # fmt: skip
def test_an_address_that_the_call_may_not_go_to(changes: dict[str, str]) -> None:
    with pytest.raises(EmulatorFault, match="is the address of no function that the call") as error:
        indirect(**changes)
    assert error.value.kind == "wrong-space"
    assert error.value.thread == (7, 0, 0)
    assert "twice, square" in str(error.value)


def test_a_call_with_no_prototype() -> None:
    with pytest.raises(Unmodelled, match="allowed is no prototype and no list of targets"):
        indirect(declared="")
