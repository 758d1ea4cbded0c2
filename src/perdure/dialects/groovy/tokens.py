"""The tokens of Groovy, each with its place."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

Kind = Literal["name", "word", "number", "text", "op", "newline", "end"]


class Token(NamedTuple):
    kind: Kind
    value: Any
    """The name, the reserved word, the operator; a `Number`; for text the list of its parts."""
    line: int
    column: int
    start: int
    """Offset in the source, to see whether two tokens touch."""
    end: int

    def is_op(self, *operators: str) -> bool:
        return self.kind == "op" and self.value in operators

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.value in words

    @property
    def shown(self) -> str:
        """How a message names it."""
        match self.kind:
            case "end":
                return "the end of the script"
            case "newline":
                return "the end of the line"
            case "text":
                return "a string"
            case "number":
                return "a number"
            case _:
                return f"`{self.value}`"


class Number(NamedTuple):
    """A literal. Groovy's `1.5` is a decimal, exact as it is written; `1.5d` is a float as in JSON."""

    kind: Literal["integer", "decimal", "float"]
    text: str


class Embedded(NamedTuple):
    """The tokens of `${…}` or `$a.b` inside a string, ended by an `end` token."""

    tokens: list[Token]


WORDS: Final = frozenset(
    {
        "abstract", "as", "assert", "boolean", "break", "byte", "case", "catch", "char", "class", "continue", "def",
        "default", "do", "double", "else", "enum", "extends", "false", "final", "finally", "float", "for", "goto", "if",
        "implements", "import", "in", "instanceof", "int", "interface", "long", "native", "new", "null", "package",
        "private", "protected", "public", "return", "short", "static", "super", "switch", "synchronized", "this",
        "throw", "throws", "trait", "transient", "true", "try", "void", "volatile", "while",
    }
)  # fmt: skip

PRIMITIVES: Final = frozenset({"boolean", "byte", "char", "double", "float", "int", "long", "short", "void"})
