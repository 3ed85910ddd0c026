"""The emulator: any kernel with no GPU, stricter than the hardware.

:func:`launch` runs a kernel on :class:`Memory`; what the kernel does wrong is an
:class:`EmulatorFault` with the author's line, the thread and the address.
"""

from ptx.emu.faults import KINDS, EmulatorFault, Unmodelled
from ptx.emu.machine import launch
from ptx.emu.memory import Memory
from ptx.emu.report import Report

__all__ = ["KINDS", "EmulatorFault", "Memory", "Report", "Unmodelled", "launch"]
