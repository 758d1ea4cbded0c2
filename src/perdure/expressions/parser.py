"""From tokens to nodes: a Pratt parser, so that a level of nesting costs three Python frames and not ten.

Loosest first:

    a ? b : c      b if a else c                     the rest of the expression
    a ?? b         a ?: b                            the first that is there and not null / and true
    a or b         a || b
    a and b        a && b
    not a
    a == b  != === !== < <= > >= in, not in, is      may be chained: 0 < x <= 9
    a + b          a - b
    a * b          / // %
    -a  +a  !a                                       `!a == b` compares `!a`, as in JavaScript; `not a == b` negates all
    a ** b                                           to the right: 2 ** 3 ** 2 is 512, and -2 ** 2 is -4
    a.b  a?.b  a[b]  a[b:c]  f(a)  a.f(b)

`${ … }` inside an expression is a pair of brackets: its value takes part as a value and is never read as text again.
"""

from __future__ import annotations

from typing import Final, Literal

from perdure.errors import ExpressionLimit
from perdure.expressions import syntax
from perdure.expressions.limits import Limits
from perdure.expressions.places import placed
from perdure.expressions.reader import Reader
from perdure.expressions.syntax import Node
from perdure.expressions.tokens import OPERATOR_WORDS, Token, scan, wrong

CONSTANTS: Final = {
    "true": True, "True": True, "false": False, "False": False,
    "null": None, "nil": None, "none": None, "None": None,
}  # fmt: skip

_CHOICE, _COALESCE, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN, _POWER, _POSTFIX = range(1, 12)

_POWERS: Final = {
    "?": _CHOICE, "if": _CHOICE, "??": _COALESCE, "?:": _COALESCE, "or": _OR, "||": _OR, "and": _AND, "&&": _AND,
    "==": _COMPARE, "!=": _COMPARE, "===": _COMPARE, "!==": _COMPARE, "<": _COMPARE, "<=": _COMPARE,
    ">": _COMPARE, ">=": _COMPARE, "=~": _COMPARE, "!~": _COMPARE, "in": _COMPARE, "not": _COMPARE, "is": _COMPARE,
    "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "//": _PRODUCT, "%": _PRODUCT, "**": _POWER,
    ".": _POSTFIX, "?.": _POSTFIX, "[": _POSTFIX, "(": _POSTFIX,
}  # fmt: skip
#: Nodes whose brackets belong to them when they are shown.
_WIDENED: Final = (syntax.Binary, syntax.Compare, syntax.Logic, syntax.Choose, syntax.Coalesce, syntax.Unary)
_SPELLINGS: Final = {"===": "==", "!==": "!="}


def parse(source: str, limits: Limits) -> Node:
    """The whole of `source` as one expression."""
    tokens, _ = scan(source, limits)
    return Parser(source, tokens, limits).whole()


class Parser(Reader):
    """One expression. `depth` counts the brackets, operators and signs that are open."""

    depth = 0

    def whole(self) -> Node:
        if self.tokens[0].kind == "end":
            raise wrong("the expression is empty", self.source, self.tokens[0].start, self.tokens[0].end)
        found = self.expression(0)
        if self.tokens[self.at].kind != "end":
            raise self.unexpected(self.tokens[self.at])
        return found

    def expression(self, least: int) -> Node:
        """An expression whose operators all bind at least as tightly as `least`."""
        self.depth += 1
        if self.depth > self.limits.depth:
            token = self.tokens[self.at]
            fault = ExpressionLimit(f"the expression is nested deeper than {self.limits.depth} levels")
            raise placed(fault, self.source, token.start, max(token.end, token.start + 1))
        left = self.prefix()
        while True:
            token = self.tokens[self.at]
            power = _POWERS.get(token.value, 0) if token.kind in {"op", "name"} else 0
            if not power or power < least or (token.value == "not" and self.tokens[self.at + 1].value != "in"):
                break
            left = self.infix(left, token, power)
        self.depth -= 1
        return left

    def prefix(self) -> Node:
        token = self.next()
        node: Node
        if token.kind in {"number", "text"}:
            node = syntax.Constant(token.start, token.end, token.value)
        elif token.kind == "name" and token.value in CONSTANTS:
            node = syntax.Constant(token.start, token.end, CONSTANTS[token.value])
        elif token.kind == "name" and token.value not in OPERATOR_WORDS:
            node = syntax.Name(token.start, token.end, token.value)
        elif token.kind in {"op", "name"}:
            node = self.opening(token)
        else:
            raise self.unexpected(token)
        return self.counted(node)

    def opening(self, token: Token) -> Node:
        match token.value:
            case "-" | "+":
                return self.signed(token)
            case "!" | "not":
                operand = self.expression(_SIGN if token.value == "!" else _NOT)
                return syntax.Unary(token.start, operand.end, "not", operand)
            case "(":
                return self.group(token)
            case "[":
                return self.list_display(token)
            case "{":
                return self.object_display(token)
            case "${":
                inner = self.expression(0)
                self.expects("}", "to close ${")
                return inner
            case _:
                self.at -= 1
                raise self.unexpected(token)

    def signed(self, token: Token) -> Node:
        operand = self.expression(_SIGN)
        sign: Literal["-", "+"] = "-" if token.value == "-" else "+"
        if isinstance(operand, syntax.Constant) and type(operand.value) in {int, float}:
            number: float = operand.value  # type: ignore[assignment]
            return syntax.Constant(token.start, operand.end, -number if sign == "-" else number)
        return syntax.Unary(token.start, operand.end, sign, operand)

    def infix(self, left: Node, token: Token, power: int) -> Node:
        self.next()
        if power == _POSTFIX:
            return self.counted(self.postfix(left, token))
        if power == _CHOICE:
            return self.counted(self.choice(left, token))
        if power == _COMPARE:
            return self.counted(self.comparison(left, token))
        if power == _COALESCE:
            right = self.expression(_COALESCE + 1)
            op: Literal["??", "?:"] = "??" if token.value == "??" else "?:"
            if isinstance(left, syntax.Coalesce) and left.op == op:
                left.parts.append(right)
                left.end = right.end
                return left
            return self.counted(syntax.Coalesce(left.start, right.end, op, [left, right]))
        if power in {_OR, _AND}:
            right = self.expression(power + 1)
            word: Literal["and", "or"] = "or" if power == _OR else "and"
            if isinstance(left, syntax.Logic) and left.op == word:
                left.parts.append(right)
                left.end = right.end
                return left
            return self.counted(syntax.Logic(left.start, right.end, word, [left, right]))
        # a power takes its right side first, signs included: 2 ** -1
        right = self.expression(_SIGN if power == _POWER else power + 1)
        return self.counted(syntax.Binary(left.start, right.end, token.value, left, right))

    def choice(self, left: Node, token: Token) -> Node:
        if token.value == "?":
            then = self.expression(0)
            self.expects(":", "between the two values of ? :")
            otherwise = self.expression(_CHOICE)
            return syntax.Choose(left.start, otherwise.end, left, then, otherwise)
        test = self.expression(_COALESCE)
        self.expects("else", "after the condition")
        otherwise = self.expression(_CHOICE)
        return syntax.Choose(left.start, otherwise.end, test, left, otherwise)

    def comparison(self, left: Node, token: Token) -> Node:
        ops: list[str] = []
        operands = [left]
        while True:
            op = token.value
            if op == "not":
                self.next()
                op = "not in"
            elif op == "is":
                op = "!=" if self.takes("not") else "=="
            ops.append(_SPELLINGS.get(op, op))
            operands.append(self.expression(_COMPARE + 1))
            token = self.tokens[self.at]
            if not self.compares(token):
                return syntax.Compare(left.start, operands[-1].end, ops, operands)
            self.next()

    def compares(self, token: Token) -> bool:
        if token.kind not in {"op", "name"} or _POWERS.get(token.value) != _COMPARE:
            return False
        return token.value != "not" or bool(self.tokens[self.at + 1].value == "in")

    # -- after a value ------------------------------------------------------------------------------------------

    def postfix(self, left: Node, token: Token) -> Node:
        if token.value == "[":
            return self.subscript(left)
        if token.value == "(":
            return self.call(left, token)
        key = self.next()
        if key.kind not in {"name", "number"}:
            raise wrong("a key is expected after the dot", self.source, token.start, max(key.end, token.end))
        return syntax.Member(left.start, key.end, left, key.value, token.value == "?.")

    def subscript(self, left: Node) -> Node:
        bounds: list[Node | None] = [None]
        while not self.sees("]"):
            if self.takes(":"):
                bounds.append(None)
                if len(bounds) > 3:
                    raise self.unexpected(self.tokens[self.at - 1])
            elif bounds[-1] is None:
                bounds[-1] = self.expression(0)
            else:
                self.expects("]", "after the index")
        close = self.next()
        if len(bounds) > 1:
            low, high, step = (*bounds, None)[:3]
            return syntax.Slice(left.start, close.end, left, low, high, step)
        if bounds[0] is None:
            raise wrong("an index is expected between [ and ]", self.source, close.start, close.end)
        return syntax.Index(left.start, close.end, left, bounds[0])

    def call(self, left: Node, token: Token) -> Node:
        arguments: list[Node] = []
        if isinstance(left, syntax.Name):
            name, name_start = left.name, left.start
        elif isinstance(left, syntax.Member) and isinstance(left.key, str):
            name, name_start = left.key, left.end - len(left.key)
            arguments.append(left.of)
        else:
            raise wrong("only a function of the language can be called", self.source, token.start, token.end)
        keywords: dict[str, Node] = {}
        while not self.sees(")"):
            word, after = self.tokens[self.at], self.tokens[min(self.at + 1, len(self.tokens) - 1)]
            if word.kind == "name" and after.kind == "op" and after.value == "=":
                self.at += 2
                if word.value in keywords:
                    raise wrong(f"{word.value!r} is given twice", self.source, word.start, word.end)
                keywords[word.value] = self.expression(0)
            elif keywords:
                raise wrong("a plain argument cannot follow a named one", self.source, word.start, word.end)
            else:
                arguments.append(self.item())
            if not self.takes(","):
                break
        close = self.expects(")", f"to close the arguments of {name}")
        return syntax.Call(left.start, close.end, name, name_start, arguments, keywords)

    # -- brackets -----------------------------------------------------------------------------------------------

    def group(self, token: Token) -> Node:
        """`(a)` is a; `(a, b)` and `()` are lists, because JSON has no tuples."""
        items: list[Node] = []
        comma = False
        while not self.sees(")"):
            items.append(self.item())
            comma = self.takes(",")
            if not comma:
                break
        close = self.expects(")", "to close the bracket")
        if len(items) == 1 and not comma:
            only = items[0]
            if isinstance(only, _WIDENED):
                only.start, only.end = token.start, close.end
            return only
        return syntax.ListOf(token.start, close.end, items)

    def list_display(self, token: Token) -> Node:
        before = self.count
        items: list[Node] = []
        while not self.sees("]"):
            items.append(self.expression(0))
            if len(items) == 1 and self.sees("for"):
                clauses = self.clauses()
                close = self.expects("]", "to close the comprehension")
                return syntax.Comprehension(token.start, close.end, None, items[0], clauses, self.count - before)
            if not self.takes(","):
                break
        close = self.expects("]", "to close the list")
        return syntax.ListOf(token.start, close.end, items)

    def object_display(self, token: Token) -> Node:
        before = self.count
        pairs: list[tuple[Node, Node]] = []
        while not self.sees("}"):
            key = self.expression(0)
            if self.sees(",") or self.sees("}"):
                raise wrong("a set is not JSON", self.source, token.start, key.end, "write a list: [a, b]")
            self.expects(":", "after the key of an object")
            pairs.append((key, self.expression(0)))
            if len(pairs) == 1 and self.sees("for"):
                clauses = self.clauses()
                close = self.expects("}", "to close the comprehension")
                return syntax.Comprehension(token.start, close.end, *pairs[0], clauses, self.count - before)
            if not self.takes(","):
                break
        close = self.expects("}", "to close the object")
        return syntax.ObjectOf(token.start, close.end, pairs)

    def item(self) -> Node:
        """An argument, or a comprehension without brackets of its own: `sum(x.price for x in items)`."""
        before = self.count
        value = self.expression(0)
        if not self.sees("for"):
            return value
        clauses = self.clauses()
        end = self.tokens[self.at - 1].end
        return self.counted(syntax.Comprehension(value.start, end, None, value, clauses, self.count - before))

    def clauses(self) -> list[syntax.Clause]:
        found: list[syntax.Clause] = []
        while self.takes("for"):
            names = self.targets()
            self.expects("in", "after the names of a comprehension")
            source = self.expression(_COALESCE)
            conditions: list[Node] = []
            while self.takes("if"):
                conditions.append(self.expression(_COALESCE))
            found.append(syntax.Clause(names, source, conditions))
        return found

    def targets(self) -> list[str]:
        bracket = self.takes("(")
        names: list[str] = []
        while True:
            token = self.next()
            if token.kind != "name" or token.value in CONSTANTS or token.value in OPERATOR_WORDS:
                raise wrong("a name is expected after for", self.source, token.start, max(token.end, token.start + 1))
            if token.value in names:
                raise wrong(f"the name {token.value!r} is used twice", self.source, token.start, token.end)
            names.append(token.value)
            if not self.takes(","):
                break
        if bracket:
            self.expects(")", "after the names")
        return names
