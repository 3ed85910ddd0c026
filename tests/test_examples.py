"""Every example runs and prints what it promises."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PRINTS = {
    "01_axpy.py": r"\[1\. 3\. 5\. 7\.\]\n",
    "02_sgemm.py": (
        r"largest error: (\d\.\d+e-0[567])\n"
        r"branch: \d+ registers, \d+ instructions in the loop, \d+ predicated loads, \d+ branches\n"
        r"predicated: \d+ registers, \d+ instructions in the loop, 2 predicated loads, 1 branches\n"
        r"peeled: \d+ registers, \d+ instructions in the loop, 0 predicated loads, 1 branches\n"
    ),
    "03_matmul.py": (
        r"matmul: \(3, 50, 20\) True\n"
        r"gemm: True\n"
        r"plan: True\n"
        r"out is 50x33; the product is 50x20\n"
    ),
    "04_wmma.py": (
        r"equal: True\n"
        r"element \(9, 2\) of C is in lane, element: \(\(5, 2\),\)\n"
    ),
    "05_transpose.py": (
        r"rows of 32 words: right: True, passes of the worst access: 32\n"
        r"rows of 33 words: right: True, passes of the worst access: 1\n"
    ),
}
"""What each example prints, whole, as a regular expression."""


def test_every_example_is_listed() -> None:
    assert sorted(PRINTS) == sorted(path.name for path in (ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("name", PRINTS)
def test_example(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PTX_CACHE_DIR": str(tmp_path), "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(PRINTS[name], done.stdout), done.stdout
