"""Programs on the emulator and on a GPU, beside each other to the bit.

assemble FOLDER                        cubins of all programs, for a machine without ptxas
run FOLDER --device cuda:0 --out DIR   a device's answers, by the cubins in FOLDER that there are
compare DIR                            the emulator beside them; exits with 1 where any differ,
                                       approximate functions too, or where there are none
record DIR --stages video,asynchrony   keep a sample of them for the tests to replay
fold                                   what ptxas computes of constants, against the emulator
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ptx
from ptx.commands.options import some_of
from tests.differential import answers, folding, recorded
from tests.differential.comparison import differences
from tests.differential.instances import all_instances, video_instances
from tests.differential.programs import Images
from tests.differential.stages import STAGES, failed


def assemble(images: Images, stages: list[str]) -> None:
    assert images.folder is not None
    images.folder.mkdir(parents=True, exist_ok=True)
    texts = {text for stage in stages for task in STAGES[stage]() for text in task.texts}
    with ThreadPoolExecutor() as pool:
        list(pool.map(images.assemble, sorted(texts)))
    print(f"{len(texts)} modules")


def run(images: Images, name: str, out: Path, stages: list[str]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    device = ptx.device(name)
    for stage in stages:
        begun, count, wrong = time.perf_counter(), 0, 0
        writer = answers.Writer(out, stage)
        for task in STAGES[stage]():
            try:
                found = task.run(device, images)
            except Exception as error:
                found = failed(error)
                wrong += 1
                print(f"{stage} {task.name}: {str(error)[:200]}", flush=True)
            writer.add(task.name, found)
            images.loaded.clear()
            count += 1
            if wrong > 20:
                break
        writer.close()
        seconds = time.perf_counter() - begun
        print(f"{stage}: {count} tasks, {wrong} failed, {seconds:.1f} s", flush=True)


def compare(folder: Path, stages: list[str]) -> bool:
    """Print what differs from the answers in `folder`; whether there are answers, and none does."""
    emulator, lines, compared = ptx.device("emulator"), 0, 0
    for stage in stages:
        theirs, count = answers.read(folder, stage), 0
        for task in STAGES[stage]():
            if task.name in theirs:
                count += 1
                ours = task.run(emulator, Images())
                for line in differences(task, ours, theirs[task.name]):
                    lines += 1
                    print(f"{stage} {line}", flush=True)
        compared += count
        print(f"{stage}: {count} tasks compared", flush=True)
    return compared > 0 and not lines


def record(folder: Path, stages: list[str]) -> None:
    for stage in stages:
        found = answers.read(folder, stage)
        recorded.keep(stage, [(task.of, found[task.name]) for task in STAGES[stage]()])


def fold() -> None:
    """Count by opcode and types what ptxas folds, and print what differs."""
    found: Counter[tuple[str, bool]] = Counter()
    several = folding.cases(all_instances() + video_instances())
    for outcome in folding.outcomes(ptx.device("emulator"), several):
        found[folding.kind(outcome.case.instance.op), outcome.folded is not None] += 1
        if outcome.differs:
            print(outcome, flush=True)
    for kind in sorted({kind for kind, _ in found}):
        folded, left = found[kind, True], found[kind, False]
        print(f"{kind:32} {folded:6} of {folded + left:6} results")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.differential", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("verb", choices=("assemble", "run", "compare", "record", "fold"))
    parser.add_argument("folder", type=Path, nargs="?", help="of cubins, or of answers")
    parser.add_argument(
        "--device", default="emulator", help="where run runs: emulator (default) or cuda:N"
    )
    parser.add_argument("--out", type=Path, help="the folder that run writes answers to")
    parser.add_argument(
        "--stages", type=some_of(*STAGES), default=list(STAGES),
        help=f"with commas, of {', '.join(STAGES)} (default: all)",
    )  # fmt: skip
    parser.add_argument("--optimize", type=int, default=3, help="ptxas's level")
    given = parser.parse_args(arguments)
    if given.verb == "fold":
        fold()
        return 0
    if given.folder is None:
        parser.error("which folder?")
    if given.verb == "run" and given.out is None:
        parser.error("run needs --out, a folder for the answers")
    stages = given.stages
    if given.verb == "record":
        record(given.folder, stages)
        return 0
    if given.verb == "compare":
        return int(not compare(given.folder, stages))
    images = Images(given.folder, given.optimize)
    if given.verb == "assemble":
        assemble(images, stages)
    else:
        run(images, given.device, given.out, stages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
