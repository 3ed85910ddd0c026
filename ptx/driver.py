"""The CUDA driver through cuda-python: found, initialised and called, its errors explained.

Nothing else imports cuda, and importing this file initialises nothing: :func:`api` does, when a
GPU is asked for. Source: CUDA driver API 13.0.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import os
import re
import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ptx.errors import LaunchError

if TYPE_CHECKING:
    from ptx.tensormap import TensorMap

INVALID_VALUE, OUT_OF_MEMORY, UNSUPPORTED_PTX, NOT_READY = 1, 2, 222, 600

HINTS = {
    2: "free arrays that are no longer used, or take smaller ones",
    34: "libcuda here is a stub; the real one comes with the NVIDIA display driver",
    100: "no GPU is visible: see nvidia-smi and CUDA_VISIBLE_DEVICES",
    201: "the context was destroyed, perhaps by another library's device reset",
    209: "the cubin was made for another architecture than this GPU's",
    218: "the driver's compiler refused the PTX; its log says where",
    222: "the PTX's .version is newer than this driver; assemble with ptxas or lower the version",
    300: "no kernel image was found in what was loaded",
    500: "no kernel or variable of that name is in the module",
    700: "a kernel read or wrote outside its memory; device('emulator') shows which line",
    701: "the block needs more registers or shared memory than there are; set .maxntid",
    702: "a kernel ran longer than the display's watchdog allows",
    715: "the hardware refuses what an instruction was given, as a tensor map's coordinates",
    716: "an address was no multiple of its access's size; device('emulator') shows which line",
    717: "an address of one state space was used in another",
    719: "a kernel failed; device('emulator') may show why",
    803: "the driver and libcuda are of different versions: restart after an update",
    999: "the driver failed for an unknown reason; dmesg may tell more",
}  # fmt: skip
"""What a code means to the author of a kernel, beside the driver's own words."""

STICKY = frozenset({700, 702, 710, 714, 715, 716, 717, 718, 719})
"""Codes after which the context is lost, and every later call of the process fails with the same
one.
"""


ELEMENTS = {
    "u8": "UINT8", "u16": "UINT16", "u32": "UINT32", "s32": "INT32", "u64": "UINT64",
    "s64": "INT64", "f16": "FLOAT16", "bf16": "BFLOAT16", "f32": "FLOAT32", "f64": "FLOAT64",
    "f32.ftz": "FLOAT32_FTZ", "tf32": "TFLOAT32", "tf32.ftz": "TFLOAT32_FTZ",
}  # fmt: skip
"""The driver's words for the elements of a tensor map."""

FILLS = {"zeros": "NONE", "nan": "NAN_REQUEST_ZERO_FMA"}


class DriverError(LaunchError):
    """A call of the driver failed; ``code`` is its number, ``name`` its name, ``log`` the
    compiler's log if any.
    """

    def __init__(self, code: int, name: str, message: str, log: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        self.log = log


def _bindings() -> Any:
    """cuda-python's driver module, in the layout of CUDA 12.6 and newer or in the older one."""
    for name in ("cuda.bindings.driver", "cuda.cuda"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise LaunchError("a GPU needs cuda-python, which is not installed: pip install cuda-python")


class Api:
    """The initialised driver. ``dead`` says why it can be used no longer: after a fork, at exit."""

    def __init__(self) -> None:
        self.cuda = _bindings()
        self.dead = ""
        try:
            self.call("cuInit", 0)
        except DriverError:
            raise
        except Exception as error:
            # Where libcuda is absent each version of cuda-python raises an exception of its own.
            raise LaunchError(f"no CUDA driver was found: {error}") from error
        atexit.register(self._close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _close(self) -> None:
        self.dead = "the interpreter is shutting down"

    def _forked(self) -> None:
        self.dead = (
            "CUDA was initialised before os.fork(), and a child process cannot use it; start "
            "workers by multiprocessing's 'spawn', or ask for the GPU only in the child"
        )

    def call(self, name: str, *arguments: Any) -> Any:
        """Call the driver: its one result, a tuple of several, or None.

        Raises :class:`DriverError`.
        """
        if self.dead:
            raise LaunchError(self.dead)
        site = f"{name}({', '.join(str(a) for a in arguments if type(a) is int)})"
        try:
            result = getattr(self.cuda, name)(*arguments)
        except ValueError as error:
            raise self.unknown(error, site) from error
        if result[0] != 0:
            raise self.error(int(result[0]), site)
        return result[1] if len(result) == 2 else result[1:] or None

    def tensor_map(self, map: TensorMap) -> bytes:
        """The hardware's encoding of a tensor map. Raises :class:`DriverError`."""
        cuda = self.cuda
        swizzles = cuda.CUtensorMapSwizzle
        promotions = cuda.CUtensorMapL2promotion
        fills = cuda.CUtensorMapFloatOOBfill
        box: tuple[Any, ...] = ([cuda.cuuint32_t(n) for n in map.box],)
        if map.corners is not None:
            box = (*(list(corner) for corner in map.corners), *map.box)
        encoded = self.call(
            "cuTensorMapEncodeTiled" if map.corners is None else "cuTensorMapEncodeIm2col",
            getattr(cuda.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{ELEMENTS[map.element]}"),
            len(map.shape),
            map.address,
            [cuda.cuuint64_t(n) for n in map.shape],
            [cuda.cuuint64_t(n) for n in map.strides],
            *box,
            [cuda.cuuint32_t(n) for n in map.steps],
            cuda.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            getattr(swizzles, f"CU_TENSOR_MAP_SWIZZLE_{_span(map.swizzle)}"),
            getattr(promotions, f"CU_TENSOR_MAP_L2_PROMOTION_{_span(map.promotion, 'L2_')}"),
            getattr(fills, f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{FILLS[map.fill]}"),
        )
        return ctypes.string_at(int(encoded.getPtr()), 128)

    def unknown(self, error: ValueError, site: str) -> Exception:
        """What a ``ValueError`` of cuda-python means: its enumeration refuses newer codes."""
        code = re.match(r"(\d+) is not a valid CUresult", str(error))
        return self.error(int(code[1]), site) if code else error

    def error(self, code: int, site: str, log: str = "") -> DriverError:
        """The exception for `code` at `site`: name and number, what it means, what to do."""
        name = self._words("cuGetErrorName", code) or "an error that this driver does not name"
        text = self._words("cuGetErrorString", code)
        message = f"{site} failed: {name} ({code})" + (f": {text}" if text else "")
        if code in HINTS:
            message += f"\n  {HINTS[code]}"
        if code in STICKY:
            message += "\n  the GPU can be used again only by a new process"
        if log:
            message += f"\n{log}"
        return DriverError(code, name, message, log)

    def _words(self, function: str, code: int) -> str:
        try:
            failed, words = getattr(self.cuda, function)(self.cuda.CUresult(code))
        except ValueError:
            return ""
        return "" if failed != 0 or not words else words.decode(errors="replace")

    @cached_property
    def version(self) -> tuple[int, int]:
        """The newest CUDA that the driver supports, ``(13, 0)``."""
        number = self.call("cuDriverGetVersion")
        return number // 1000, number % 1000 // 10

    @cached_property
    def count(self) -> int:
        return int(self.call("cuDeviceGetCount"))

    @cached_property
    def load(self) -> Callable[..., int]:
        """``cuModuleLoadDataEx`` itself: cuda-python's wrapper loses the lengths that come back in
        the options.
        """
        found = self.call("cuGetProcAddress", b"cuModuleLoadDataEx", 12000, 0)
        address = int(found[0] if isinstance(found, tuple) else found)
        pointer = ctypes.c_void_p
        function = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer, ctypes.c_uint, pointer, pointer)
        return function(address)


def _span(nbytes: int, prefix: str = "") -> str:
    return f"{prefix}{nbytes}B" if nbytes else "NONE"


_initialising = threading.Lock()
_api: Api | None = None


def api() -> Api:
    """The driver, initialised at the first call. Raises :class:`LaunchError`, which says what is
    missing.
    """
    global _api
    with _initialising:
        if _api is None:
            _api = Api()
    if _api.dead:
        raise LaunchError(_api.dead)
    return _api


def problem() -> str:
    """Why there is no GPU to use, or ``""`` where there is one."""
    try:
        return "" if api().count else "the CUDA driver sees no GPU"
    except LaunchError as error:
        return str(error)
