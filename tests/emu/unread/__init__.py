"""Broken kernels by an author who had not read the emulator, each with its mended twin."""

from tests.emu.unread import addresses, barriers, copies, hopper, races, values
from tests.emu.unread.case import CASES, Case

__all__ = ["CASES", "Case", "addresses", "barriers", "copies", "hopper", "races", "values"]
