"""Declarations and assignments."""

from __future__ import annotations

from typing import Final

from perdure.dialects.groovy.emitting.calls import Calls
from perdure.dialects.groovy.emitting.names import Variable
from perdure.dialects.groovy.syntax import (
    Assign,
    Closure,
    Constant,
    Declare,
    DeclareSeveral,
    Expression,
    Index,
    ListOf,
    MapOf,
    Name,
    New,
    Property,
    Range,
    Step,
    Text,
    Type,
)
from perdure.dialects.groovy.types import known_type

_DEFAULTS: Final = {"cast_int": "0", "cast_double": "0.0", "bool": "False"}
"""What a primitive is before something is assigned."""


class Assignments(Calls):
    def declare(self, node: Declare) -> str:
        """Writes the declaration. The result is how to read the variable."""
        coercion = self._coercion(node.type)
        if not self.is_free(node.name):
            return self.wrong(node, f"{node.name} is declared twice", "use another name, or leave out the def")
        if isinstance(node.value, Closure):
            self.name_closure(node, node.name, node.value)
            return "None"
        if isinstance(node.value, New) and self._declare_helper(node, node.value):
            return "None"
        value = self._first_value(node.value, coercion)
        variable = self.scope.declare(node.name)
        variable.coercion = coercion
        self.lines.add(node.line, f"{variable.python} = ", value)
        return variable.python

    def _coercion(self, type: Type | None) -> str | None:
        known = self.known(type) if type is not None else None
        return known.declare if known else None

    def _first_value(self, node: Expression | None, coercion: str | None) -> str:
        if node is None:
            return _DEFAULTS.get(coercion or "", "None")
        value = self._assigned_value(node)
        return value if coercion is None or is_already(node, coercion) else self.call(coercion, value)

    def _coerced(self, value: str, coercion: str | None) -> str:
        return self.call(coercion, value) if coercion else value

    def _declare_helper(self, node: Declare, new: New) -> bool:
        """`def slurper = new JsonSlurper()`: nothing in Python but a name to recognise it by."""
        simple = known_type(new.type.name)
        if simple in {"JsonSlurper", "JsonSlurperClassic"} and not new.arguments:
            self.scope.declare(node.name).kind = "JsonSlurper"
            return True
        if simple == "SimpleDateFormat" and len(new.arguments) == 1:
            self.check_date_pattern(new.arguments[0])
            pattern = self.expression(new.arguments[0])
            variable = self.scope.declare(node.name)
            variable.kind = "SimpleDateFormat"
            self.lines.add(node.line, f"{variable.python} = ", pattern)
            return True
        return False

    def declare_several(self, node: DeclareSeveral) -> str:
        held = self.temporary()
        self.lines.add(node.line, f"{held} = ", self._assigned_value(node.value))
        for place, each in enumerate(node.names):
            if not self.is_free(each.name):
                self.wrong(each, f"{each.name} is declared twice", "use another name, or leave out the def")
                continue
            coercion = self._coercion(each.type)
            variable = self.scope.declare(each.name)
            variable.coercion = coercion
            value = self._coerced(self.call("nth", held, str(place)), coercion)
            self.lines.add(each.line, f"{variable.python} = ", value)
        return held

    def _assigned_value(self, node: Expression) -> str:
        """The right side; `b = 3` in `a = b = 3` is done first."""
        if isinstance(node, Assign):
            return self.assign(node, keep=True)
        if isinstance(node, Closure):
            return self.refuse(node, "a closure that is assigned", "declare it with def, and only once")
        return self.expression(node)

    def assign(self, node: Assign, *, keep: bool) -> str:
        """Writes the assignment. `keep`: the result is how to read what was assigned, without doing it again."""
        target = node.target
        operator = node.op[:-1]
        if isinstance(target, Name):
            return self._assign_variable(node, target, operator)
        if isinstance(target, Property) and target.access != ".":
            return self.refuse(target, f"an assignment with {target.access}", "ask with if whether it is null")
        if isinstance(target, Property):
            if self.class_of(target.of) is not None:
                return self.refuse(target, "an assignment to a class", "use a variable of the script")
            return self._assign_member(node, operator, keep, target.of, repr(target.name), "prop", "put_prop")
        if isinstance(target, Index) and not isinstance(target.at, Range) and not target.safe:
            return self._assign_member(node, operator, keep, target.of, target.at, "item_at", "put_at")
        self.expression(target)
        return self.wrong(target, "only variables, properties and indexes can be assigned")

    def _assign_variable(self, node: Assign, target: Name, operator: str) -> str:
        value = self._assigned_value(node.value)
        variable = self.lookup(target.name) if operator else self.scope.find(target.name)
        if variable is None:
            return self.unknown(target)
        if variable.kind != "value":
            told = f"assigning {target.name} anew"
            return self.refuse(target, told, "a closure or helper keeps its name; use another one")
        if operator:
            value = self._operated(operator, self.value_of(target, variable), value)
        self._store(node, variable, self._coerced(value, variable.coercion))
        return variable.python

    def _store(self, node: Assign | Step, variable: Variable, value: str) -> None:
        if variable.owner is not self.function:
            self.function.nonlocals.add(variable.python)
            if variable is self.root.variables.get(variable.name):
                self.unset.add(variable.python)
        self.lines.add(node.line, f"{variable.python} = ", value)

    def _operated(self, operator: str, left: str, right: str) -> str:
        return f"({left} or {right})" if operator == "?" else self.operation(operator, left, right)

    def _assign_member(
        self, node: Assign, operator: str, keep: bool, of: Expression, at: Expression | str, get: str, put: str
    ) -> str:
        """`of.at = value`, `of[at] = value`. With an operator both are evaluated once and used twice."""
        whole = self.expression(of)
        key = at if isinstance(at, str) else self.expression(at)
        if operator:
            whole = self._held(node, of, whole)
            key = key if isinstance(at, str) else self._held(node, at, key)
        value = self._assigned_value(node.value)
        if operator:
            value = self._operated(operator, self.call(get, whole, key), value)
        if not keep:
            self.lines.add(node.line, "", self.call(put, whole, key, value))
            return "None"
        held = self.temporary()
        self.lines.add(node.line, f"{held} = ", self.call(put, whole, key, value))
        return held

    def _held(self, node: Assign, of: Expression, text: str) -> str:
        """Under a name, unless reading it twice is the same as reading it once."""
        if is_plain(of):
            return text
        held = self.temporary()
        self.lines.add(node.line, f"{held} = ", text)
        return held

    def step(self, node: Step, *, keep: bool) -> str:
        """`x++` as `x += 1`. As the last statement its value is asked for, and before or after makes a difference."""
        if keep:
            return self.refuse(node, f"the value of {node.op}", f"write it as a statement of its own, {node.op[0]}= 1")
        one = Constant(node.line, node.column, 1)
        return self.assign(Assign(node.line, node.column, node.target, f"{node.op[0]}=", one), keep=False)

    def nested_assign(self, node: Assign) -> str:
        self.expression(node.value)
        return self.refuse(node, "an assignment inside an expression", "make it a statement; compare with ==")

    def nested_step(self, node: Step) -> str:
        return self.refuse(node, f"{node.op} inside an expression", "make it a statement of its own")


def is_already(node: Expression, coercion: str) -> bool:
    """`String x = 'a'`, `Map m = [:]`: a literal of the declared type needs no conversion."""
    match coercion:
        case "cast_text":
            return isinstance(node, Text) or (isinstance(node, Constant) and isinstance(node.value, str))
        case "cast_int" | "cast_integer":
            return isinstance(node, Constant) and type(node.value) is int
        case "cast_list":
            return isinstance(node, ListOf)
        case "cast_map":
            return isinstance(node, MapOf)
        case _:
            return False


def is_plain(node: Expression) -> bool:
    """Names, constants, and properties and indexes of these."""
    if isinstance(node, Property):
        return is_plain(node.of)
    if isinstance(node, Index):
        return is_plain(node.of) and is_plain(node.at)
    return isinstance(node, Name | Constant)
