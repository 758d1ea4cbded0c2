"""Text that users write inside documents: `${ }` expressions, `{{ }}` templates and paths.

    expr = compile_expression("order.total > limit and user.tier in ('gold', 'silver')")
    expr.names                      # {"order", "limit", "user"}
    expr.evaluate(env)              # a JSON value

    tmpl = compile_template({"to": "{{user.mail}}", "amount": "${order.total * 1.19}"})
    tmpl.resolve(env)               # the same shape; "amount" is a number

The law of this package: it computes on JSON and returns JSON. It reads no clock, no file and no Python object behind a
value; it calls nothing that a user names; it pays for work before doing it; and it says where a mistake is.

    tokens → parser → syntax → emit       text to a Python function, and why that is safe (`emit`)
    operators, reach, functions           what compiled expressions call
    mustache → rendering                  text with placeholders
    templates, variables, paths           JSON values that hold such text; definitions; dotted paths
    jsonpath, iregexp                     queries (RFC 9535) and their regular expressions (RFC 9485)
    gotemplate                            mails written for Go's text/template

The language is described in docs/reference/expressions.md, whose every example is a test; the last two have pages of
their own beside it.
"""

from __future__ import annotations

from perdure.expressions.emit import MissingPolicy
from perdure.expressions.expression import (
    MISSING_POLICIES,
    CacheInfo,
    Expression,
    Problem,
    cache_info,
    check_expression,
    compile_expression,
)
from perdure.expressions.limits import DEFAULT_LIMITS, Limits
from perdure.expressions.paths import Path
from perdure.expressions.rendering import MODES, Escape, Mode
from perdure.expressions.templates import Template, check_template, compile_template
from perdure.expressions.values import MISSING, Env, Json
from perdure.expressions.variables import find_cycle, resolve_variables

__all__ = [
    "DEFAULT_LIMITS",
    "MISSING",
    "MISSING_POLICIES",
    "MODES",
    "CacheInfo",
    "Env",
    "Escape",
    "Expression",
    "Json",
    "Limits",
    "MissingPolicy",
    "Mode",
    "Path",
    "Problem",
    "Template",
    "cache_info",
    "check_expression",
    "check_template",
    "compile_expression",
    "compile_template",
    "find_cycle",
    "resolve_variables",
]
