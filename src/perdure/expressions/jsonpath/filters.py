"""Filters, by the grammar of RFC 9535, section 2.3.5, and whether they are well typed, by section 2.4.3."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final, get_args
from typing import Literal as OneOf

from perdure.expressions.jsonpath.functions import FUNCTIONS, Function
from perdure.expressions.jsonpath.reading import Reader
from perdure.expressions.jsonpath.syntax import (
    Argument,
    Both,
    Call,
    Comparable,
    Comparison,
    Either,
    Literal,
    Logical,
    Not,
    Query,
    Test,
)
from perdure.expressions.limits import Limits

Operator = OneOf["==", "!=", "<=", ">=", "<", ">"]  # the longer ones first, because they begin like the shorter
_OPERATORS: Final[tuple[Operator, ...]] = get_args(Operator)
_WORDS: Final = {"true": True, "false": False, "null": None}
_OPERAND: Final = "a query (@ or $), a literal or a function"
_COMPARISON: Final = "==, !=, <, <=, > or >="
_NUMBER: Final = frozenset("-0123456789")
_FOREIGN: Final = {
    "=": "equality is written ==",
    "&": "«and» is written &&",
    "|": "«or» is written ||",
    "a": "«and» is written &&",
    "o": "«or» is written ||",
    "~": "use match(@.name, 'pattern')",
}


class Filters(Reader, ABC):
    """Reads the logical expressions of filters."""

    def __init__(self, source: str, limits: Limits) -> None:
        super().__init__(source, limits)
        #: The queries that begin at the root, wherever they stand.
        self.absolute: list[Query] = []

    @abstractmethod
    def query(self) -> Query:
        """The query at which we are."""

    def logical(self) -> Logical:
        """What stands behind `?`, or in brackets."""
        start = self.at
        return self._test(self._either(), start)

    def foreign(self) -> str | None:
        """What to write instead of an operator of another language."""
        return _FOREIGN.get(self.source[self.at : self.at + 1])

    # -- operators --------------------------------------------------------------------------------------------------

    def _either(self) -> Argument:
        start = self.at
        first = self._both()
        if not self._operator("||"):
            return first
        parts = [self._test(first, start), self._part()]
        while self._operator("||"):
            parts.append(self._part())
        return Either(parts)

    def _part(self) -> Logical:
        start = self.at
        return self._test(self._both(), start)

    def _both(self) -> Argument:
        start = self.at
        first = self._basic()
        if not self._operator("&&"):
            return first
        parts = [self._test(first, start)]
        while True:
            start = self.at
            parts.append(self._test(self._basic(), start))
            if not self._operator("&&"):
                return Both(parts)

    def _operator(self, sign: str) -> bool:
        before = self.at
        self.blanks()
        if self.took(sign):
            self.blanks()
            return True
        self.at = before
        return False

    def _basic(self) -> Argument:
        start = self.at
        self.count(start)
        if self.took("!"):
            self.blanks()
            start = self.at
            negated = self._parentheses() if self.sees("(") else self._test(self._operand(), start)
            self._not_compared("! is about a query, a function or brackets", start)
            return Not(negated)
        if self.sees("("):
            found = self._parentheses()
            self._not_compared("brackets hold what is true or false, which cannot be compared", start)
            return found
        left = self._operand()
        end = self.at
        op = self._comparison()
        if op is None:
            self.at = end
            return left
        left = self._comparable(left, start, end)
        self.blanks()
        start = self.at
        right = self._operand()
        return Comparison(op, left, self._comparable(right, start, self.at))

    def _parentheses(self) -> Logical:
        self.deeper()
        self.at += 1
        self.blanks()
        found = self.logical()
        self.blanks()
        if not self.took(")"):
            self.unexpected("an operator or )", self.foreign())
        self.depth -= 1
        return found

    def _comparison(self) -> Operator | None:
        self.blanks()
        return next((sign for sign in _OPERATORS if self.took(sign)), None)

    def _not_compared(self, message: str, start: int) -> None:
        end = self.at
        if self._comparison() is not None:
            self.fail(message, start, end, remedy="write !(a == b) for «not equal», or a != b")
        self.at = end

    # -- operands ---------------------------------------------------------------------------------------------------

    def _operand(self) -> Comparable:
        start = self.at
        sign = self.source[start : start + 1]
        if self.sees("@") or self.sees("$"):
            return self.query()
        if self.sees("'") or self.sees('"'):
            return Literal(self.text())
        if sign in _NUMBER:
            return Literal(self.number())
        word = self.word()
        if word is None:
            return self.unexpected(_OPERAND)
        if self.sees("("):
            return self._call(word, start)
        if word in FUNCTIONS:
            self.fail(f"{word} is a function", start, self.at, expected=f"{word}(…), without blanks before the bracket")
        if word not in _WORDS:
            self.fail(f"{word!r} has no meaning here", start, self.at, expected=_OPERAND, remedy="text needs quotes")
        return Literal(_WORDS[word])

    def _call(self, name: str, start: int) -> Call:
        function = FUNCTIONS.get(name)
        if function is None:
            self.fail(f"there is no function {name!r}", start, self.at, expected=", ".join(FUNCTIONS))
        self.deeper()
        self.at += 1
        self.blanks()
        arguments: list[Argument] = []
        if not self.sees(")"):
            while True:
                arguments.append(self._argument(function, len(arguments)))
                self.blanks()
                if not self.took(","):
                    break
                self.blanks()
        if not self.took(")"):
            self.unexpected("a comma or )")
        self.depth -= 1
        if len(arguments) < len(function.parameters):
            self.fail(f"{name} takes {_arguments(function)}, not {len(arguments)}", start, self.at)
        return Call(function, arguments, start, self.at)

    # -- types ------------------------------------------------------------------------------------------------------

    def _argument(self, function: Function, number: int) -> Argument:
        start = self.at
        found = self._either()
        if number >= len(function.parameters):
            self.fail(f"{function.name} takes only {_arguments(function)}", start, self.at)
        wanted = function.parameters[number]
        if wanted == "logical":
            return self._test(found, start)
        if wanted == "value":
            if isinstance(found, Literal | Query | Call):
                return self._comparable(found, start, self.at)
            self.fail(f"{function.name} takes a value here, not a condition", start, self.at)
        if not isinstance(found, Query) and not (isinstance(found, Call) and found.function.result == "nodes"):
            expected = "a query such as @.items[*]"
            self.fail(f"{function.name} takes what a query finds", start, self.at, expected=expected)
        return found

    def _test(self, found: Argument, start: int) -> Logical:
        """Something that is true or false."""
        if isinstance(found, Literal):
            self.fail("a literal must be compared with something", start, self.at, expected=_COMPARISON)
        if isinstance(found, Call) and found.function.result == "value":
            message = f"the result of {found.function.name} must be compared with something"
            self.fail(message, start, self.at, expected=_COMPARISON)
        return Test(found) if isinstance(found, Query | Call) else found

    def _comparable(self, found: Comparable, start: int, end: int) -> Comparable:
        """Something that is one value at most."""
        if isinstance(found, Call) and found.function.result != "value":
            self.fail(f"the result of {found.function.name} is true or false and no value", start, end)
        if isinstance(found, Query):
            if not found.is_singular:
                expected = "a query of names and indexes"
                remedy = "value(…) is the value of a query that finds exactly one, count(…) how many it finds"
                self.fail("this query may find several values", start, end, expected=expected, remedy=remedy)
            if not all(each.plain for each in found.segments):
                self.fail("the brackets of a query that stands for one value have no blanks in them", start, end)
        return found


def _arguments(function: Function) -> str:
    count = len(function.parameters)
    return f"{count} argument{'' if count == 1 else 's'}"
