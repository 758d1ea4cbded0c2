"""Text for people: templates of either kind, and what they read."""

import pytest

from perdure.errors import ExpressionError
from perdure.expressions.gotemplate import compile_go_template
from perdure.nodes.catalogue import builtin_types
from perdure.nodes.config import NodeConfig
from perdure.nodes.letters import letter
from perdure.programs.flow.nodetypes import Done, NodeType
from perdure.testing.pure import PureRunner
from tests.nodes.flows import node, row


def rendered(source: str, input: object = None, escape: str = "none", more: object = None) -> str:
    """What a node that was given this input makes of the text."""
    kind = NodeType(
        name="letter",
        title="Letter",
        description="For tests.",
        config=NodeConfig,
        prepare=lambda config: letter(source, escape),  # type: ignore[arg-type]
        plan=lambda prepared, moment: Done(prepared.render(moment, more)),  # type: ignore[arg-type]
    )
    nodes = [node("python", {"step": "give"}, id="given"), node("letter")]
    runner = PureRunner(row(*nodes), steps={"give": lambda: input}, catalogue={**builtin_types(), "letter": kind})
    result = runner.run({"name": "Ada"})
    assert result.status == "COMPLETED", result.failure
    return str(result.output)


def test_values_in_a_plain_text() -> None:
    assert rendered("Hello {{data.name}}, ${1 + 1}", {"name": "Bo"}) == "Hello Bo, 2"
    assert rendered("${data}", {"a": [1, {}]}) == '{\n  "a": [\n    1,\n    {}\n  ]\n}'
    assert rendered("= {{data.a}}", {"a": [1]}) == "= [\n  1\n]"
    assert rendered("${data.n}", {"n": 5}) == "5"
    assert rendered("[${data.n}]", {"n": None}) == "[]"


def test_values_are_escaped_where_they_could_mean_something() -> None:
    assert rendered("<b>{{data.x}}</b>", {"x": "<i>'&"}, "html") == "<b>&lt;i&gt;&#39;&amp;</b>"
    assert rendered("${data.x}", {"x": "<i>"}, "html") == "&lt;i&gt;"
    assert rendered("${data.x}", {"x": ["<i>"]}, "html") == "[\n  &quot;&lt;i&gt;&quot;\n]"
    assert rendered("<!here> {{data.x}}", {"x": '<!channel> "&'}, "slack") == '<!here> &lt;!channel&gt; "&amp;'
    assert rendered("<!here> {{.x}}", {"x": '<!channel> "&'}, "slack") == '<!here> &lt;!channel&gt; "&amp;'
    assert rendered("<b>{{.x}}</b>", {"x": "<i>"}, "html") == "<b>&lt;i&gt;</b>"


def test_the_fields_of_the_input_stand_at_the_root_of_a_go_template() -> None:
    source = "{{range $i, $e := .accumulated}}{{add $i 1}}. {{$e.name}} {{end}}of {{.iteration_count}}"
    assert rendered(source, {"accumulated": [{"name": "x"}, {"name": "y"}], "iteration_count": 2}) == "1. x 2. y of 2"
    assert rendered("{{.a}} {{.data.a}} {{data.a}}", {"data": {"a": 1}}) == "1 1 1"
    assert rendered("{{.a}} {{.data.a}}", {"a": 2}) == "2 2"


def test_a_go_template_reads_the_names_that_all_templates_read() -> None:
    assert rendered("{{.nodes.given.output.a}} {{nodes.given.output.a}} {{.input.name}}", {"a": 1}) == "1 1 Ada"
    assert rendered("{{if .x}}{{.x}}{{end}}{{.run.definition}}", {"x": 1}) == "1flow"
    assert rendered("{{.name}}", {"name": "Bo"}, more={"name": "given"}) == "given"
    assert rendered("{{range .list}}{{.}},{{end}}", [1, 2], more={"list": [1, 2]}) == "1,2,"


def test_what_a_go_template_may_read_is_known_before() -> None:
    found = compile_go_template(
        '{{define "t"}}{{.deep}}{{end}}{{if .a.b}}{{$x := .c}}{{$x.d}}{{else if gt (len .e) 1}}{{f.g}}{{end}}'
        '{{range .h}}{{.i}}{{else}}{{.j}}{{end}}{{with index .k "l"}}{{printf "%s" .m}}{{end}}{{template "t" .n}}'
    ).reads
    names = {each[0] for each in found}
    assert names == set("abcdefghijklmn") - {"b", "g", "l"} | {"deep"}
    assert {("a", "b"), ("f", "g")} <= found


def test_a_broken_go_template_says_where() -> None:
    with pytest.raises(ExpressionError) as caught:
        letter("line one\n{{range .x}}")
    assert caught.value.line == 2


def test_what_is_put_into_a_letter_is_never_read_as_a_template() -> None:
    assert rendered("{{data.x}}", {"x": "${1 + 1}{{data}}"}) == "${1 + 1}{{data}}"
    assert rendered("{{.x}}", {"x": "{{.y}}"}) == "{{.y}}"
