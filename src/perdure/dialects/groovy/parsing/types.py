"""Types: `String`, `java.util.Date`, `Map<String, List<Object>>`, `int[]`."""

from __future__ import annotations

from perdure.dialects.groovy.parsing.cursor import Cursor
from perdure.dialects.groovy.refusals import Unreadable
from perdure.dialects.groovy.syntax import Type
from perdure.dialects.groovy.tokens import PRIMITIVES, Token


class Types(Cursor):
    def try_type(self) -> Type | None:
        """The type that stands here. Without one nothing is taken.

        Classes begin with a capital letter; that is how `Order order` is a declaration and `print order` is none.
        """
        start = self.index
        first = self.token
        if first.kind == "word" and first.value in PRIMITIVES:
            name = str(self.advance().value)
        elif first.kind == "name":
            name = self._dotted()
        else:
            return None
        is_class = name in PRIMITIVES or name.rpartition(".")[2][:1].isupper()
        if not is_class or not self._skip_generics():
            self.index = start
            return None
        is_array = False
        while self.token.is_op("[") and self.ahead().is_op("]"):
            self.index += 2
            is_array = True
        return Type(first.line, first.column, name, is_array)

    def type(self, why: str) -> Type:
        found = self.try_type()
        if found is None:
            raise Unreadable(self.token, f"{why}: a type is expected, not {self.token.shown}")
        return found

    def _dotted(self) -> str:
        names = [str(self.advance().value)]
        while self.token.is_op(".") and self.ahead().kind == "name":
            self.index += 1
            names.append(str(self.advance().value))
        return ".".join(names)

    def _skip_generics(self) -> bool:
        """Past `<…>`, if there is one. False if what begins like one is none, such as `A < b`."""
        if not self.token.is_op("<"):
            return True
        depth = 0
        while True:
            token = self.token
            if token.is_op("<"):
                depth += 1
            elif token.is_op(">"):
                depth -= 1
            elif not _in_generics(token):
                return False
            self.index += 1
            if depth == 0:
                return True


def _in_generics(token: Token) -> bool:
    if token.kind == "word":
        return token.value in PRIMITIVES or token.value in {"extends", "super"}
    return token.kind == "name" or token.is_op(",", ".", "?", "[", "]", "&")
