"""``python -m ptx COMMAND``: one command a module of :mod:`ptx.commands`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

import ptx
from ptx.errors import PtxError

COMMANDS = ("check", "run", "compare", "sass", "forms", "fragment", "doctor")
"""Modules of :mod:`ptx.commands`. Each has ``arguments(parser)`` and ``run(options) -> int``."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0, 1 where something is wrong, 2 where a file cannot be read."""
    parser = argparse.ArgumentParser(
        prog="python -m ptx", description=(ptx.__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--version", action="version", version=f"ptx {ptx.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"ptx.commands.{name}")
        about = (module.__doc__ or "").strip()
        one = commands.add_parser(name, help=about.partition("\n")[0], description=about)
        module.arguments(one)
        one.set_defaults(run=module.run)
    options = parser.parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except PtxError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of a pipe, as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
