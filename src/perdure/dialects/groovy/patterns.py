"""Regular expressions, as far as split, replaceAll, replaceFirst and matches need them in scripts like these.

A pattern is a text in the script, and simple: characters, classes such as `[^0-9]`, `\\s`, `\\d` and `\\w`, `.`, each
with `?`, `*`, `+` or `{2,3}`, alternatives with `|`, `^` at the beginning and `$` at the end. There are no groups, so
nothing repeats what is itself repeated. Java's classes are written out, since Python's `\\s` and `\\d` take in more.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_CLASSES: Final = {"s": r" \t\n\x0b\f\r", "d": "0-9", "w": "a-zA-Z0-9_"}
_ANYTHING: Final = r"[^\n\r\x85\u2028\u2029]"
_CONTROLS: Final = {"t": r"\t", "n": r"\n", "r": r"\r", "f": r"\f"}
_QUANTIFIER: Final = re.compile(r"[?*+]|\{[0-9]{1,3}(?:,[0-9]{0,3})?\}")
_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}")
_LONGEST: Final = 200


class Pattern(NamedTuple):
    python: str
    plain: str | None
    """The text itself, if nothing in the pattern is special."""
    may_be_empty: bool


def read_pattern(java: str) -> Pattern | None:
    """The same in Python; None if it is not one of the simple ones."""
    if len(java) > _LONGEST:
        return None
    alternatives: list[str] = []
    plain: list[str] | None = []
    may_be_empty = False
    reader = _Reader(java)
    while True:
        sequence = reader.sequence()
        if sequence is None:
            return None
        alternatives.append(sequence.python)
        may_be_empty = may_be_empty or sequence.may_be_empty
        plain = None if plain is None or sequence.plain is None else [*plain, sequence.plain]
        if reader.done:
            break
        reader.at += 1  # past the |
        plain = None
    python = "|".join(alternatives)
    try:
        re.compile(python)
    except re.error:  # {3,2}
        return None
    return Pattern(python, "".join(plain) if plain is not None else None, may_be_empty)


class _Reader:
    def __init__(self, java: str) -> None:
        self.java = java
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.java)

    def sequence(self) -> Pattern | None:
        """Up to the next | or the end."""
        pieces: list[str] = []
        plain: list[str] | None = []
        may_be_empty = True
        while not self.done and self.java[self.at] != "|":
            if anchor := self._anchor():
                pieces.append(anchor)
                plain = None
                continue
            atom = self._atom()
            if atom is None:
                return None
            piece, character = atom
            if quantifier := _QUANTIFIER.match(self.java, self.at):
                self.at = quantifier.end()
                if self.java[self.at : self.at + 1] in ("?", "+", "*"):  # reluctant, possessive, or nonsense
                    return None
                piece += quantifier.group()
                plain = None
                may_be_empty = may_be_empty and quantifier.group().startswith(("?", "*", "{0"))
            else:
                may_be_empty = False
            plain = None if plain is None or character is None else [*plain, character]
            pieces.append(piece)
        return Pattern("".join(pieces), "".join(plain) if plain is not None else None, may_be_empty)

    def _anchor(self) -> str | None:
        character = self.java[self.at]
        if (character == "^" and self.at == 0) or (character == "$" and self.at == len(self.java) - 1):
            self.at += 1
            return character
        return None

    def _atom(self) -> tuple[str, str | None] | None:
        """One thing that matches one character: in Python, and the character if it can only be one."""
        character = self.java[self.at]
        self.at += 1
        if character == ".":
            return _ANYTHING, None
        if character == "[":
            inside = self._class()
            return None if inside is None else (inside, None)
        if character == "\\":
            return self._escape()
        if character in _SPECIAL:
            return None
        return re.escape(character), character

    def _escape(self) -> tuple[str, str | None] | None:
        letter = self.java[self.at : self.at + 1]
        self.at += 1
        if letter.lower() in _CLASSES and letter:
            return f"[{'^' if letter.isupper() else ''}{_CLASSES[letter.lower()]}]", None
        if letter in _CONTROLS:
            return _CONTROLS[letter], None
        if not letter or letter.isalnum():
            return None
        return re.escape(letter), letter

    def _class(self) -> str | None:
        """`[…]`; the bracket has been taken."""
        pieces: list[str] = []
        if self.java.startswith("^", self.at):
            pieces.append("^")
            self.at += 1
        first = self.at
        while not self.done:
            character = self.java[self.at]
            self.at += 1
            if character == "]" and self.at - 1 > first:
                return f"[{''.join(pieces)}]"
            if character in "[]&^":  # nested classes and intersections are Java's own
                return None
            if character == "\\":
                letter = self.java[self.at : self.at + 1]
                self.at += 1
                if letter and letter in _CLASSES:
                    pieces.append(_CLASSES[letter])
                elif letter in _CONTROLS:
                    pieces.append(_CONTROLS[letter])
                elif letter and not letter.isalnum():
                    pieces.append(re.escape(letter))
                else:
                    return None
            elif character == "-" and (self.at - 1 == first or self.java[self.at : self.at + 1] == "]"):
                pieces.append(r"\-")
            elif character == "-" and not _is_range(self.java, self.at - 1):
                return None
            else:
                pieces.append(character if character == "-" else re.escape(character))
        return None


def _is_range(java: str, dash: int) -> bool:
    """`a-z`: two ordinary characters, in order, around the dash."""
    low, high = java[dash - 1], java[dash + 1 : dash + 2]
    return bool(high) and low not in _SPECIAL and high not in _SPECIAL and low <= high and java[dash - 2] != "\\"
