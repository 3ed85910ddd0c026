"""How fast PTX text is parsed and checked, beside pyptx and ptx-parser on the same texts.

    python -m benchmarks.parse [--megabytes 5] [--record]

Two texts: what compilers print (the corpus in tests/corpus, over and over with other names), and
one long kernel. Seconds of CPU time, best of three; the first parsing of a text, when no spelling
has been looked up yet, is told apart. A rival that is not installed is left out, one that gives up
is told with its words.
"""

from __future__ import annotations

import importlib
import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ptx
from benchmarks import harness
from ptx.ir import Function, Module, Variable

CORPUS = Path(__file__).parent.parent / "tests" / "corpus" / "ptx"
HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"
RIVALS = {
    "pyptx": ("pyptx.parser", "parse"),
    "ptx-parser": ("ptx_parser", "parse_ptx"),
}


def compiled(size: int) -> str:
    """Modules of the corpus in one, each several times with other names, of `size` bytes at least.

    Line tables stay, debugging sections go, since there may be one of each name.
    """
    parts = []
    for path in sorted(CORPUS.glob("*.ptx")):
        if not path.stem.endswith(("sm_100", "sm_120")) or path.stem.startswith(
            ("control", "atomics")
        ):
            text = path.read_text(encoding="ascii")
            text = re.sub(r"(?m)^\s*\.(version|target|address_size|file)\b.*\n", "", text)
            text = re.sub(r"(?m)^\s*\.section\b[^{]*\{[^}]*\}\n", "", text)
            names = {i.name for i in ptx.parse(HEADER + text).items
                     if isinstance(i, (Function, Variable))}  # fmt: skip
            declared = {"vprintf", "global_smem"}
            parts.append((text, sorted(names - declared, key=len, reverse=True)))
    found, length, copy = [HEADER], 0, 0
    shared = False
    while length < size:
        for number, (text, names) in enumerate(parts):
            if names:
                text = re.sub(
                    rf"(?<![\w$%.:])({'|'.join(map(re.escape, names))})(?![\w$])",
                    rf"\1_{copy}_{number}",
                    text,
                )
            if "global_smem[]" in text:
                if shared:
                    text = re.sub(r"(?m)^\.extern \.shared .*global_smem\[\];\n", "", text)
                shared = True
            found.append(text)
            length += len(text)
        copy += 1
    return "".join(found)


def made_up(instructions: int, seed: int = 1) -> str:
    """A kernel as compilers print it, over 400 registers of each class."""
    choose = random.Random(seed)
    lines = [
        ".version 8.0", ".target sm_90", ".address_size 64", ".visible .entry k()", "{",
        "\t.reg .pred \t%p<8>;", "\t.reg .f32 \t%f<400>;", "\t.reg .b32 \t%r<400>;",
        "\t.reg .b64 \t%rd<400>;", "$L__BB0_1:",
    ]  # fmt: skip
    for _ in range(instructions):
        a, b, c, d = (choose.randrange(400) for _ in range(4))
        kinds = (
            f"fma.rn.f32 \t%f{a}, %f{b}, %f{c}, %f{d};",
            f"add.s32 \t%r{a}, %r{b}, {c};",
            f"ld.global.v4.f32 \t{{%f{a}, %f{b}, %f{c}, %f{d}}}, [%rd{a}+{4 * d}];",
            f"st.shared.f32 \t[%r{a}+{4 * b}], %f{c};",
            f"mul.wide.s32 \t%rd{a}, %r{b}, 4;",
            f"setp.lt.u32 \t%p{a % 8}, %r{b}, %r{c};",
        )
        lines.append("\t" + choose.choice(kinds))
    return "\n".join([*lines, "\tret;", "}", ""])


def best(work: Callable[[], Any], repeats: int = 3) -> tuple[float, float, Any]:
    """CPU seconds of the first run and of the best of the others, and what came of it."""
    times, result = [], None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return times[0], min(times[1:] or times), result


def ours(text: str) -> dict[str, Any]:
    first, parsing, module = best(lambda: ptx.parse(text), 4)
    assert isinstance(module, Module)
    _, checking, found = best(lambda: ptx.check(module))
    _, both, _ = best(lambda: ptx.check(text), 2)
    size = len(text) / 1e6
    return {
        "who": f"ptx {ptx.__version__}",
        "parse_first_s": round(first, 3),
        "parse_s": round(parsing, 3),
        "parse_mb_per_s": round(size / parsing, 2),
        "check_s": round(checking, 3),
        "check_mb_per_s": round(size / checking, 2),
        "parse_and_check_s": round(both, 3),
        "instructions": sum(len(f.instructions) for f in module.functions.values()),
        "errors": sum(d.severity == "error" for d in found),
    }


def theirs(name: str, text: str) -> dict[str, Any]:
    module, function = RIVALS[name]
    try:
        parse = getattr(importlib.import_module(module), function)
    except ImportError:
        return {"who": name, "missing": f"not installed here: pip install {name}"}
    start = time.process_time()
    try:
        parse(text)
    except BaseException as error:
        # ptx-parser's panics are no Exception.
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        seconds = time.process_time() - start
        said = " ".join(str(error).split())[:120]
        return {"who": name, "gives_up_after_s": round(seconds, 3), "says": said}
    seconds = time.process_time() - start
    return {
        "who": name,
        "parse_s": round(seconds, 3),
        "parse_mb_per_s": round(len(text) / 1e6 / seconds, 2),
    }


def main(arguments: list[str]) -> int:
    parser = harness.parser("parse", __doc__)
    parser.add_argument("--megabytes", type=float, default=5.0)
    options = parser.parse_args(arguments)
    size = int(options.megabytes * 1e6)
    texts = {"compilers": compiled(size), "one kernel": made_up(size // 38)}
    rows = []
    for title, text in texts.items():
        print(f"{title}: {len(text) / 1e6:.1f} MB")
        for row in (ours(text), *(theirs(name, text) for name in RIVALS)):
            print("  " + ", ".join(f"{key} {value}" for key, value in row.items()))
            rows.append({"text": title, "bytes": len(text), **row})
    if options.record:
        print(f"recorded in {harness.record('parse', rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
