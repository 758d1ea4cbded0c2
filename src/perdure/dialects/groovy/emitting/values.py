"""Literals, names, properties, indexes."""

from __future__ import annotations

from collections.abc import Callable

from perdure.dialects.groovy import classes
from perdure.dialects.groovy.emitting.base import Base, dotted
from perdure.dialects.groovy.emitting.names import Variable
from perdure.dialects.groovy.methods import REFUSED_PROPERTIES
from perdure.dialects.groovy.syntax import (
    Constant,
    Expression,
    Fraction,
    Index,
    ListOf,
    MapOf,
    Name,
    Node,
    Property,
    Range,
    Spread,
    Text,
)


class Values(Base):
    def constant(self, node: Constant) -> str:
        return repr(node.value)

    def fraction(self, node: Fraction) -> str:
        return node.text if node.kind == "float" else self.call("Decimal", repr(node.text))

    def text(self, node: Text) -> str:
        return self.call("joined_text", *[self.expression(part) for part in node.parts])

    def list_of(self, node: ListOf) -> str:
        return f"[{', '.join([self.expression(item) for item in node.items])}]"

    def spread(self, node: Spread) -> str:
        return "*" + self.call("spread_items", self.expression(node.of))

    def map_of(self, node: MapOf) -> str:
        entries: list[str] = []
        for entry in node.entries:
            value = self.expression(entry.value)
            if entry.key is None:
                entries.append(f"**{self.call('spread_map', value)}")
            else:
                entries.append(f"{self._key(entry.key)}: {value}")
        return f"{{{', '.join(entries)}}}"

    def _key(self, node: Expression) -> str:
        if isinstance(node, Text) or (isinstance(node, Constant) and isinstance(node.value, str)):
            return self.expression(node)
        return self.call("key_for", self.expression(node))

    def range_of(self, node: Range) -> str:
        return self.call("numbers_from", self.expression(node.low), self.expression(node.high), repr(node.inclusive))

    def name(self, node: Name) -> str:
        variable = self.lookup(node.name)
        if variable is None:
            if node.name[:1].isupper():
                return self.unknown_class(node, node.name)
            return self.unknown(node)
        return self.value_of(node, variable)

    def value_of(self, node: Expression, variable: Variable) -> str:
        if variable.kind == "function":
            told = f"the closure {variable.name} as a value"
            return self.refuse(node, told, f"call it, {variable.name}(…), or give it to collect, find, each …")
        if variable.kind != "value":
            return self.refuse(node, f"a {variable.kind} as a value", "call its methods where they are needed")
        return variable.python

    def unknown_class(self, node: Node, name: str) -> str:
        simple = name.rpartition(".")[2]
        if simple in classes.REFUSED_CLASSES:
            return self.refuse(node, f"the class {simple}", classes.REFUSED_CLASSES[simple])
        kind = "class" if simple[:1].isupper() else "type"
        return self.refuse(node, f"the {kind} {simple}", "there are classes for JSON, dates, numbers and collections")

    def is_variable(self, path: str) -> bool:
        return self.lookup(path.partition(".")[0]) is not None

    def class_of(self, node: Expression) -> str | None:
        """The dotted name, if it means a class and not a variable."""
        path = dotted(node)
        if path is None or self.is_variable(path):
            return None
        return path if path.rpartition(".")[2][:1].isupper() else None

    def member(self, node: Property) -> str:
        if node.name in REFUSED_PROPERTIES:
            return self.refuse(node, *REFUSED_PROPERTIES[node.name])
        if (owner := self.class_of(node.of)) is not None:
            return self._class_constant(node, owner)
        if (path := dotted(node)) is not None and not self.is_variable(path) and node.name[:1].isupper():
            return self.unknown_class(node, path)
        if node.access == "*.":
            return self.call("spread_prop", self.expression(node.of), repr(node.name))
        names: list[str] = []
        of: Expression = node
        while isinstance(of, Property) and of.access == node.access and of.name not in REFUSED_PROPERTIES:
            names.append(repr(of.name))
            of = of.of
        function = "prop" if node.access == "." else "safe_prop"
        return self.call(function, self.expression(of), *reversed(names))

    def _class_constant(self, node: Property, owner: str) -> str:
        simple = classes.class_named(owner)
        if simple is not None and (simple, node.name) in classes.CONSTANTS:
            return repr(classes.CONSTANTS[simple, node.name])
        if simple is not None and (simple, node.name) in classes.DECIMALS:
            return self.call("Decimal", repr(classes.DECIMALS[simple, node.name]))
        if simple is None:
            return self.unknown_class(node, owner)
        return self.refuse(node, f"{simple}.{node.name}", "write the value itself")

    def index(self, node: Index) -> str:
        of = self.expression(node.of)
        if isinstance(node.at, Range):
            low, high = self.expression(node.at.low), self.expression(node.at.high)
            return self._guarded(node.safe, of, "portion", low, high, repr(node.at.inclusive))
        return self._guarded(node.safe, of, "item_at", self.expression(node.at))

    def _guarded(self, safe: bool, of: str, function: str, *arguments: str) -> str:
        if not safe:
            return self.call(function, of, *arguments)
        return self.guarded(of, lambda value: self.call(function, value, *arguments))

    def guarded(self, of: str, use: Callable[[str], str]) -> str:
        """`of?.…`: null if it is null. Evaluated once."""
        if of.isidentifier():
            return f"(None if {of} is None else {use(of)})"
        held = self.temporary()
        return f"(None if ({held} := {of}) is None else {use(held)})"
