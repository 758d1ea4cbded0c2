"""The part of Go's text/template in which the e-mails of Yantra are written.

    template = compile_go_template("{{range $i, $o := .orders}}{{add $i 1}}. {{$o.name}} {{end}}of {{len .orders}}")
    template.render({"orders": [{"name": "Desk"}, {"name": "Lamp"}]})

`{{a.b}}` without a dot in front, Yantra's simple form, may stand in the same text: the value by that name, lists and
objects as indented JSON, and the text of the action itself where there is no such value.

The data is JSON and nothing else: no methods, no attributes, nothing to call but the functions listed here. Actions
that are wrong are named with line and column when the template is compiled. What differs from Go is told in
docs/reference/go-templates.md, whose every example is a test.

    tokens → pipelines → parser → syntax    text to statements
    functions, printf, formatting           what actions call, and values as Go writes them
    rendering                               statements to text
"""

from __future__ import annotations

from perdure.expressions.gotemplate.template import (
    GoTemplate,
    compile_go_template,
    foreign_placeholders,
    is_go_template,
)

__all__ = ["GoTemplate", "compile_go_template", "foreign_placeholders", "is_go_template"]
