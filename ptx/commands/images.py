"""What the command line names: a file, standard input, or what a Python function builds."""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import os
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from ptx.assembler import Cubin, assemble
from ptx.builder import Kernel
from ptx.commands import read, text_of
from ptx.errors import PtxError
from ptx.ir import Module

_NAMED = re.compile(r"(?P<module>[A-Za-z_][\w.]*|.+?\.py):(?P<call>[A-Za-z_][\w.]*(?:\(.*)?)")
ASSEMBLED = Kernel | Module | str
"""What is assembled."""

LEADS = ("kernel", "loaded", "cubin", "module")
"""Attributes, followed in this order: a plan's kernel, what is loaded, its image, its PTX."""

_FATBIN = b"\x50\xed\x55\xba"


def image(source: str, target: str | None = None) -> Cubin:
    """The cubin that `source` names.

    A file or ``-`` holds a cubin or PTX text; ``module:function(args)`` and
    ``file.py:function(args)`` name what a function returns: a kernel, a module, PTX text, a cubin,
    or what leads to one by the attributes :data:`LEADS`, as a plan of ptxgemm does. PTX and kernels
    are assembled for `target`, or for their own. Raises :class:`ptx.PtxError`, and OSError for a
    file that cannot be read.
    """
    named = _NAMED.fullmatch(source)
    if named and not Path(source).exists():
        return _assembled(_called(named["module"], named["call"]), source, target)
    if source.endswith(".py"):
        raise PtxError(
            f"{source} is Python: {source}:function(args) names what one of its functions builds"
        )
    data = read(source)
    if data.startswith(b"\x7fELF"):
        return _for(Cubin.read(data), source, target)
    if data.startswith(_FATBIN):
        raise PtxError(f"{source} is a fatbin; cuobjdump -xelf all takes the cubins out of it")
    return assemble(text_of(data), target, file=source)


def _for(cubin: Cubin, source: str, target: str | None) -> Cubin:
    if target not in (None, cubin.target):
        raise PtxError(
            f"{source} is a cubin for {cubin.target}; PTX and kernels alone are assembled for "
            f"another target, here {target}"
        )
    return cubin


def _assembled(made: Any, source: str, target: str | None) -> Cubin:
    for name in LEADS:
        if not isinstance(made, ASSEMBLED | Cubin):
            found = getattr(made, name, None)
            made = made if found is None else found
    if isinstance(made, Cubin):
        return _for(made, source, target)
    if not isinstance(made, ASSEMBLED):
        raise PtxError(
            f"{source} is of type {type(made).__name__}; expected a ptx.Kernel, a ptx.Module, "
            "PTX text or a ptx.Cubin"
        )
    return assemble(made, target, file=source)


def _called(name: str, call: str) -> Any:
    """What a function of a module returns; arguments may use the module's names."""
    module = _module(name)
    try:
        tree = ast.parse(call, mode="eval")
    except SyntaxError as error:
        raise PtxError(f"{call!r} is no call: {error.msg}") from None
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    known = {one: getattr(module, one) for one in names if hasattr(module, one)}
    if missing := sorted(names - set(known) - set(vars(builtins))):
        raise PtxError(f"{name} has no {missing[0]}")
    try:
        made = eval(compile(tree, f"<{name}:{call}>", "eval"), known)
        is_name = not isinstance(tree.body, ast.Call)
        return made() if is_name and callable(made) and not isinstance(made, ASSEMBLED) else made
    except PtxError:
        raise
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        where = (
            "" if at.filename in (__file__, f"<{name}:{call}>") else f" ({at.filename}:{at.lineno})"
        )
        raise PtxError(f"{name}:{call}: {type(error).__name__}: {error}{where}") from error


def _module(name: str) -> ModuleType:
    """By its dotted name, also from the working directory, or from a file."""
    if name.endswith(".py"):
        return _from_file(Path(name))
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):
            raise PtxError(f"there is no file and no Python module named {name}") from None
        raise


def _from_file(path: Path) -> ModuleType:
    path.stat()
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(re.sub(r"\W", "_", path.stem), path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
