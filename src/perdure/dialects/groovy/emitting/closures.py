"""Closures and methods: a lambda where one expression is all there is, a function with a name otherwise.

A closure is never a value. It is the argument of a method that calls it, or it has a name by which it is called. So it
cannot leave the block it stands in, and nothing that is not JSON can leave the script.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from perdure.dialects.groovy import limits
from perdure.dialects.groovy.emitting.base import NOTHING
from perdure.dialects.groovy.emitting.names import Function, Scope, Variable
from perdure.dialects.groovy.emitting.operators import Operators
from perdure.dialects.groovy.methods import Form
from perdure.dialects.groovy.syntax import (
    Assign,
    Closure,
    Constant,
    Evaluate,
    Expression,
    Fraction,
    Method,
    Name,
    Node,
    Parameter,
    Return,
    Statement,
    Step,
)


class Closures(Operators):
    # Provided by the layers above.
    def body(self, statements: list[Statement], *, gives_value: bool) -> None:
        raise NotImplementedError

    def is_closure(self, node: Expression) -> bool:
        if isinstance(node, Name):
            variable = self.scope.find(node.name)
            return variable is not None and variable.kind == "function"
        return isinstance(node, Closure)

    def as_argument(self, node: Expression, form: Form, method: str) -> tuple[str, str]:
        """The closure as the function that a method of the prelude calls, and which method that is."""
        function, count = self._callable(node, gives_value=form.closure not in {"action", "indexed", "counter"})
        match form.closure, count:
            case ("element" | "action" | "order" | "counter", 1) | ("indexed" | "fold", 2):
                return function, form.function
            case "order", 2 if form.compares:
                return function, form.compares
            case (("element" | "action"), _) if count > 1:
                return self.call("taking_apart", function, repr(count)), form.function
            case "indexed", 3:
                return self.call("with_number", function), form.function
            case "fold", 3:
                return self.call("fold_entries", function), form.function
            case role, _:
                expected = "2 parameters" if role in {"indexed", "fold"} else "1 parameter"
                self.wrong(node, f"{method} needs a closure with {expected}, not with {count}")
                return NOTHING, form.function

    def _callable(self, node: Expression, *, gives_value: bool) -> tuple[str, int]:
        """Its Python, and how many parameters it has."""
        if isinstance(node, Name):
            variable = self.scope.find(node.name)
            return (variable.python, variable.parameters) if variable else (NOTHING, 1)
        if not isinstance(node, Closure):
            raise AssertionError("only called for closures")
        for parameter in node.parameters or []:
            if parameter.default is not None:
                self.refuse(parameter, "a default value in this closure", "leave it out, or give the closure a name")
        count = 1 if node.parameters is None else len(node.parameters)
        return self._anonymous(node, gives_value=gives_value), count

    def _anonymous(self, node: Closure, *, gives_value: bool) -> str:
        only = node.body[0] if len(node.body) == 1 else None
        single = only.value if isinstance(only, Evaluate | Return) else None
        with self._inside(node, self.scope, node.parameters) as (function, parameters):
            names = ", ".join(parameters)
            if not node.body:
                return f"lambda {names}: None"
            if single is not None and not isinstance(single, Assign | Step):
                value = self.expression(single)
                if not function.lines:  # nothing had to be put before it
                    return f"lambda {names}: {value}"
                function.lines.add(node.line, "return ", value)
            else:
                self.body(node.body, gives_value=gives_value)
        python = self.new_function()
        self._define(node, python, names, function)
        return python

    def name_closure(self, node: Node, name: str, closure: Closure) -> None:
        """`def name = { … }`"""
        parameters = closure.parameters
        with self._inside(closure, self.scope, parameters, optional=True) as (function, texts):
            self.body(closure.body, gives_value=True)
        variable = self.scope.declare(name, "f_")
        _describe(variable, parameters)
        self._define(node, variable.python, ", ".join(texts), function)

    def announce_method(self, method: Method) -> Variable:
        """A method can be called before it is defined, and by itself."""
        self.methods[method.name] = Variable(method.name, self.new_function(), self.script)
        _describe(self.methods[method.name], method.parameters)
        return self.methods[method.name]

    def define_method(self, method: Method) -> None:
        with self._inside(method, self.root, method.parameters, optional=True) as (function, texts):
            self.body(method.body, gives_value=True)
        self._define(method, self.methods[method.name].python, ", ".join(texts), function)

    @contextmanager
    def _inside(
        self, node: Node, around: Scope, parameters: list[Parameter] | None, *, optional: bool = False
    ) -> Iterator[tuple[Function, list[str]]]:
        """In a new function with these parameters. `optional`: a single one may be left out, and is null then."""
        function = Function(self.function)
        if function.depth > limits.FUNCTION_DEPTH:
            told = f"more than {limits.FUNCTION_DEPTH} closures inside one another"
            self.refusals.limit(node, told, "give the inner ones a name before, or use for loops")
        scope = Scope(function, around)
        if parameters is None:
            python = scope.declare("it", shadows=True).python
            texts = [f"{python}=None" if optional else python]
        else:
            texts = [self._parameter(scope, each, optional and len(parameters) == 1) for each in parameters]
        with self.within(scope):
            yield function, texts

    def _parameter(self, scope: Scope, parameter: Parameter, optional: bool) -> str:
        found = scope.find(parameter.name)
        if parameter.name != "it" and found is not None and found is not self.root.variables.get(parameter.name):
            self.wrong(parameter, f"there is already a variable named {parameter.name}", "use another name")
        python = scope.declare(parameter.name, shadows=parameter.name == "it").python
        default = parameter.default
        if default is None:
            return f"{python}=None" if optional else python
        if not isinstance(default, Constant | Fraction):
            self.refuse(default, "a default value that is computed", "use a number, a string, true, false or null")
        return f"{python}={self.expression(default)}"

    def _define(self, node: Node, python: str, parameters: str, function: Function) -> None:
        """`def …` with what was written for it, before the statement that needs it."""
        self.lines.add(node.line, f"def {python}({parameters}):")
        if function.nonlocals:
            self.lines.block_line(node.line, f"nonlocal {', '.join(sorted(function.nonlocals))}")
        if not function.lines:
            function.lines.add(node.line, "pass")
        self.lines.include(function.lines)


def _describe(variable: Variable, parameters: list[Parameter] | None) -> None:
    """How it may be called: a closure without parameters has `it`, and a single parameter may be left out."""
    given = parameters if parameters is not None else [None]
    required = len([each for each in given if each is None or each.default is None])
    least = 0 if len(given) == 1 else required
    variable.kind = "function"
    variable.parameters = len(given)
    variable.arities = range(least, len(given) + 1)
