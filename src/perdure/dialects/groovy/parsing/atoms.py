"""What an expression is made of: literals, names, lists, maps, closures, `new`."""

from __future__ import annotations

from perdure.dialects.groovy.parsing.types import Types
from perdure.dialects.groovy.refusals import Unreadable, Unsupported, UnsupportedDefinition
from perdure.dialects.groovy.syntax import (
    Closure,
    Constant,
    Entry,
    Expression,
    Fraction,
    ListOf,
    MapOf,
    Name,
    New,
    Parameter,
    Spread,
    Statement,
    Text,
    Type,
)
from perdure.dialects.groovy.tokens import Embedded, Number, Token

_CONSTANTS = {"true": True, "false": False, "null": None}
_IN_PARAMETERS = frozenset({",", "<", ">", ".", "[", "]", "?", "="})


class Atoms(Types):
    # Provided by the layers above.
    def expression(self) -> Expression:
        raise NotImplementedError

    def block(self) -> list[Statement]:
        raise NotImplementedError

    def embedded(self, tokens: list[Token]) -> Expression:
        raise NotImplementedError

    def atom(self) -> Expression:
        token = self.token
        match token.kind:
            case "number":
                return self._number(self.advance())
            case "text":
                return self._text(self.advance())
            case "name":
                return self._name(self.advance())
            case "word":
                return self._word(token)
            case "op" if token.value == "(":
                return self._bracketed()
            case "op" if token.value == "[":
                return self._list_or_map()
            case "op" if token.value == "{":
                return self.closure()
        raise Unreadable(token, f"a value is expected, not {token.shown}")

    def _number(self, token: Token) -> Expression:
        number: Number = token.value
        if number.kind == "integer":
            return Constant(token.line, token.column, int(number.text))
        return Fraction(token.line, token.column, number.kind, number.text)

    def _text(self, token: Token) -> Expression:
        parts: list[Expression] = []
        for part in token.value:
            if isinstance(part, Embedded):
                parts.append(self.embedded(part.tokens))
            else:
                parts.append(Constant(token.line, token.column, part))
        if not parts:
            return Constant(token.line, token.column, "")
        if len(parts) == 1 and isinstance(token.value[0], str):
            return parts[0]
        return Text(token.line, token.column, parts)

    def _name(self, token: Token) -> Expression:
        if self.token.is_op("->"):
            raise Unsupported(token, "a lambda with an arrow but no braces", f"write {{ {token.value} -> … }}")
        return Name(token.line, token.column, token.value)

    def _word(self, token: Token) -> Expression:
        if token.value in _CONSTANTS:
            self.advance()
            return Constant(token.line, token.column, _CONSTANTS[token.value])
        if token.value == "new":
            return self._new()
        if token.value in {"this", "super"}:
            raise Unsupported(token, f"`{token.value}`", "a script has no object of its own; name the variable itself")
        if token.value == "switch":
            raise UnsupportedDefinition(token, "switch as a value", "make it a statement that assigns a variable")
        raise Unreadable(token, f"a value is expected, not {token.shown}")

    def _new(self) -> Expression:
        token = self.advance()
        type = self.type("after new")
        if type.is_array or self.token.is_op("["):
            raise Unsupported(token, "an array", "use a list: []")
        arguments = self.arguments() if self.token.is_op("(") else []
        if self.token.is_op("{"):
            raise Unsupported(token, "an anonymous class", "use maps and closures")
        return New(token.line, token.column, type, arguments)

    def _bracketed(self) -> Expression:
        opening = self.advance()
        if self.token.is_op(")"):
            raise Unsupported(opening, "`()`", "a lambda is written { -> … }; a value goes between the brackets")
        inner = self.expression()
        if self.token.is_op(",") and self._arrow_after_bracket():
            raise Unsupported(opening, "a lambda with an arrow but no braces", "write { a, b -> … }")
        self.expect_op(")", "in brackets")
        return inner

    def _arrow_after_bracket(self) -> bool:
        index = self.index
        while self.tokens[index].kind == "name" or self.tokens[index].is_op(","):
            index += 1
        return self.tokens[index].is_op(")") and self.tokens[index + 1].is_op("->")

    def arguments(self) -> list[Expression]:
        """`(a, b, c: 1)`: arguments with names are one map, and it comes first, as Groovy has it."""
        opening = self.expect_op("(", "a call")
        plain: list[Expression] = []
        named: list[Entry] = []
        while not self.token.is_op(")"):
            if self.token.is_op("*"):
                raise Unsupported(self.token, "spreading a list over arguments", "write the arguments one by one")
            item = self._item()
            if isinstance(item, Entry):
                named.append(item)
            else:
                plain.append(item)
            if not self.take_op(","):
                break
        self.expect_op(")", "the arguments")
        return [MapOf(opening.line, opening.column, named), *plain] if named else plain

    def _list_or_map(self) -> Expression:
        opening = self.advance()
        if self.token.is_op(":") and self.ahead().is_op("]"):
            self.index += 2
            return MapOf(opening.line, opening.column, [])
        items: list[Expression | Entry] = []
        while not self.token.is_op("]"):
            items.append(self._item())
            if not self.take_op(","):
                break
        self.expect_op("]", "a list or map")
        entries = [item for item in items if isinstance(item, Entry)]
        if not entries:
            return ListOf(opening.line, opening.column, [item for item in items if not isinstance(item, Entry)])
        for item in items:
            if not isinstance(item, Entry):
                raise Unreadable(item, "a map has a key before every value", "write key: value")
        return MapOf(opening.line, opening.column, entries)

    def _item(self) -> Expression | Entry:
        token = self.token
        if self.take_op("*"):
            if self.take_op(":"):
                return Entry(token.line, token.column, None, self.expression())
            return Spread(token.line, token.column, self.expression())
        if token.kind in {"name", "word"} and self.ahead().is_op(":"):  # the key is the word itself
            self.index += 2
            return Entry(token.line, token.column, Constant(token.line, token.column, token.value), self.expression())
        found = self.expression()
        if self.take_op(":"):
            return Entry(token.line, token.column, found, self.expression())
        return found

    def closure(self) -> Closure:
        opening = self.token
        with self.deeper():
            self.advance()
            parameters = self._closure_parameters()
            return Closure(opening.line, opening.column, parameters, self.block())

    def _closure_parameters(self) -> list[Parameter] | None:
        """Up to the arrow. None if there is no arrow: then the closure has `it`."""
        start = self.index
        self.skip_newlines()
        if not self._arrow_follows():
            self.index = start
            return None
        parameters = self.parameters("->")
        self.expect_op("->", "the parameters of a closure")
        return parameters

    def _arrow_follows(self) -> bool:
        index = self.index
        while True:
            token = self.tokens[index]
            if token.is_op("->"):
                return True
            ordinary = token.kind in {"name", "text", "number", "newline"} or token.value in _IN_PARAMETERS
            if not ordinary and not (token.kind == "word" and token.value not in {"return", "if", "for", "while"}):
                return False
            index += 1

    def parameters(self, closing: str) -> list[Parameter]:
        found: list[Parameter] = []
        self.skip_newlines()
        while not self.token.is_op(closing):
            self.take_word("final")
            declared = None if self.take_word("def") else self._parameter_type()
            name = self.expect_name("a parameter")
            default = self.expression() if self.take_op("=") else None
            found.append(Parameter(name.line, name.column, name.value, declared, default))
            self.skip_newlines()
            if not self.take_op(","):
                break
            self.skip_newlines()
        return found

    def _parameter_type(self) -> Type | None:
        start = self.index
        found = self.try_type()
        if found is not None and self.token.kind != "name":  # it was the name itself, with a capital letter
            self.index = start
            return None
        return found
