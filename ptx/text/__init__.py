"""PTX text: print and parse, inverse of each other.

``parse(print_module(module, loc=False))`` equals the module where its target and version are given
(left out, they are inferred when it is printed); ``print_module(parse(text))`` is a normal form:
one statement a line, comments gone, constant expressions evaluated.
"""

from ptx.text.parser import parse
from ptx.text.printer import Rendered, print_module, render

__all__ = ["Rendered", "parse", "print_module", "render"]
