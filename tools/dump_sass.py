"""The machine code of a cubin or of PTX text: the same as ``python -m ptx sass``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from ptx.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["sass", *sys.argv[1:]]))
