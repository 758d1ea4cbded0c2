"""What cannot be translated is refused when it is saved: all of it, with its place and what to do."""

from __future__ import annotations

import pytest

from perdure.dialects.groovy import check_groovy, limits, translate
from perdure.errors import DocumentInvalid
from tests.dialects.groovy.cases_refused import REFUSED


def told(source: str) -> list[str]:
    _, problems = check_groovy(source)
    return [f"{problem.line}:{problem.column} {problem.message}" for problem in problems]


@pytest.mark.parametrize(("script", "code", "place", "construct"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_construct_is_refused_by_name_at_its_place(script: str, code: str, place: str, construct: str) -> None:
    translation, problems = check_groovy(script)
    assert translation is None
    found = [problem for problem in problems if f"{problem.line}:{problem.column}" == place and problem.code == code]
    assert any(problem.message.startswith(construct) for problem in found), problems


@pytest.mark.parametrize("script", [row[0] for row in REFUSED if row[1] == "GROOVY_UNSUPPORTED"])
def test_whatever_makes_sense_in_groovy_is_refused_with_a_way_out(script: str) -> None:
    _, problems = check_groovy(script)
    assert all(problem.remedy for problem in problems if problem.code == "GROOVY_UNSUPPORTED")


def test_all_refusals_of_a_script_are_told_at_once_in_the_order_of_the_script() -> None:
    script = """
import java.io.File
class Helper { def x }
def id = UUID.randomUUID().toString()
if (_global.a =~ /x/) {
    'rm'.execute()
    def t = Thread.start { new File('x').text }
}
foo(1)
return _global.list.stream().map { it.y }
"""
    assert told(script) == [
        "2:1 import of java.io.File cannot be translated",
        "3:1 a class cannot be translated",
        "4:15 the class UUID cannot be translated",
        "5:15 the operator =~ cannot be translated",
        "6:10 execute() (starting a process) cannot be translated",
        "7:20 the class Thread cannot be translated",
        "9:1 the method foo() cannot be translated",
        "10:21 Java streams cannot be translated",
    ]


def test_what_cannot_be_read_does_not_hide_what_follows() -> None:
    script = """
def a = = 5
def b = [1, 2].frobnicate()
for (a b) {
    System.exit(1)
    break
}
'x'.execute()
"""
    assert told(script) == [
        "2:9 a value is expected, not `=`",
        "3:16 the method frobnicate() cannot be translated",
        "4:8 the head of for: ; is expected, not `b`",
        "5:12 System.exit() cannot be translated",
        "8:5 execute() (starting a process) cannot be translated",
    ]


def test_a_name_that_may_stand_in_what_could_not_be_read_is_not_called_unknown() -> None:
    assert told("def total = = 5\ntotal + 1") == ["1:13 a value is expected, not `=`"]
    assert told("totl + 1") == ["1:1 there is no variable named totl"]


def test_an_unknown_name_is_told_with_those_that_there_are() -> None:
    _, (problem,) = check_groovy("order.id")
    assert problem.expected is not None
    assert "_global" in problem.expected


def test_a_variable_ends_with_its_block() -> None:
    assert told("if (true) { def y = 1 }\ny") == ["2:1 there is no variable named y"]
    assert told("for (x in [1]) { }\nx") == ["2:1 there is no variable named x"]
    assert told("[1].each { a -> a }\na") == ["2:1 there is no variable named a"]
    assert told("try { 1 } catch (e) { 2 }\ne") == ["2:1 there is no variable named e"]


def test_a_method_sees_only_what_is_set_without_def() -> None:
    assert told("def x = 1\ndef f() { x }\nf()") == ["2:11 there is no variable named x"]
    assert told("x = 1\ndef f() { x }\nf()") == []


def test_brackets_that_do_not_match_are_told_with_their_partner() -> None:
    assert told("def a = [1, (2]") == [
        "1:9 `[` is not closed: a ] is missing",
        "1:15 `]` does not fit: ) is expected, for the `(` of line 1",
    ]


def test_the_pointer_says_where_the_script_stands_in_its_document() -> None:
    _, (problem,) = check_groovy("foo()", "/states/a/script")
    assert problem.pointer == "/states/a/script"


def test_translating_raises_with_all_problems() -> None:
    with pytest.raises(DocumentInvalid) as caught:
        translate("foo()\nbar()", "/script")
    assert [problem["line"] for problem in caught.value.problems] == [1, 2]
    assert caught.value.pointer == "/script"


@pytest.mark.parametrize(
    "script",
    [
        "x = 1\n" * (limits.SOURCE_CHARACTERS // 6 + 1),
        "(" * 200 + "1" + ")" * 200,
        "[" * 60 + "]" * 60,
        "'a'" + ".trim()" * 200,
        "1" + " - 1" * 200,
        "1" + " + 1" * 200,
        "true" + " && true" * 200,
        "!" * 5000 + "true",
        "if (true) { " * 20 + "}" * 20,
        "if (true) { 1 }" + " else if (true) { 1 }" * 200,
        "switch (1) {" + " case 1: return 1\n" * 200 + "}",
        "[1].each { " * 9 + "it" + " }" * 9,
        '"${' * 9 + "1" + '}"' * 9,
        "9" * 500,
        "1e400",
        "[].add(" + "1, " * 200 + "1)",
        "a = " * 3000 + "1",
        "true ? 1 : " * 3000 + "1",
        "new Foo(" * 3000,
        "{" * 30000,
        "/*" * 30000,
        "'" * 60001,
        '"$' * 30000,
        "@" * 60000,
        "class A {" * 6000,
        "x.y" + "\n.z" * 20000,
    ],
    ids=lambda script: f"{script[:20]!r}… of {len(script)}",
)
def test_what_is_too_much_is_refused_quickly(script: str) -> None:
    translation, problems = check_groovy(script)
    assert translation is None
    assert 1 <= len(problems) <= limits.PROBLEMS
