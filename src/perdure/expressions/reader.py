"""Reading tokens: looking ahead, taking, insisting, and saying well what was not expected."""

from __future__ import annotations

from typing import TypeVar

from perdure.errors import ExpressionLimit, ExpressionSyntax
from perdure.expressions.limits import Limits
from perdure.expressions.places import placed
from perdure.expressions.syntax import Node
from perdure.expressions.tokens import OPERATOR_WORDS, Token, wrong

Made = TypeVar("Made", bound=Node)


class Reader:
    """The tokens of one expression, read from left to right, and the number of nodes made of them."""

    def __init__(self, source: str, tokens: list[Token], limits: Limits) -> None:
        self.source = source
        self.tokens = tokens
        self.limits = limits
        self.at = 0
        self.count = 0

    def next(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def sees(self, word: str) -> bool:
        """Whether the next token is this operator or word."""
        token = self.tokens[self.at]
        return token.value == word and token.kind in {"op", "name"}

    def takes(self, word: str) -> bool:
        found = self.sees(word)
        self.at += found
        return found

    def expects(self, word: str, why: str) -> Token:
        if not self.sees(word):
            token = self.tokens[self.at]
            raise wrong(f"expected {word!r} {why}", self.source, token.start, max(token.end, token.start + 1))
        return self.next()

    def unexpected(self, token: Token) -> ExpressionSyntax:
        before = self.tokens[self.at - 1] if self.at else None
        remedy = None
        if token.kind == "end":
            message = "the expression ends too early"
        elif token.value == "=" and token.kind == "op":
            message, remedy = "values cannot be assigned here", "to compare, write =="
        elif token.kind == "text" and before is not None and before.kind == "name" and before.end == token.start:
            message, remedy = "text takes no prefix", "put parts together with + or join"
        elif token.kind == "name" and token.value not in OPERATOR_WORDS:
            message, remedy = f"an operator is missing before {token.value!r}", None
        else:
            message = f"{self.source[token.start : token.end]!r} is not expected here"
        return wrong(message, self.source, token.start, max(token.end, token.start + 1), remedy)

    def counted(self, node: Made) -> Made:
        self.count += 1
        if self.count > self.limits.nodes:
            fault = ExpressionLimit(f"the expression has more than {self.limits.nodes:,} parts")
            raise placed(fault, self.source, node.start, node.end)
        return node
