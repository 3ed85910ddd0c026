"""Limits of memory and of launches, and directives that contradict each other."""

from __future__ import annotations

from math import prod

from ptx.ir import Variable
from ptx.requirements import bare
from ptx.rules.rule import Finding, Findings, ModuleView, View, at, rule

PORTABLE_SHARED_BYTES = 48 * 1024
"""What the .shared variables of one kernel may take on targets without the suffix a."""

SHARED_KIB: dict[int, int] = {
    50: 48, 52: 48, 53: 48, 60: 48, 61: 48, 62: 48, 70: 96, 72: 96, 75: 64, 80: 163, 86: 99,
    87: 163, 88: 99, 89: 99, 90: 227, 100: 227, 103: 227, 110: 227, 120: 99, 121: 99,
}  # fmt: skip
"""Shared memory that a CTA may have, static and dynamic (CUDA Programming Guide, compute
capabilities). ptxas lets .shared variables take all of it on sm_90a, sm_100a ... sm_121a."""

PARAMETER_BYTES = 4352
"""Up to PTX 8.0; the manual says 4096, ptxas takes 4352."""
LARGE_PARAMETER_BYTES = 32764
"""From PTX 8.1 on, for sm_70 and newer."""
CONSTANT_BYTES = 64 * 1024
"""What the .const variables of a module may take (PTX ISA 9.0, section 5.1.4)."""
CTA_THREADS = 1024


@rule(
    "shared-size",
    """The .shared variables of a kernel take more than the target has. Without the suffix a the
    limit is 48 KB on every target; sm_90a, sm_100a, sm_103a and sm_110a take 227 KB, sm_120a and
    sm_121a 99 KB. More than 48 KB is had everywhere as dynamic shared memory: declare `.extern
    .shared .b8 name[];` (in Python k.dynamic_shared) and let the launch give the bytes, up to the
    device's limit: 227 KB on sm_90 and sm_100, 163 KB on sm_80, 99 KB on sm_86, sm_89 and sm_120.
    Where no target is given yet, more than 48 KB is a warning.""",
    bad="""
.visible .entry k()
{
.shared .align 16 .b8 tile[409600];  // here
.reg .b32 %r<4>;
mov.u32 %r1, tile;
ret;
}
""",
    good="""
.extern .shared .align 16 .b8 tile[];
.visible .entry k()
{
.reg .b32 %r<4>;
mov.u32 %r1, tile;
ret;
}
""",
    severity="certainty",
)
def shared_size(view: View) -> Findings:
    if not view.function.entry:
        return
    used = [v for v in view.function.variables if v.space == "shared"]
    module = view.module.named
    names = dict.fromkeys(symbol.name for symbol, _, _ in view.flow.symbols)
    for name in names:
        variable = module.get(name)
        if isinstance(variable, Variable) and variable.space == "shared":
            used.append(variable)
    total = sum(v.bytes for v in used)
    limit, dynamic = _shared_limits(view.module)
    if total > PORTABLE_SHARED_BYTES and total > limit:
        largest = max(used, key=lambda v: v.bytes)
        on = f" on {view.module.target}" if view.module.target else ""
        hint = (
            f"a CTA has at most {dynamic // 1024} KB{on}, dynamic included"
            if total > dynamic
            else f"dynamic shared memory, which the launch gives, goes up to {dynamic // 1024} KB"
        )
        yield at(
            largest,
            f"{view.function.name} declares {total} bytes of shared memory, the limit{on} is "
            f"{limit}; {hint}",
            certain=view.module.target is not None or total > dynamic,
        )


def _shared_limits(module: ModuleView) -> tuple[int, int]:
    """Bytes that variables may take, and that a CTA may have in all."""
    architecture = module.architecture
    if architecture is None or module.target is None:
        return PORTABLE_SHARED_BYTES, max(SHARED_KIB.values()) * 1024
    dynamic = SHARED_KIB[architecture] * 1024
    return (dynamic if bare(module.target)[-1] == "a" else PORTABLE_SHARED_BYTES), dynamic


@rule(
    "parameter-size",
    """The parameters of a kernel take more than 4352 bytes (32764 from PTX 8.1 on, for sm_70 and
    newer). Pass a pointer to them instead.""",
    bad=".visible .entry k(.param .align 8 .b8 q[32768])  // here\n{\nret;\n}",
    good=".visible .entry k(.param .align 8 .b8 q[32760])\n{\nret;\n}",
)
def parameter_size(view: View) -> Findings:
    if not view.function.entry:
        return
    total = 0
    for parameter in view.function.params:
        total = -(-total // parameter.alignment) * parameter.alignment + parameter.bytes
    version, architecture = view.module.version, view.module.architecture
    large = (version is None or version >= (8, 1)) and (architecture is None or architecture >= 70)
    limit = LARGE_PARAMETER_BYTES if large else PARAMETER_BYTES
    if total > limit:
        yield Finding(
            f"the parameters of {view.function.name} take {total} bytes, the limit is {limit}",
            view.function.place,
        )


@rule(
    "constant-size",
    """The .const variables of a module take more than the 64 KB that there are. Put what is read
    by an index that differs between threads in .global anyway: constant memory serves one address
    of a warp at a time.""",
    bad=".const .b8 a[65537];  // here",
    good=".const .b8 a[65536];",
    whole_module=True,
)
def constant_size(view: ModuleView) -> Findings:
    variables = [v for v in view.variables if v.space == "const" and v.linkage != "extern"]
    total = sum(variable.bytes for variable in variables)
    if total > CONSTANT_BYTES:
        largest = max(variables, key=lambda v: v.bytes)
        yield at(largest, f"the .const variables take {total} bytes, the limit is {CONSTANT_BYTES}")


@rule(
    "cta-size",
    """A CTA has at most 1024 threads, 1024 along x and y, 64 along z. ptxas takes larger numbers in
    .maxntid and .reqntid silently; no launch can meet them.""",
    bad=".visible .entry k() .maxntid 2048  // here\n{\nret;\n}",
    good=".visible .entry k() .maxntid 1024\n{\nret;\n}",
)
def cta_size(view: View) -> Findings:
    for name, arguments in view.function.directives:
        if name in ("maxntid", "reqntid"):
            threads, place = prod(arguments), view.function.place_of(name)
            if threads > CTA_THREADS or (len(arguments) == 3 and arguments[2] > 64):
                yield Finding(
                    f".{name} {', '.join(map(str, arguments))} is {threads} threads; a CTA has at "
                    f"most {CTA_THREADS}, and 64 along z",
                    place,
                )
            elif threads < 1:
                yield Finding(f".{name} must be positive", place)


@rule(
    "cluster-size",
    """A cluster has at most 16 CTAs, and more than 8 only on devices that a launch has asked for
    non-portable sizes.""",
    bad=".visible .entry k() .reqnctapercluster 32  // here\n{\nret;\n}",
    good=".visible .entry k() .reqnctapercluster 8\n{\nret;\n}",
)
def cluster_size(view: View) -> Findings:
    for name, arguments in view.function.directives:
        if name in ("reqnctapercluster", "maxclusterrank") and prod(arguments) > 16:
            yield Finding(
                f".{name} {', '.join(map(str, arguments))} is {prod(arguments)} CTAs; a cluster "
                "has at most 16 (8 without a non-portable launch)",
                view.function.place_of(name),
            )


EXCLUSIVE = (("maxntid", "reqntid"), ("reqnctapercluster", "maxclusterrank"))


@rule(
    "conflicting-directives",
    """Two directives of a kernel exclude each other: .maxntid and .reqntid, or .reqnctapercluster
    and .maxclusterrank.""",
    bad=".visible .entry k() .maxntid 256 .reqntid 256  // here\n{\nret;\n}",
    good=".visible .entry k() .reqntid 256\n{\nret;\n}",
)
def conflicting_directives(view: View) -> Findings:
    names = [name for name, _ in view.function.directives]
    for one, other in EXCLUSIVE:
        if one in names and other in names:
            second = max(one, other, key=names.index)
            yield Finding(f".{one} and .{other} exclude each other", view.function.place_of(second))


@rule(
    "ignored-directive",
    """A directive has no effect: .minnctapersm without .maxntid or .reqntid, .maxnreg over 255.
    ptxas ignores them with a warning.""",
    bad=".visible .entry k() .minnctapersm 2  // here\n{\nret;\n}",
    good=".visible .entry k() .maxntid 128 .minnctapersm 2\n{\nret;\n}",
    severity="warning",
)
def ignored_directive(view: View) -> Findings:
    has = view.function.directive
    if has("minnctapersm") and not (has("maxntid") or has("reqntid")):
        yield Finding(
            ".minnctapersm is ignored without .maxntid or .reqntid",
            view.function.place_of("minnctapersm"),
        )
    registers = has("maxnreg")
    if registers and registers[0] > 255:
        yield Finding(
            f".maxnreg {registers[0]} is ignored: a thread has at most 255",
            view.function.place_of("maxnreg"),
        )


@rule(
    "setmaxnreg-ignored",
    """setmaxnreg is ignored unless the kernel's register count is known at its entry: give .maxntid
    or .reqntid with .minnctapersm, or .maxnreg.""",
    bad=".visible .entry k()\n{\nsetmaxnreg.dec.sync.aligned.u32 40;  // here\nret;\n}",
    good=".visible .entry k() .reqntid 384 .minnctapersm 1\n{\n"
    "setmaxnreg.dec.sync.aligned.u32 40;\nret;\n}",
    foreign="warning",
)
def setmaxnreg_ignored(view: View) -> Findings:
    has = view.function.directive
    known = has("maxnreg") or (has("minnctapersm") and (has("maxntid") or has("reqntid")))
    if view.function.entry and not known:
        for _, instruction in view.flow.of("setmaxnreg"):
            yield at(
                instruction,
                "setmaxnreg is ignored: the kernel's register count is not known at its entry; "
                "give .maxntid or .reqntid with .minnctapersm, or .maxnreg",
            )
            return
