"""A moving place in a source, and the small things that are read there."""

from __future__ import annotations

import re

from ptx.ir import Imm
from ptx.names import NAME, RESERVED, WARP_SIZE, why_no_name
from ptx.text.expressions import quote
from ptx.text.source import Fault, Source, Token, token_at

_RAW_NAME = re.compile(r"\s*([^\s(){}\[\];,=]*)")
_LEGAL_NAME = re.compile(NAME, re.ASCII)


class Cursor:
    """A moving place in a source."""

    def __init__(self, source: Source, at: int = 0) -> None:
        self.source = source
        self.text = source.text
        self.at = at

    def peek(self) -> Token:
        return token_at(self.text, self.at)

    def sees(self, text: str) -> bool:
        return token_at(self.text, self.at, strict=False).text == text

    @property
    def start(self) -> int:
        """Where the next token begins."""
        return token_at(self.text, self.at, strict=False).start

    def next(self) -> Token:
        token = token_at(self.text, self.at)
        self.at = token.start + len(token.text)
        return token

    def take(self, text: str) -> bool:
        token = token_at(self.text, self.at, strict=False)
        if token.text == text and token.kind != "string":
            self.at = token.start + len(text)
            return True
        return False

    def expect(self, text: str, where: str = "") -> Token:
        token = token_at(self.text, self.at, strict=False)
        if not self.take(text):
            raise Fault(f"expected `{text}`{where}, got {quote(token)}", token.start)
        return token

    def take_word(self, words: tuple[str, ...]) -> str:
        """One of `words` (with their dots) without its dot, or ``""``."""
        token = token_at(self.text, self.at, strict=False)
        if token.text in words and token.kind == "word":
            self.at = token.start + len(token.text)
            return token.text[1:]
        return ""

    def name(self, what: str) -> str:
        """A name; the whole run of characters that stands there is judged."""
        match = _RAW_NAME.match(self.text, self.at)
        assert match is not None
        found = match[1]
        legal = _LEGAL_NAME.match(found)
        # `%r<20>` is a range of registers, and a word may follow a name without a blank.
        if what == "register" and legal is not None:
            found = legal[0]
        if reason := why_no_name(found):
            if not found:
                token = token_at(self.text, self.at, strict=False)
                raise Fault(f"expected the name of a {what}, got {quote(token)}", token.start)
            raise Fault(reason, match.start(1))
        self.at = match.start(1) + len(found)
        return found

    def integer(self, what: str) -> int:
        token = self.next()
        if token.kind != "number" or Imm(token.text).is_float or len(token.text) > 20:
            raise Fault(f"expected {what}, got {quote(token)}", token.start)
        return int(Imm(token.text).value)

    def count(self, what: str) -> int:
        """A number of elements or registers, which may be ``WARP_SZ``."""
        return WARP_SIZE if self.take(RESERVED) else self.integer(what)

    def alignment(self) -> int:
        start = self.start
        align = self.integer("an alignment in bytes")
        if align < 1 or align & (align - 1):
            raise Fault(f"an alignment is a power of two, got {align}", start)
        return align

    def integers(self) -> tuple[int, ...]:
        """The arguments of a directive, ``256, 1, 1``; none where no number follows."""
        if token_at(self.text, self.at, strict=False).kind != "number":
            return ()
        found = [self.integer("a number")]
        while self.take(","):
            found.append(self.integer("a number"))
        return tuple(found)

    def type(self, legal: frozenset[str] | set[str], what: str) -> str:
        token = self.next()
        if token.kind != "word" or token.text[1:] not in legal:
            raise Fault(f"expected the type of a {what}, got {quote(token)}", token.start)
        return token.text[1:]
