"""A place among the tokens, and the questions that one asks about what stands there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from perdure.dialects.groovy import limits
from perdure.dialects.groovy.refusals import Refusals, TooDeep, Unreadable
from perdure.dialects.groovy.tokens import Token


class Cursor:
    def __init__(self, tokens: list[Token], refusals: Refusals, depth: int = 0) -> None:
        self.tokens = tokens
        self.refusals = refusals
        self.index = 0
        self.depth = depth

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    def ahead(self, count: int = 1) -> Token:
        return self.tokens[min(self.index + count, len(self.tokens) - 1)]

    def advance(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.index += 1
        return token

    def at_end(self) -> bool:
        return self.token.kind == "end"

    def take_op(self, *operators: str) -> Token | None:
        return self.advance() if self.token.is_op(*operators) else None

    def take_word(self, *words: str) -> Token | None:
        return self.advance() if self.token.is_word(*words) else None

    def expect_op(self, operator: str, why: str) -> Token:
        if not self.token.is_op(operator):
            raise Unreadable(self.token, f"{why}: {operator} is expected, not {self.token.shown}")
        return self.advance()

    def expect_name(self, why: str) -> Token:
        if self.token.kind != "name":
            raise Unreadable(self.token, f"{why}: a name is expected, not {self.token.shown}")
        return self.advance()

    def skip_newlines(self) -> None:
        while self.token.kind == "newline":
            self.index += 1

    def after_newlines(self) -> Token:
        """The token that comes next when line breaks do not count. Nothing is taken."""
        index = self.index
        while self.tokens[index].kind == "newline":
            index += 1
        return self.tokens[index]

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Around everything that can contain itself."""
        if self.depth >= limits.NESTING:
            raise TooDeep(self.token)
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
