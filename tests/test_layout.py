"""The shape of the repository: who imports whom, what `import ptx` costs, how long files are."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("ptx", "ptxgemm")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

USES = {
    "errors": set(),
    "types": set(),
    "targets": set(),
    "layouts": set(),
    "cache": set(),
    "collector": set(),
    "lazy": set(),
    "loops": {"dominance"},
    "occupancy": set(),
    "scheduling": set(),
    "names": set(),
    "geometry": {"errors"},
    "arrays": {"errors"},
    "dtypes": {"errors", "types"},
    "elf": {"errors"},
    "toolchain": {"errors"},
    "isa": {"errors", "types", "layouts", "targets"},
    "values": {"errors"},
    "ir": {"isa", "values"},
    "operands": {"ir"},
    "requirements": {"ir"},
    "dominance": set(),
    "declared": {"ir"},
    "controlflow": {"declared", "dominance"},
    "assignment": {"controlflow"},
    "provenance": {"controlflow"},
    "lanes": {"controlflow"},
    "rules": {"operands", "requirements", "assignment", "provenance", "lanes", "names"},
    "checker": {"rules", "text", "collector"},
    "text": {"operands", "requirements", "names", "collector"},
    "literals": {"ir"},
    "conversion": {"operands", "literals"},
    "operators": {"conversion"},
    "emission": {"operators"},
    "parameters": {"emission", "names"},
    "declarations": {"parameters"},
    "blocks": {"errors"},
    "builder": {"checker", "declarations", "blocks"},
    "encoding": set(),
    "lane_access": {"ir", "layouts"},
    "fragments": {"builder", "encoding", "lane_access"},
    "sparsity": {"layouts"},
    "pictures": {"fragments"},
    "assembler": {"text", "requirements", "toolchain", "cache", "elf"},
    "sass": {"assembler", "loops", "occupancy", "scheduling"},
    "emu": {"operands", "tensormap", "geometry", "dominance"},
    "arguments": {"ir", "arrays", "dtypes"},
    "driver": {"errors"},
    "gpu": {"driver", "geometry"},
    "tensormap": {"errors"},
    "devices": {"emu", "gpu", "tensormap", "assembler", "arguments"},
    "commands": {"builder", "devices", "sass", "pictures"},
}
"""What each part of ``ptx`` builds on; it may import these and all that they build on."""

DEFERRED = {("ir", "text"), ("ir", "checker")}
"""Inside functions only: ``str(module)`` prints, ``Module(kernel)`` checks."""

NUMPY = {"emu", "arrays", "dtypes", "devices", "tensormap", "sparsity", "commands"}


def part_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def below(part: str) -> set[str]:
    found: set[str] = set()
    waiting = list(USES[part])
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += USES[one]
    return found


def imports(path: Path) -> list[tuple[str, bool]]:
    """Every module that a file imports for use at run time, and whether inside a function."""
    found: list[tuple[str, bool]] = []

    def walk(node: ast.AST, deferred: bool) -> None:
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for child in node.orelse:
                walk(child, deferred)
            return
        if isinstance(node, ast.Import):
            found.extend((alias.name, deferred) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute here"
            name = node.module or ""
            if name in PACKAGES:
                found.extend((f"{name}.{alias.name}", deferred) for alias in node.names)
            else:
                found.append((name, deferred))
        inside = deferred or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for child in ast.iter_child_nodes(node):
            walk(child, inside)

    walk(ast.parse(path.read_text(encoding="utf-8")), False)
    return found


def test_the_table_has_no_circle() -> None:
    assert [part for part in USES if part in below(part)] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path: Path) -> None:
    package, *rest = path.relative_to(ROOT).with_suffix("").parts
    part = rest[0]
    for module, deferred in imports(path):
        top = module.split(".")[0]
        if package == "ptx":
            assert top != "ptxgemm", f"{path}: ptx knows nothing of {module}"
            assert top != "cuda" or part == "driver", f"{path}: driver.py alone imports cuda"
            if top in ("numpy", "ml_dtypes"):
                assert part in NUMPY, f"{path}: {part} may not import numpy"
        else:
            assert top != "cuda", f"{path}: ptx/driver.py alone imports cuda"
        if package == "ptx" and top == "ptx" and part not in ("__init__", "__main__"):
            assert part in USES, f"{path}: the table of this test does not know {part}"
            used = part_of(module)
            if used not in USES:
                continue  # a public name of ptx/__init__.py
            allowed = used == part or used in below(part)
            assert allowed or (deferred and (part, used) in DEFERRED), (
                f"{path}: {part} may not import {module}"
            )


def test_files_are_short() -> None:
    files = [
        path
        for folder in (*PACKAGES, "tests", "tools", "benchmarks", "examples")
        for path in (ROOT / folder).rglob("*.py")
        if (ROOT / "ptx" / "isa") not in path.parents
    ]
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in files
    }
    assert {name: lines for name, lines in lengths.items() if lines > 600} == {}


def test_import_brings_neither_numpy_nor_cuda() -> None:
    code = (
        "import sys, ptx, ptx.ir, ptx.toolchain, ptx.assembler\n"
        "print([m for m in ('numpy', 'cuda', 'ml_dtypes') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


def test_public_names_are_lazy_and_whole() -> None:
    import ptx

    assert set(ptx.__all__) == set(ptx._HOME)
    assert set(ptx.__all__) <= set(dir(ptx))
    with pytest.raises(AttributeError, match="no attribute 'kernel'"):
        ptx.kernel  # noqa: B018


def used_names(path: Path) -> set[str]:
    """What a file takes from the packages by a dot, ``ptx.device``, submodules left out."""
    text = path.read_text(encoding="utf-8")
    if not any(f"import {package}" in text for package in PACKAGES):
        return set()
    return {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in PACKAGES
        and not (ROOT / node.value.id / node.attr).with_suffix(".py").exists()
        and not (ROOT / node.value.id / node.attr).is_dir()
    }


def test_only_names_that_exist_are_taken() -> None:
    """mypy reads the packages alone; a name in an ``except`` is looked up when it is too late."""
    known = {f"{name}.{word}" for name in PACKAGES for word in dir(importlib.import_module(name))}
    known.add("ptx.kernel")  # a test asks for what is not there
    folders = ("tests", "tools", "benchmarks", "examples")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert {name: path for path in files for name in used_names(path) - known} == {}
