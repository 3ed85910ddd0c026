"""Near-misses of every row get the same verdict from us and from ptxas, but for a short list of
mistakes that ptxas lets pass. ``pytest tests/isa -m ""`` judges all there is to judge.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache

import pytest

from ptx.errors import PtxError
from ptx.isa import FORMS, Form, resolve
from ptx.operands import select
from ptx.targets import Version, meets
from tests.isa import near_misses, referee, samples
from tests.isa.near_misses import NearMiss

pytestmark = pytest.mark.skipif(referee.ptxas() is None, reason="no ptxas found")

NO_SUCH = "no such instruction"
ORDER = "modifiers in another order than the manual's, or twice"

STRICTER: tuple[tuple[str, str, str], ...] = (
    ("an integer literal is cut to its width", ".", "does not fit"),
    ("a literal where a predicate or a packed format is read", ".", r"expected a register of "),
    ("an 0f literal in an .f64 slot fills its low bits", ".", "32-bit pattern"),
    (".f16x2 registers pass for others", ".", r"expected \.([bus]\d|pred).* \(\.f16x2\)"),
    ("{r} passes for the scalar r", ".", "got a vector of 1,"),
    ("lop3 takes a table beyond 8 bits", "lop3", "operand lut"),
    ("vadd.merge's c without a merge or a selector is dropped", "v", "expected a selector, as in"),
    ("a literal as a destination", "v|createpolicy|tcgen05", "a destination must be a register"),
    ("address registers of other widths", ".", "address register of|64-bit address"),
    ("offsets in one space as addresses in another", ".", "is an offset in|lies in"),
    ("a literal or the sink as an address", ".", "a literal address|expected an address, got _"),
    ("a variable's name where its address is not read", "mov|mapa|getctarank", "is a variable"),
    ("literals out of range", "bar|mbarrier|tcgen05|wgmma|setmaxnreg", r"expected \d+ (to|or) "),
    ("a cache policy without .L2::cache_hint", "atom", "expected . operands, got"),
    ("asynchronous stores without their mbarrier", "st|red", "expected 3 operands, got 2"),
    ("one register or literal for a vector", "st|mov", "expected a vector of"),
    ("registers of another class", "isspacep|st|call|bar|vote|shfl", "expected .*, got"),
    ("mbarrier.arrive.noComplete without its state", "mbarrier", "operand d: .* got _"),
    ("a literal of floating point in a packed format", "multimem", "takes no .* literal"),
    ("unlike elements of a vector", "ld|st|atom|red|multimem|mov", "expected|alike"),
    (
        "operands of what ptxas expands to built-in code are hardly looked at",
        "cp|mma|wmma|wgmma|tcgen05|movmatrix|ldmatrix|stmatrix|clusterlaunchcontrol|tensormap",
        "expected|alike|negated|tensor memory",
    ),
    ("the offset of fns is of any type", "fns", "operand offset"),
    (
        "formats that ptxas expands to built-in code take any register",
        "set|setp|cvt|min|max|add|sub|fma",
        r"held in|negated predicate|elements of one vector must be alike",
    ),
)
"""Why we are stricter, the opcodes concerned, what our own message says of it."""

UNDOCUMENTED: tuple[tuple[str, str], ...] = (
    (".pred among the modifiers is ignored", r"\.pred\b"),
    ("rcp of .f64 in every rounding takes .ftz", r"^rcp\..*ftz"),
    ("fma of bf16 rounds otherwise", r"^fma\..*r[zmp]\b"),
    ("fma with .oob saturates", r"^fma\.(?=.*\boob\b)(?=.*\bsat\b)"),
    ("testp without a class", r"^testp\.f\d\d$"),
    ("vectors of eight narrow elements", r"^(ld|st)\..*v8\..*[bsu](8|16)$"),
    ("priorities in L2 beside a cache operator or .volatile", r"^(ld|st)\..*L2::evict"),
    ("red.async of other types", r"^red\.async\."),
    ("vset by unsigned comparisons", r"^vset"),
    ("mapa and getctarank of signed addresses", r"^(mapa|getctarank)\."),
    ("st.async without its mbarrier", r"^st\.async\."),
    ("modifiers of other fences", r"^fence\."),
    ("multimem.st and red with .acc", r"^multimem\.(st|red)\..*acc::"),
    ("multimem.red by the least or greatest half", r"^multimem\.red\..*(min|max).*f16"),
    ("other modifiers of what is expanded, and no .aligned", r"^(w?mma|wgmma|tcgen05|tensormap)\."),
    ("prefetch with a priority, of generic addresses", r"^prefetch\."),
    ("16-bit and saturating carries", r"^(addc|subc|madc)\b.*\b([us]16|sat)\b"),
)
"""Opcodes that ptxas takes and the manual does not know."""


LOOSER: tuple[tuple[str, str], ...] = (
    ("a call's arguments against its prototype, which is for the checker", "call"),
    ("a store to the kernel's own parameter, which is for the checker", r"st\.param\S* \[kp\]"),
    ("the value of a literal in createpolicy.cvt", "createpolicy.cvt"),
    ("the last elements of B in mma.sp of 8-bit floats", r"mma\.sp\b.*e[45]m[32]"),
)
"""What we take, one instruction at a time, and ptxas refuses."""


@cache
def spelled(opcode: str) -> frozenset[frozenset[str]]:
    """The words of every spelling of an opcode, without their order."""
    return frozenset(frozenset(w) for form in FORMS[opcode] for w, _ in form.spellings())


def our_verdict(miss: NearMiss, target: str) -> str:
    """Why we refuse it; ``""`` where we take it."""
    if not resolve(miss.op):
        return NO_SUCH
    try:
        variant = select(miss.op, miss.operands)
    except PtxError as error:
        return str(error) or "refused"
    return "" if all(meets(target, need) for need in variant.needs) else "target"


def why_stricter(miss: NearMiss, ours: str) -> str:
    """The entry of the lists above that explains why only we refuse; ``""`` where none does."""
    opcode = miss.op.partition(".")[0]
    if ours == NO_SUCH:
        if frozenset(miss.op.split(".")) in spelled(opcode):
            return ORDER
        return next((why for why, op in UNDOCUMENTED if re.search(op, miss.op)), "")
    return next(
        (why for why, op, said in STRICTER if re.match(op, opcode) and re.search(said, ours)), ""
    )


def judge(
    forms: list[Form], each: int, most: int, limit: int
) -> tuple[Counter[str], Counter[str], list[str]]:
    """Counts of verdicts, counts of reasons to be stricter, and what nothing explains.

    `each` near-misses of a kind are made of each place, from `most` instances of a row at most,
    and `limit` of them judged for each target.
    """
    chance = random.Random(0)
    asked: dict[tuple[str, Version], dict[str, NearMiss]] = defaultdict(dict)
    for form in forms:
        variants = samples.covering(form)
        for variant in chance.sample(variants, min(most, len(variants))):
            for make in (near_misses.of_modifiers, near_misses.of_operands):
                for miss in make(variant, chance, each):
                    asked[samples.newest(variant)][str(miss)] = miss
    counts: Counter[str] = Counter()
    stricter: Counter[str] = Counter()
    unexplained = []
    for (target, version), misses in asked.items():
        if len(misses) > limit:
            misses = dict(chance.sample(list(misses.items()), limit))
        verdicts = referee.judge(list(misses), target, version, together=20)
        for (line, miss), messages in zip(misses.items(), verdicts, strict=True):
            counts["near_misses"] += 1
            ours = our_verdict(miss, target)
            if bool(ours) == bool(messages):
                counts["both_refuse" if ours else "both_take"] += 1
            elif not ours and any(re.match(op, line) for _, op in LOOSER):
                counts["looser"] += 1
            elif not ours:
                unexplained.append(f"{miss.name}: {target} {line} only ptxas refuses: {messages}")
            elif why := why_stricter(miss, ours):
                stricter[why] += 1
            else:
                unexplained.append(f"{miss.name}: {target} {line} only we refuse: {ours}")
    counts["stricter"] = stricter.total()
    return counts, stricter, unexplained


@pytest.mark.parametrize("chapter", samples.CHAPTERS)
def test_near_misses(chapter: str, judged: Callable[..., None]) -> None:
    counts, _, unexplained = judge(samples.forms_of(chapter), each=1, most=1, limit=1200)
    judged("reject", chapter, [], **counts)
    assert not unexplained, f"{len(unexplained)}:\n" + "\n".join(unexplained[:60])


@pytest.mark.slow
@pytest.mark.parametrize("chapter", samples.CHAPTERS)
def test_many_near_misses(chapter: str, judged: Callable[..., None]) -> None:
    counts, stricter, unexplained = judge(samples.forms_of(chapter), each=2, most=6, limit=1 << 20)
    judged("reject, all", chapter, [], **counts)
    judged("stricter than ptxas", chapter, [], **stricter)
    assert not unexplained, f"{len(unexplained)}:\n" + "\n".join(unexplained[:60])
