"""Constant expressions (PTX ISA 9.0, section 4.6): 64-bit integers, or doubles under + and -."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from ptx.ir import Imm
from ptx.names import RESERVED, WARP_SIZE
from ptx.text.source import Fault, Token

DEPTH_LIMIT = 40
"""How deep parentheses and signs may nest."""

_PRECEDENCE = {
    "?": 0, "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6,
    "<": 7, "<=": 7, ">": 7, ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip

_MASK = (1 << 64) - 1


class Number:
    """A constant: its value, and whether it is unsigned (.u64) rather than .s64."""

    __slots__ = ("spelling", "unsigned", "value")

    def __init__(self, value: int | float, unsigned: bool = False, spelling: str = "") -> None:
        if isinstance(value, int):
            value &= _MASK
            if not unsigned and value >> 63:
                value -= 1 << 64
        self.value = value
        self.unsigned = unsigned
        self.spelling = spelling
        """As written, where it is one literal with at most a minus before it."""

    def imm(self) -> Imm:
        """As written; what was computed by its bits as .s64, so that ``~3`` is -4 at any width."""
        if self.spelling:
            return Imm(self.spelling)
        return Imm(repr(Number(self.value).value))


class Expression:
    """Reads one constant expression from tokens, from `at` on."""

    def __init__(self, tokens: list[Token], at: int = 0) -> None:
        self.tokens = tokens
        self.at = at
        self.depth = 0

    def number(self, least: int = 0) -> Number:
        left = self._unary()
        while True:
            token = self.tokens[self.at]
            level = _PRECEDENCE.get(token.text, -1) if token.kind == "mark" else -1
            if level < least:
                return left
            self.at += 1
            if token.text == "?":
                left = self._choice(left, token)
            else:
                left = _apply(token, left, self.number(level + 1))

    def _choice(self, condition: Number, token: Token) -> Number:
        self._enter(token)
        chosen = self.number()
        self._expect(":")
        other = self.number()
        self.depth -= 1
        taken = chosen if condition.value else other
        return Number(taken.value, taken.unsigned)

    def _unary(self) -> Number:
        token = self.tokens[self.at]
        self.at += 1
        if token.kind == "number":
            return _literal(token)
        if token.text == RESERVED:
            return Number(WARP_SIZE)
        if token.kind == "end":
            raise Fault("an operand is missing", token.start)
        if token.text not in ("(", "-", "+", "!", "~"):
            raise Fault(f"expected an operand, got {quote(token)}", token.start)
        self._enter(token)
        found = self._parenthesised(token) if token.text == "(" else _sign(token, self._unary())
        self.depth -= 1
        return found

    def _enter(self, token: Token) -> None:
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise Fault(f"the expression nests more than {DEPTH_LIMIT} deep", token.start)

    def _parenthesised(self, opening: Token) -> Number:
        cast = self.tokens[self.at].text
        if cast in (".s64", ".u64"):
            self.at += 1
            self._expect(")")
            return Number(_integer(opening, self._unary()), cast == ".u64")
        found = self.number()
        self._expect(")")
        return Number(found.value, found.unsigned)

    def _expect(self, mark: str) -> None:
        token = self.tokens[self.at]
        if token.text != mark:
            raise Fault(f"expected `{mark}`, got {quote(token)}", token.start)
        self.at += 1


def quote(token: Token) -> str:
    return "the end" if token.kind == "end" else f"`{token.text}`"


def _literal(token: Token) -> Number:
    if len(token.text) > 400:
        raise Fault("the literal has more than 400 characters", token.start)
    value = Imm(token.text).value
    if isinstance(value, float):
        return Number(value, spelling=token.text)
    if value > _MASK:
        raise Fault(f"{token.text} does not fit 64 bits", token.start)
    return Number(value, token.text[-1] == "U" or value >> 63 == 1, token.text)


def _sign(token: Token, operand: Number) -> Number:
    value, sign = operand.value, token.text
    if sign == "+":
        return operand
    if sign == "-":
        if operand.spelling[:2].lower() in ("0f", "0d"):
            raise Fault(
                f"-{operand.spelling} is no literal: the sign is the first bit of the pattern",
                token.start,
            )
        spelled = operand.spelling and operand.spelling[0] != "-"
        return Number(-value, operand.unsigned, f"-{operand.spelling}" if spelled else "")
    number = _integer(token, operand)
    return Number(int(not number)) if sign == "!" else Number(~number, unsigned=True)


def _integer(token: Token, number: Number) -> int:
    if isinstance(number.value, float):
        raise Fault(f"`{token.text}` takes integers", token.start)
    return number.value


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_COMBINE: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip


def _apply(token: Token, a: Number, b: Number) -> Number:
    sign = token.text
    if isinstance(a.value, float) and isinstance(b.value, float) and sign in "+-":
        total = a.value + b.value if sign == "+" else a.value - b.value
        if not math.isfinite(total):
            raise Fault(f"{a.value} {sign} {b.value} is not finite", token.start)
        return Number(total)
    left, right = _integer(token, a), _integer(token, b)
    # The remainder is of .u64 whatever the operands are, as ~ is: ptxas 13.0.
    unsigned = a.unsigned or b.unsigned or sign == "%"
    if sign in ("&&", "||"):
        both = left and right if sign == "&&" else left or right
        return Number(int(bool(both)))
    if sign in ("<<", ">>"):
        if not 0 <= right < 64:
            raise Fault(f"a shift by {right} is outside 0 to 63", token.start)
        return Number(left << right if sign == "<<" else left >> right, a.unsigned)
    if unsigned:
        left, right = left & _MASK, right & _MASK
    if sign in _COMPARE:
        return Number(int(_COMPARE[sign](left, right)))
    if sign in ("/", "%"):
        if right == 0:
            raise Fault("division by zero", token.start)
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return Number(quotient if sign == "/" else left - quotient * right, unsigned)
    return Number(_COMBINE[sign](left, right), unsigned)
