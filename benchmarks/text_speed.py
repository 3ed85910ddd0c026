"""How fast PTX is parsed and printed: a kernel of 40,000 instructions, and the test corpus.

    python -m benchmarks.text_speed [FILE.ptx ...]

Prints one line of JSON for each text: bytes, instructions, seconds of CPU time of the first
parsing (a table that was not asked before) and the best of three, MB/s, seconds of printing.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

from ptx.text import parse, print_module

CORPUS = Path(__file__).parent.parent / "tests" / "text" / "corpus"


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


def measure(name: str, text: str) -> dict[str, object]:
    times = []
    for _ in range(4):
        start = time.process_time()
        module = parse(text, name)
        times.append(time.process_time() - start)
    start = time.process_time()
    print_module(module)
    printing = time.process_time() - start
    return {
        "text": name,
        "bytes": len(text),
        "instructions": sum(len(f.instructions) for f in module.functions.values()),
        "parse_first_s": round(times[0], 4),
        "parse_s": round(min(times[1:]), 4),
        "parse_mb_per_s": round(len(text) / min(times[1:]) / 1e6, 2),
        "print_s": round(printing, 4),
    }


def main(files: list[str]) -> None:
    texts = {"40,000 instructions": made_up(40_000)}
    for path in map(Path, files) if files else sorted(CORPUS.glob("*.ptx")):
        texts[path.name] = path.read_text(encoding="ascii")
    for name, text in texts.items():
        print(json.dumps(measure(name, text)))


if __name__ == "__main__":
    main(sys.argv[1:])
