"""atom on 128 bits: exch and cas, in every space, threads one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emu.harness import outputs

PAIR = """
.reg .b128 %q<8>;
.shared .align 16 .b8 word[16];
ld.param.u64 %rd0, [p0]; mov.u32 %r6, word; mov.u64 %rd1, {memory};
mov.u64 %rd2, 7; mov.u64 %rd3, 9; mov.b128 %q0, {{%rd2, %rd3}};
setp.eq.u32 %p0, %j, 0; @%p0 st{space}.b128 [%rd1], %q0; bar.sync 0;
cvt.u64.u32 %rd4, %j; add.u64 %rd5, %rd4, 100;
"""
SPACES = {".global": "%rd0", ".shared": "word", "": "%rd0"}


@pytest.mark.parametrize("space", SPACES)
def test_exchanges_pass_a_value_on(space: str) -> None:
    """Each thread leaves its own pair and takes the one before: all appear once."""
    text = PAIR.format(memory=SPACES[space], space=space)
    text += f"""
    mov.b128 %q1, {{%rd4, %rd5}}; atom{space}.exch.b128 %q2, [%rd1], %q1; bar.sync 0;
    mad.wide.u32 %rd6, %j, 16, %rd0; st.global.b128 [%rd6+16], %q2;
    @%p0 ld{space}.b128 %q3, [%rd1]; @%p0 st.global.b128 [%rd0], %q3;
    """
    found = outputs(text, 66, "u8", block=32, fill=0).reshape(33, 2).tolist()
    assert sorted(found) == sorted([[7, 9], *([n, n + 100] for n in range(32))])


@pytest.mark.parametrize("space", SPACES)
def test_a_swap_compares_both_halves(space: str) -> None:
    text = PAIR.format(memory=SPACES[space], space=space)
    text += f"""
    mov.b128 %q1, {{%rd4, %rd5}};
    mov.b128 %q4, {{%rd2, %rd2}}; atom{space}.cas.b128 %q2, [%rd1], %q4, %q1;
    mov.b128 %q4, {{%rd3, %rd3}}; atom{space}.cas.b128 _, [%rd1], %q4, %q1;
    bar.sync 0; @%p0 ld{space}.b128 %q3, [%rd1]; mov.b128 {{%rd8, %rd9}}, %q3; bar.sync 0;
    atom{space}.cas.b128 %q5, [%rd1], %q0, %q1; bar.sync 0;
    mad.wide.u32 %rd6, %j, 16, %rd0; st.global.b128 [%rd6+16], %q5;
    @%p0 st.global.b128 [%rd0], %q2; @%p0 st.global.u64 [%rd0+528], %rd8;
    @%p0 st.global.u64 [%rd0+536], %rd9;
    """
    found = outputs(text, 68, "u8", block=32, fill=0).reshape(34, 2).tolist()
    # The pairs (7, 7) and (9, 9) are not there; (7, 9) is, for the first thread only.
    assert found[0] == found[33] == [7, 9]
    assert found[1] == [7, 9]
    assert found[2:33] == [[0, 100]] * 31


def test_the_operands_of_others_do_not_matter() -> None:
    """128 bits that differ in one bit of either half."""
    text = PAIR.format(memory="%rd0", space=".global")
    text += """
    shl.b64 %rd6, 1, %j; mov.u64 %rd7, 0; setp.lt.u32 %p1, %j, 64;
    selp.b64 %rd8, %rd6, %rd7, %p1; xor.b64 %rd8, %rd8, %rd2;
    sub.u32 %r1, %j, 64; shl.b64 %rd6, 1, %r1; selp.b64 %rd9, %rd7, %rd6, %p1;
    xor.b64 %rd9, %rd9, %rd3; mov.b128 %q4, {%rd8, %rd9}; mov.b128 %q1, {%rd4, %rd5};
    atom.global.cas.b128 _, [%rd1], %q4, %q1;
    """
    found = outputs(text.replace("shl.b64 %rd6, 1,", "mov.u64 %rd6, 1; shl.b64 %rd6, %rd6,"),
                    2, "u8", block=128)  # fmt: skip
    assert found.tolist() == [7, 9]
    assert found.dtype == np.uint64
