"""Occupancy against the CUDA toolkit's own calculator, `cuda_occupancy.h`, compiled here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ptx import toolchain
from ptx.assembler import Cubin, assemble
from ptx.errors import PtxError
from ptx.occupancy import LIMITS, MAX_THREADS, REGISTERS, limits_of, occupancy

CALCULATOR = r"""
#include <stdio.h>
#include <string.h>
#include <cuda_occupancy.h>
int main(void) {
    int major, minor, threads, per_sm, registers, barriers;
    unsigned long shared, shared_sm, reserved;
    while (scanf("%d %d %d %d %d %d %lu %lu %lu", &major, &minor, &per_sm, &threads, &registers,
                 &barriers, &shared, &shared_sm, &reserved) == 9) {
        cudaOccDeviceProp device; cudaOccFuncAttributes function; cudaOccDeviceState state;
        cudaOccResult result;
        memset(&device, 0, sizeof device); memset(&function, 0, sizeof function);
        memset(&state, 0, sizeof state); memset(&result, 0, sizeof result);
        device.computeMajor = major; device.computeMinor = minor;
        device.maxThreadsPerBlock = 1024; device.maxThreadsPerMultiprocessor = per_sm;
        device.regsPerBlock = device.regsPerMultiprocessor = 65536; device.warpSize = 32;
        device.sharedMemPerBlock = 48 * 1024;
        device.sharedMemPerBlockOptin = shared_sm - reserved;
        device.sharedMemPerMultiprocessor = shared_sm;
        device.reservedSharedMemPerBlock = reserved;
        device.numSms = 1; state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
        function.maxThreadsPerBlock = 1024; function.numRegs = registers;
        function.sharedSizeBytes = 0; function.maxDynamicSharedSizeBytes = shared;
        function.numBlockBarriers = barriers;
        function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        int status = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state,
                                                             threads, shared);
        printf("%d\n", status ? -status : result.activeBlocksPerMultiprocessor);
    }
    return 0;
}
"""


def header() -> Path | None:
    """The folder of cuda_occupancy.h: it comes with nvcc's wheel, and with a toolkit."""
    try:
        home = toolchain.find_tool("ptxas").path.parent.parent
    except PtxError:
        return None
    folder = home / "include"
    return folder if (folder / "cuda_occupancy.h").is_file() else None


def test_the_calculator_of_the_toolkit_says_the_same(tmp_path: Path) -> None:
    compiler, folder = shutil.which("cc"), header()
    if compiler is None or folder is None:
        pytest.skip("needs a C compiler and the toolkit's cuda_occupancy.h")
    (tmp_path / "it.c").write_text(CALCULATOR)
    command = [compiler, "-O0", "-w", "-I", folder, tmp_path / "it.c", "-o", tmp_path / "it"]
    subprocess.run(command, check=True, capture_output=True)
    asked, ours = [], []
    for capability, limits in LIMITS.items():
        most = limits.cta_shared_bytes
        for threads in (1, 32, 96, 128, 192, 256, 384, 512, 768, 1000, 1024):
            for registers in (16, 32, 33, 80, 96, 128, 168, 255):
                for barriers in (0, 3, 16):
                    for shared in (0, 1, 5000, 16384, 33000, most // 2, most - 512, most):
                        asked.append(
                            f"{capability[:-1]} {capability[-1]} {limits.warps * 32} {threads} "
                            f"{registers} {barriers} {shared} {limits.shared_bytes} "
                            f"{limits.reserved_bytes}"
                        )
                        found = occupancy(
                            f"sm_{capability}",
                            threads=threads,
                            registers=registers,
                            shared_bytes=shared,
                            barriers=barriers,
                        )
                        assert found
                        ours.append(found.ctas)
    done = subprocess.run(
        [tmp_path / "it"], input="\n".join(asked), capture_output=True, text=True, check=True
    )
    theirs = list(map(int, done.stdout.split()))
    wrong = [f"{a}: {t}, not {o}" for a, t, o in zip(asked, theirs, ours, strict=True) if t != o]
    assert wrong == []
    assert len(asked) > 20_000


@pytest.mark.parametrize(
    ("target", "threads", "registers", "shared", "ctas", "warps", "limited_by"),
    [
        # 168 registers: 5376 a warp, 3 warps in a quarter of 16384, 12 on the SM.
        ("sm_90a", 384, 168, 0, 1, 12, ("registers",)),
        # 100 KiB and the reserved one: two CTAs in 228.
        ("sm_90", 128, 32, 100 * 1024, 2, 8, ("shared memory",)),
        ("sm_86", 32, 16, 0, 16, 16, ("CTAs",)),
        ("sm_75", 1024, 32, 0, 1, 32, ("warps",)),
        ("sm_80", 1024, 128, 0, 0, 0, ("registers",)),
        ("sm_120", 128, 32, 100 * 1024, 0, 0, ("shared memory",)),
    ],
)
def test_by_hand(
    target: str,
    threads: int,
    registers: int,
    shared: int,
    ctas: int,
    warps: int,
    limited_by: tuple[str, ...],
) -> None:
    found = occupancy(target, threads=threads, registers=registers, shared_bytes=shared)
    assert found
    assert (found.ctas, found.warps) == (ctas, warps)
    assert set(limited_by) <= set(found.limited_by)


def test_what_it_prints() -> None:
    one = occupancy("sm_90", threads=256, registers=128)
    assert str(one) == (
        "256 threads a CTA: 2 CTAs on an SM, 16 of 64 warps (25%), limited by registers"
    )
    assert str(occupancy("sm_80", threads=1024, registers=128)) == (
        "1024 threads a CTA: does not fit an SM (registers)"
    )


def test_what_no_source_tells() -> None:
    assert occupancy("sm_88", threads=128, registers=32) is None
    assert limits_of("sm_100f") == LIMITS["100"]


@pytest.mark.parametrize("threads", [0, -1, MAX_THREADS + 1])
def test_no_such_cta(threads: int) -> None:
    with pytest.raises(ValueError, match="a CTA has 1 to 1024"):
        occupancy("sm_90", threads=threads, registers=32)


def test_what_ptxas_allows_fits() -> None:
    """65536 registers and 1024 threads: ptxas gives a thread of such a CTA 64 at most."""
    assert REGISTERS // MAX_THREADS == 64
    for target in ("sm_75", "sm_90", "sm_120"):
        found = occupancy(target, threads=MAX_THREADS, registers=64)
        assert found and found.ctas == 1


@pytest.mark.parametrize(
    ("directive", "threads"),
    [(".reqntid 64, 2, 2", 256), (".maxntid 96", 96), (".maxntid 32, 3", 96), ("", None)],
)
def test_threads_that_a_kernel_declares(directive: str, threads: int | None) -> None:
    """From the cubin, which has them as EIATTR_REQNTID and EIATTR_MAX_THREADS."""
    text = (
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        f".visible .entry k(.param .u64 p) {directive}\n{{\nbar.sync 3;\nret;\n}}\n"
    )
    cubin = assemble(text)
    for one in (cubin, Cubin.read(cubin.data)):
        assert (one.kernel.threads, one.kernel.barriers) == (threads, 4)
