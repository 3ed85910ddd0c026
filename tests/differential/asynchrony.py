"""Asynchronous stores and reductions, atomics on floats and 128 bits, calls through a register.

Each thread or copy changes places of its own, so that no order of them matters.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ptx import types
from tests.differential.jobs import Job
from tests.differential.programs import HEAD
from tests.differential.values import Array, columns

SEED = 9
CTAS = 32
"""Of a job; each has its own operands."""
TILE = 512
"""Bytes that a copy reduces."""
TX = "mbarrier::complete_tx::bytes"


def _operands(type: str, nbytes: int) -> tuple[Array, ...]:
    """Two arrays of `type` for every CTA, as bytes: pairs of edges, then random ones."""
    count = CTAS * nbytes * 8 // types.bits(type)
    return tuple(column.view(np.uint8) for column in columns((type, type), count, SEED))


_START = """
    .reg .b64 %a, %b, %out, %at; .reg .b32 %t, %i, %cta, %x, %from, %sum, %bar; .reg .pred %p, %q;
    ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %out, [out];
    mov.u32 %i, %tid.x; mov.u32 %cta, %ctaid.x; setp.eq.u32 %p, %i, 0; shl.b32 %t, %i, 2;
"""


def _own(size: int) -> str:
    """Every pointer at its CTA's part."""
    return " ".join(f"mad.wide.u32 %{p}, %cta, {size}, %{p};" for p in ("a", "b", "out"))


def _job(name: str, body: str, type: str, size: int, directive: str = "") -> Job:
    """`body` between the reading of parameters and the return; 128 threads in each CTA."""
    head = f".visible .entry job(.param .u64 a, .param .u64 b, .param .u64 out){directive}\n{{"
    text = f"{HEAD}{head}{_START}{_own(size)}\n{body}\nret;\n}}\n"
    return Job(name, text, CTAS, size // 4, _operands(type, size), CTAS * size)


_LOAD = """
    cvt.u64.u32 %at, %t; add.u64 %at, %b, %at; ld.global.b32 %x, [%at];
    mov.u32 %from, tile; add.u32 %sum, %from, %t; st.shared.b32 [%sum], %x;
    cvt.u64.u32 %at, %t; add.u64 %at, %a, %at; ld.global.b32 %x, [%at];
"""


def _into_global(operation: str, type: str) -> Job:
    """The CTA's part of the output is `a`, then reduced by `b`."""
    body = f"""
    .shared .align 16 .b8 tile[{TILE}];
    {_LOAD}
    cvt.u64.u32 %at, %t; add.u64 %at, %out, %at; st.global.b32 [%at], %x;
    fence.proxy.async; bar.sync 0;
    @!%p bra done;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation}.{type} [%out], [%from], {TILE};
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
done:"""
    return _job(f"cp.reduce global {operation}.{type}", body, type, TILE)


_PEER = " .reqnctapercluster 2, 1, 1 .explicitcluster"


def _into_shared(operation: str, type: str) -> Job:
    """A CTA's elements of `b` change those of `a` in the other CTA of its cluster."""
    body = f"""
    .reg .b32 %peer, %there, %far;
    .shared .align 16 .b8 tile[{TILE}], into[{TILE}]; .shared .align 8 .b64 full;
    {_LOAD}
    mov.u32 %there, into; add.u32 %sum, %there, %t; st.shared.b32 [%sum], %x; mov.u32 %bar, full;
    @%p mbarrier.init.shared::cta.b64 [%bar], 1; @%p fence.mbarrier_init.release.cluster;
    @%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {TILE};
    fence.proxy.async; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mov.u32 %peer, %cluster_ctarank; xor.b32 %peer, %peer, 1;
    mapa.shared::cluster.u32 %there, %there, %peer; mapa.shared::cluster.u32 %far, %bar, %peer;
    @!%p bra wait;
    cp.reduce.async.bulk.shared::cluster.shared::cta.{TX}.{operation}.{type}
        [%there], [%from], {TILE}, [%far];
wait:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q, [%bar], 0; @!%q bra wait;
    ld.shared.b32 %x, [%sum]; cvt.u64.u32 %at, %t; add.u64 %at, %out, %at; st.global.b32 [%at], %x;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    """
    return _job(f"cp.reduce shared {operation}.{type}", body, type, TILE, _PEER)


def _to_a_peer(op: str, type: str, vector: int) -> Job:
    """Each thread sends elements of `b` to its neighbour's CTA, where elements of `a` lie."""
    size = vector * types.bits(type) // 8
    tile = 128 * size
    names = [f"%v{n}" for n in range(vector)]
    register = types.register_type(type)
    value = f"{{{', '.join(names)}}}" if vector > 1 else names[0]
    word = f"b{types.bits(type)}"
    loads = " ".join(
        f"ld.global.{word} {name}, [%at+{n * types.bits(type) // 8}];"
        for n, name in enumerate(names)
    )
    body = f"""
    .reg .{register} {", ".join(names)}; .reg .b32 %peer, %there, %far;
    .shared .align 16 .b8 into[{tile}]; .shared .align 8 .b64 full;
    mul.lo.u32 %t, %i, {size}; cvt.u64.u32 %at, %t; add.u64 %at, %a, %at;
    mov.u32 %sum, into; add.u32 %sum, %sum, %t; mov.u32 %bar, full; {loads}
    {
        " ".join(
            f"st.shared.{word} [%sum+{n * types.bits(type) // 8}], {name};"
            for n, name in enumerate(names)
        )
    }
    @%p mbarrier.init.shared::cta.b64 [%bar], 1; @%p fence.mbarrier_init.release.cluster;
    @%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {tile};
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mov.u32 %peer, %cluster_ctarank; xor.b32 %peer, %peer, 1;
    mapa.shared::cluster.u32 %there, %sum, %peer; mapa.shared::cluster.u32 %far, %bar, %peer;
    cvt.u64.u32 %at, %t; add.u64 %at, %b, %at; {loads}
    {op} [%there], {value}, [%far];
wait:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q, [%bar], 0; @!%q bra wait;
    cvt.u64.u32 %at, %t; add.u64 %at, %out, %at;
    {
        " ".join(
            f"ld.shared.{word} {name}, [%sum+{n * types.bits(type) // 8}]; "
            f"st.global.{word} [%at+{n * types.bits(type) // 8}], {name};"
            for n, name in enumerate(names)
        )
    }
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    """
    job = _job(f"{op} v{vector}", body, type, tile, _PEER)
    return Job(job.name, job.text, job.grid, 128, job.inputs, job.out_bytes)


def _wide_atomics(space: str) -> Job:
    """Each thread exchanges a pair of its own, then swaps it where it is one of two values."""
    memory = "%sum" if space == ".shared" else "%own"
    body = f"""
    .reg .b64 %l, %h, %m, %n, %own; .reg .b128 %q0, %q1, %q2, %q3;
    .shared .align 16 .b8 tile[{16 * 128}];
    mad.wide.u32 %a, %i, 16, %a; mad.wide.u32 %b, %i, 16, %b; mad.wide.u32 %own, %i, 16, %out;
    ld.global.v2.u64 {{%l, %h}}, [%a]; ld.global.v2.u64 {{%m, %n}}, [%b];
    mov.b128 %q0, {{%l, %h}}; mov.b128 %q1, {{%m, %n}};
    shl.b32 %t, %i, 4; mov.u32 %sum, tile; add.u32 %sum, %sum, %t;
    st{space}.b128 [{memory}], %q0;
    atom{space}.exch.b128 %q2, [{memory}], %q1;
    and.b32 %x, %i, 1; setp.eq.u32 %q, %x, 1; selp.b64 %l, %m, %h, %q; mov.b128 %q3, {{%l, %n}};
    atom{space}.cas.b128 %q1, [{memory}], %q3, %q2;
    ld{space}.b128 %q3, [{memory}]; st.global.b128 [%own], %q3;
    """
    job = _job(f"atom{space}.b128", body, "u64", 16 * 128)
    return Job(job.name, job.text, job.grid, 128, job.inputs, job.out_bytes)


def _float_atomics(space: str, operation: str, type: str, vector: int) -> Job:
    """Each thread changes elements of `a` by those of `b`: by red, by atom; and what atom read."""
    bits, size = types.bits(type), vector * types.bits(type) // 8
    column = 128 * size
    word = "" if vector == 1 else f".v{vector}"
    olds, news = ([f"%{letter}{n}" for n in range(vector)] for letter in "vw")
    read, value = (f"{{{', '.join(names)}}}" if vector > 1 else names[0] for names in (olds, news))
    memory = "%sum" if space == ".shared" else "%own"
    named = f"{operation}{word}.{type}"

    def moved(op: str, address: str, registers: list[str], place: int = 0) -> str:
        """Every element by itself: not every vector may be moved as one."""
        ends = [f"[{address}+{place + n * bits // 8}]" for n in range(vector)]
        pairs = zip(ends, registers, strict=True)
        return " ".join(
            f"{op}.b{bits} {r}, {e};" if op[:2] == "ld" else f"{op}.b{bits} {e}, {r};"
            for e, r in pairs
        )

    body = f"""
    .reg .{types.register_type(type)} {", ".join([*olds, *news])}; .reg .b64 %own;
    .shared .align 16 .b8 tile[{2 * column}];
    mad.wide.u32 %a, %i, {size}, %a; mad.wide.u32 %b, %i, {size}, %b;
    mad.wide.u32 %own, %i, {size}, %out; mov.u32 %sum, tile; mad.lo.u32 %sum, %i, {size}, %sum;
    {moved("ld.global", "%a", olds)} {moved("ld.global", "%b", news)}
    {moved(f"st{space}", memory, olds)} {moved(f"st{space}", memory, olds, column)}
    red{space}.{named} [{memory}], {value};
    atom{space}.{named} {read}, [{memory}+{column}], {value};
    {moved("st.global", "%own", olds, 2 * column)}
    {moved(f"ld{space}", memory, olds)} {moved("st.global", "%own", olds)}
    {moved(f"ld{space}", memory, olds, column)} {moved("st.global", "%own", olds, column)}
    """
    job = _job(f"atom{space}.{named}", body, type, 3 * column)
    return Job(job.name, job.text, job.grid, 128, job.inputs, job.out_bytes)


def _calls() -> Job:
    """Threads call one of four functions by its address."""
    functions = "".join(
        f".func (.param .b32 r) f{n}(.param .b32 x, .param .b32 y)\n{{ .reg .b32 %x, %y; "
        f"ld.param.b32 %x, [x]; ld.param.b32 %y, [y]; {op} %x, %x, %y; "
        "st.param.b32 [r], %x; ret; }\n"
        for n, op in enumerate(("add.u32", "mul.lo.u32", "xor.b32", "min.s32"))
    )
    table = ".global .align 8 .u64 table[4] = {f0, f1, f2, f3};\n"
    body = """
    .reg .b32 %y; .reg .b64 %f; .param .b32 x; .param .b32 y; .param .b32 r;
    any: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
    cvt.u64.u32 %at, %t; add.u64 %f, %a, %at; ld.global.b32 %x, [%f];
    add.u64 %f, %b, %at; ld.global.b32 %y, [%f]; st.param.b32 [x], %x; st.param.b32 [y], %y;
    xor.b32 %x, %x, %i; and.b32 %x, %x, 3; mov.u64 %f, table; mad.wide.u32 %f, %x, 8, %f;
    ld.global.u64 %f, [%f]; call (r), %f, (x, y), any; ld.param.b32 %x, [r];
    add.u64 %at, %out, %at; st.global.b32 [%at], %x;
    """
    job = _job("call through a register", body, "u32", TILE)
    text = job.text.replace(HEAD, HEAD + functions + table)
    return Job(job.name, text, job.grid, job.block, job.inputs, job.out_bytes)


GLOBAL = (("and or xor", "b32 b64"), ("add", "u32 s32 u64 f32 f64"), ("inc dec", "u32"),
          ("min max", "u32 s32 u64 s64 f16 bf16"), ("add.noftz", "f16 bf16"))  # fmt: skip
SHARED = (("and or xor", "b32"), ("add", "u32 s32 u64"), ("inc dec", "u32"), ("min max", "u32 s32"))


FLOATS = (("add", "f32 f64"), ("add.noftz", "f16 f16x2 bf16 bf16x2"))
VECTORS = (("add", "f32", (2, 4)), ("add.noftz", "f16 bf16", (2, 4, 8)),
           ("min.noftz max.noftz", "f16 bf16", (2, 8)),
           ("add.noftz min.noftz max.noftz", "f16x2 bf16x2", (2, 4)))  # fmt: skip


def _forms(table: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, str]]:
    for operations, kinds in table:
        for operation in operations.split():
            for type in kinds.split():
                yield operation, type


def _all_float_atomics() -> Iterator[Job]:
    for operation, type in _forms(FLOATS):
        for space in (".global", ".shared", ""):
            yield _float_atomics(space, operation, type, 1)
    for operations, kinds, vectors in VECTORS:
        for operation, type in _forms(((operations, kinds),)):
            for vector in vectors:
                yield _float_atomics(".global", operation, type, vector)


def asynchrony_jobs() -> Iterator[Job]:
    """Every reduction by a copy, every store and reduction at a peer, atomics, calls."""
    for operation, type in _forms(GLOBAL):
        yield _into_global(operation, type)
    for operation, type in _forms(SHARED):
        yield _to_a_peer(f"red.async.relaxed.cluster.{TX}.{operation}.{type}", type, 1)
    for type, vectors in (("b32", (1, 2, 4)), ("f32", (2, 4)), ("s64", (1, 2)), ("f64", (2,))):
        for vector in vectors:
            word = f".v{vector}" if vector > 1 else ""
            yield _to_a_peer(f"st.async.shared::cluster.{TX}{word}.{type}", type, vector)
    for space in (".global", ".shared", ""):
        yield _wide_atomics(space)
    yield from _all_float_atomics()
    yield _calls()
    for operation, type in _forms(SHARED):
        yield _into_shared(operation, type)
