"""Calls: of closures with a name, of methods of values, of classes."""

from __future__ import annotations

from typing import Final

from perdure.dialects.groovy import classes
from perdure.dialects.groovy.emitting.base import NOTHING
from perdure.dialects.groovy.emitting.closures import Closures
from perdure.dialects.groovy.emitting.names import Variable
from perdure.dialects.groovy.methods import CHANGING, METHODS, REFUSED, VIEWS, Form
from perdure.dialects.groovy.patterns import Pattern, read_pattern
from perdure.dialects.groovy.syntax import Call, Constant, Expression, MapOf, Name, New
from perdure.dialects.groovy.types import known_type

_PATTERNED: Final = {"split": (0, 2), "replaceAll": (2, 2), "replaceFirst": (2, 2), "matches": (1, 1)}
_DATE_LETTERS: Final = frozenset("dHhmsSuyMEazZX")
_UNKNOWN_METHOD: Final = "the methods that there are: docs/reference/groovy.md"
_ELSEWHERE: Final = "do it with methods of values, or in a node of the flow"
_SIMPLE: Final = "a simple pattern, written in the script: characters, [a-z], \\s, \\d, \\w, ., with ? * + or {2}"


class Calls(Closures):
    def call_of(self, node: Call) -> str:
        if self.too_many(node, "arguments", len(node.arguments), "put them into a list or a map"):
            return NOTHING
        if node.of is None:
            return self._by_name(node)
        if (owner := self.class_of(node.of)) is not None:
            return self._static(node, owner)
        if isinstance(node.of, New):
            made = self._on_new(node, node.of)
            if made is not None:
                return made
        if isinstance(node.of, Name):
            variable = self.scope.find(node.of.name)
            if variable is not None and variable.kind != "value":
                return self._on_helper(node, variable)
        return self._on_value(node, node.of)

    # By name

    def _by_name(self, node: Call) -> str:
        variable = self.scope.find(node.name)
        if variable is not None and variable.kind == "function":
            return self._invoke(node, variable)
        if node.name in self.methods:
            return self._invoke(node, self.methods[node.name])
        if node.name in {"println", "print"} and len(node.arguments) <= 1:
            value = self.expression(node.arguments[0]) if node.arguments else "''"
            return f"print({self.call('text', value)})"
        for argument in node.arguments:
            self._look_at(argument)
        if node.name in REFUSED:
            return self.refuse(node, *REFUSED[node.name])
        if self.refusals.has_syntax:
            return NOTHING
        return self.refuse(node, f"the method {node.name}()", "define it in the script: def name = { … }")

    def _invoke(self, node: Call, variable: Variable) -> str:
        arguments = [self.expression(argument) for argument in node.arguments]
        if len(arguments) not in variable.arities:
            least, most = variable.arities.start, variable.arities.stop - 1
            wanted = str(most) if least == most else f"{least} to {most}"
            return self.wrong(node, f"{variable.name} takes {wanted} arguments, not {len(arguments)}")
        return f"{variable.python}({', '.join(arguments)})"

    def _look_at(self, node: Expression) -> None:
        """For the sake of what may be refused inside."""
        if self.is_closure(node):
            self.as_argument(node, Form("each", closure="action"), "this")
        else:
            self.expression(node)

    # Of classes

    def _static(self, node: Call, owner: str) -> str:
        simple = classes.class_named(owner)
        arguments = [self.expression(argument) for argument in node.arguments if not self.is_closure(argument)]
        key = (simple or "", node.name)
        if key in classes.STATIC_METHODS:
            static = classes.STATIC_METHODS[key]
            if not static.least <= len(arguments) <= static.most:
                return self.wrong(node, f"{simple}.{node.name} with {len(arguments)} arguments")
            return self.call(static.function, *arguments)
        if key in classes.INLINE_METHODS and not arguments:
            self.used.update({"millis", "now"} if simple == "System" else ())
            return classes.INLINE_METHODS[key]
        if key == ("Arrays", "asList"):
            return f"[{', '.join(arguments)}]"
        if key in {("Objects", "isNull"), ("Objects", "nonNull")} and len(arguments) == 1:
            return f"({arguments[0]} is {'' if node.name == 'isNull' else 'not '}None)"
        if simple is None:
            return self.unknown_class(node, owner)
        remedy = classes.REFUSED_CLASSES.get("Random" if node.name == "random" else simple, _ELSEWHERE)
        return self.refuse(node, f"{simple}.{node.name}()", remedy)

    def new(self, node: New) -> str:
        simple = known_type(node.type.name) or ""
        arguments = [self.expression(argument) for argument in node.arguments if not self.is_closure(argument)]
        match simple, len(arguments):
            case "Date", 0:
                return self.call("now")
            case "Date", 1:
                return self.call("date_of", arguments[0])
            case "BigDecimal", 1:
                return self.call("new_decimal", arguments[0])
            case "String", 0 | 1:
                return self.call("text", *arguments) if arguments else "''"
            case _, 0 if simple in classes.COLLECTIONS:
                return classes.COLLECTIONS[simple]
            case _, 1 if simple in classes.COLLECTIONS:
                if isinstance(node.arguments[0], Constant):  # the capacity
                    return classes.COLLECTIONS[simple]
                return self.call("copy_of", arguments[0])
        if classes.is_exception(simple):
            return self.refuse(node, "an exception as a value", f"throw it: throw new {simple}('…')")
        if simple in {"JsonSlurper", "JsonSlurperClassic", "SimpleDateFormat", "JsonBuilder"}:
            return self.refuse(node, f"a {simple} as a value", "call its methods where they are needed")
        return self.unknown_class(node, node.type.name)

    def _on_new(self, node: Call, of: New) -> str | None:
        """`new JsonSlurper().parseText(x)` and the like; None if the new thing is an ordinary value."""
        simple = known_type(of.type.name)
        given = [self.expression(argument) for argument in of.arguments if not self.is_closure(argument)]
        if simple in {"JsonSlurper", "JsonSlurperClassic"}:
            return self._helper_call(node, "JsonSlurper", "")
        if simple == "SimpleDateFormat" and len(given) == 1:
            self.check_date_pattern(of.arguments[0])
            return self._helper_call(node, "SimpleDateFormat", given[0])
        if simple == "JsonBuilder" and len(given) == 1 and node.name == "toString":
            return self.call("to_json", given[0])
        return None

    def _on_helper(self, node: Call, variable: Variable) -> str:
        if variable.kind == "function":
            if node.name == "call" and node.access == ".":
                return self._invoke(node, variable)
            return self.refuse(node, f"{node.name}() of a closure", f"call it: {variable.name}(…)")
        return self._helper_call(node, variable.kind, variable.python)

    def _helper_call(self, node: Call, kind: str, pattern: str) -> str:
        arguments = [self.expression(argument) for argument in node.arguments if not self.is_closure(argument)]
        if kind == "JsonSlurper" and node.name == "parseText" and len(arguments) == 1:
            return self.call("parse_json", arguments[0])
        if kind == "SimpleDateFormat" and node.name == "format" and len(arguments) == 1:
            return self.call("format_date", arguments[0], pattern)
        known = "parseText('…')" if kind == "JsonSlurper" else "format(date); all dates are in UTC"
        return self.refuse(node, f"{kind}.{node.name}()", f"only {known} is there")

    # Of values

    def _on_value(self, node: Call, of: Expression) -> str:
        if node.name in REFUSED:
            before = len(self.refusals)
            self._look_at(of)
            return NOTHING if len(self.refusals) > before else self.refuse(node, *REFUSED[node.name])
        if node.name in CHANGING and isinstance(of, Call) and of.name in VIEWS:
            return self.refuse(node, f"{of.name}().{node.name}()", "change the map itself")
        before = len(self.refusals)
        subject = self.expression(of)
        if node.name in _PATTERNED and not any(self.is_closure(argument) for argument in node.arguments):
            return self._accessed(node, subject, *self._patterned(node))
        if node.name not in METHODS:
            for argument in node.arguments:
                self._look_at(argument)
            if len(self.refusals) > before:  # of something that is refused itself: enough has been said
                return NOTHING
            return self.refuse(node, f"the method {node.name}()", _UNKNOWN_METHOD)
        return self._accessed(node, subject, *self._formed(node))

    def _accessed(self, node: Call, subject: str, function: str, arguments: list[str]) -> str:
        match node.access:
            case ".":
                return self.call(function, subject, *arguments)
            case "?.":
                return self.guarded(subject, lambda value: self.call(function, value, *arguments))
            case "*.":
                item = self.temporary()
                return self.call("spread_call", subject, f"lambda {item}: {self.call(function, item, *arguments)}")

    def _formed(self, node: Call) -> tuple[str, list[str]]:
        """The function for this way of calling the method, and its arguments after the value."""
        closures = [argument for argument in node.arguments if self.is_closure(argument)]
        plain = [argument for argument in node.arguments if not self.is_closure(argument)]
        forms = [form for form in METHODS[node.name] if (form.closure is not None) == bool(closures)]
        form = next((form for form in forms if form.least <= len(plain) <= form.most), None)
        if form is None or len(closures) > 1:
            for argument in node.arguments:
                self._look_at(argument)
            self._wrong_arguments(node, closures)
            return NOTHING, []
        if node.name == "format":
            self.check_date_pattern(plain[0])
        arguments = [self.expression(argument) for argument in plain]
        last = [form.last] if form.last else []
        if not closures:
            return form.function, [*arguments, *last]
        closure, function = self.as_argument(closures[0], form, node.name)
        return function, [closure, *arguments, *last]

    def _wrong_arguments(self, node: Call, closures: list[Expression]) -> None:
        if any(isinstance(argument, MapOf) for argument in node.arguments) and not closures:
            told = f"{node.name}() with these arguments"
            self.refuse(node, told, "arguments by name are one map; write them in order")
            return
        ways = []
        for form in METHODS[node.name]:
            count = str(form.most) if form.least == form.most else f"{form.least} to {form.most}"
            ways.append(f"{count} arguments{' and a closure' if form.closure else ''}")
        self.wrong(node, f"{node.name}() takes {' or '.join(ways)}")

    # Patterns

    def _patterned(self, node: Call) -> tuple[str, list[str]]:
        least, most = _PATTERNED[node.name]
        if not least <= len(node.arguments) <= most:
            self.wrong(node, f"{node.name}() takes {least if least == most else f'{least} to {most}'} arguments")
            return NOTHING, []
        rest = [self.expression(argument) for argument in node.arguments[1:]]
        if not node.arguments:
            return "tokens", []
        pattern = self._pattern(node, node.arguments[0])
        if pattern is None:
            return NOTHING, []
        match node.name, pattern.plain:
            case "split", None:
                return "split_by_pattern", [repr(pattern.python), *rest]
            case "split", plain:
                return "pieces", [repr(plain), *rest]
            case "matches", _:
                return "matches_pattern", [repr(pattern.python)]
            case "replaceAll", None:
                return "replace_by_pattern", [repr(pattern.python), *rest]
            case "replaceAll", plain:
                return "replaced", [repr(plain), self.call("plain_replacement", "''", *rest)]
            case _, None:
                return "replace_by_pattern", [repr(pattern.python), *rest, "1"]
            case _:
                return "replaced_once", [repr(pattern.plain), self.call("plain_replacement", "''", *rest)]

    def _pattern(self, node: Call, argument: Expression) -> Pattern | None:
        if not isinstance(argument, Constant) or not isinstance(argument.value, str):
            self.expression(argument)
            plainly = "replace" if node.name == "replaceAll" else "tokenize" if node.name == "split" else "contains"
            remedy = f"use {plainly}() for plain text; a pattern is written in the script"
            self.refuse(argument, f"{node.name}() with a computed pattern", remedy)
            return None
        pattern = read_pattern(argument.value)
        if pattern is None or (pattern.may_be_empty and argument.value and node.name != "matches"):
            self.refuse(argument, f"{node.name}() with this regular expression", f"use {_SIMPLE}")
            return None
        return pattern

    def check_date_pattern(self, node: Expression) -> None:
        """A pattern that stands in the script is looked at now; one that is computed, when the script runs."""
        if not isinstance(node, Constant) or not isinstance(node.value, str):
            return
        outside = "".join(node.value.split("'")[::2])
        strange = sorted({letter for letter in outside if letter.isascii() and letter.isalpha()} - _DATE_LETTERS)
        if strange:
            remedy = f"use {' '.join(sorted(_DATE_LETTERS))}, and quotes around other letters"
            self.refuse(node, f"the letter {strange[0]} in a date pattern", remedy)
