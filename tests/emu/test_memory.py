"""What the emulator keeps of what was given back: allocations, modules, decoded kernels."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import ptx
from ptx.emu import EmulatorFault, Memory, launch
from ptx.emu.machine import IMAGES_KEPT
from ptx.emu.memory import FREES_KEPT
from tests.emu.harness import run


def test_only_the_frees_of_late_are_told_apart() -> None:
    """What was freed long ago is a stretch; a late access is still one to freed memory."""
    memory = Memory()
    kept = [memory.allocate(64, name=f"kept {number}") for number in range(2)]
    first = memory.allocate(64, name="the first")
    early = [memory.allocate(64) for _ in range(FREES_KEPT)]
    middle = memory.allocate(64, name="in the middle")
    late = [memory.allocate(64, name=f"late {number}") for number in range(FREES_KEPT)]
    for address in (first, *early, *late):
        memory.free(address)
    memory.allocate(64)
    assert len(memory._regions) <= FREES_KEPT + 5
    text = "ld.param.u64 %rd0, [p0];\nld.global.u32 %r0, [%rd0+4];"
    for address, named in (
        (late[-1], f"in late {FREES_KEPT - 1} of 64 bytes"),
        (first, "in allocations of earlier"),
        (early[-1], "in allocations of earlier"),
    ):
        with pytest.raises(EmulatorFault, match=named) as caught:
            run(text, [address], memory=memory)
        assert caught.value.kind == "use-after-free"
    for address in (*kept, middle):
        memory.write(address, np.zeros(16, np.uint32))
        run(text, [address], memory=memory)


def test_modules_give_back_what_they_had() -> None:
    """Variables of a module that nobody refers to are freed; kernels are not kept decoded."""
    backend: Any = ptx.device("emulator").backend
    flat = backend.memory.flat
    backend.reap()
    source = ".version 8.0\n.target sm_80\n.address_size 64\n.global .b8 room[4096];\n"
    source += (
        ".visible .entry k() {{ .reg .u64 %rd0; mov.u64 %rd0, room; st.global.u8 [%rd0], {n}; }}"
    )
    regions = len(list(flat.regions()))
    for number in range(3):
        loaded = ptx.device("emulator").load(ptx.parse(source.format(n=number)))
        loaded["k"].launch(1, 1, ())
        del loaded
        gc.collect()
        backend.reap()
        assert len(list(flat.regions())) == regions
    plain = source.replace(".global .b8 room[4096];", "").replace("mov.u64 %rd0, room; ", "")
    plain = plain.replace("st.global.u8 [%rd0]", "mov.u64 %rd0")
    modules = [ptx.parse(plain.format(n=number)) for number in range(IMAGES_KEPT + 9)]
    for module in modules:
        launch("k", module, (1, 1, 1), (1, 1, 1), b"", memory=flat)
    images = [image for image in flat.__dict__["_images"].values() if not image.globals]
    assert len(images) <= IMAGES_KEPT and images[-1].module is modules[-1]
