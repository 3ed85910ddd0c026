"""The instruction table, by chapter of the PTX manual, and the questions it answers.

``resolve`` says what a spelling is, ``follow`` what may come next, ``explain`` why a spelling is
nothing. Builder, checker, parser, printer, emulator, the editor's stub and the reference page all
ask here; none keeps a list of its own.
"""

from ptx.isa import (  # noqa: F401  each chapter adds its rows
    async_copy,
    atomic,
    barrier,
    compare,
    control,
    convert,
    floating,
    half,
    integer,
    logic,
    matrix,
    memory,
    tcgen05,
    video,
    warp,
    wgmma,
)
from ptx.isa.lookup import explain, follow, in_order, resolve
from ptx.isa.notation import FORMS, Form, Slot, Variant
from ptx.isa.special import SPECIAL, SpecialRegister
from ptx.isa.words import LEFT_OUT

__all__ = [
    "FORMS",
    "LEFT_OUT",
    "SPECIAL",
    "Form",
    "Slot",
    "SpecialRegister",
    "Variant",
    "explain",
    "follow",
    "in_order",
    "resolve",
]
