"""Where we differ from Groovy 2.4 on purpose, as the reference page says, and syntax that came with Groovy 3."""

from __future__ import annotations

from tests.dialects.groovy.case import ORDER, Case

NEWER = "syntax of Groovy 3"

DIFFERENCES = {
    "newer syntax is understood": [
        Case("'b' !in ['a']", True, ours=NEWER),
        Case("def x = 1\nx !instanceof String", True, ours=NEWER),
        Case("def a = null\na?[0]", None, ours=NEWER),
        Case("def a = [1]\na?[0]", 1, ours=NEWER),
        Case("def a = [b: [1]]\na.b?[0] + a['b'][0]", 2, ours=NEWER),
        Case("def x = null\nx ?= 5\nx", 5, ours=NEWER),
        Case("def m = [:]\nm.a ?= 5\nm.a ?= 6\nm", {"a": 5}, ours=NEWER),
        Case("var x = 5\nx", 5, ours=NEWER),
        Case("def a = true\n    && false\na", False, ours=NEWER),
        Case("def a = null\n    ?: 'd'\na", "d", ours=NEWER),
        Case("def a = 5 > 3\n    ? 'y'\n    : 'n'\na", "y", ours=NEWER),
        Case("' '.isBlank()", True, ours="a method of Java 11"),
    ],
    "the length of a list of texts": [
        Case("'a\\nb'.split('\\n').length", 2),
        Case("','.split(',').length", 0),
        Case("['a', 'b'].length", 2, ours="what split() gives is a list like any other"),
    ],
    "integers never overflow": [
        Case("2147483647 + 1", 2147483648, ours="2147483648 would be -2147483648"),
        Case("Long.MAX_VALUE + 1", 2**63, ours="no wrapping"),
    ],
    "a division by zero is an error for every kind of number": [
        Case("1.0d / 0", fails="ArithmeticException", ours="infinity is no JSON"),
        Case("5.5d % 0", fails="ArithmeticException", ours="NaN is no JSON"),
    ],
    "numbers are equal by value everywhere": [
        Case("1 in [1L]", True, ours="Java compares classes here"),
        Case("[1].contains(1.0)", True, ours="Java compares classes here"),
        Case("1.equals(1L)", True, ours="Java compares classes here"),
        Case("-7.5 % 2", -1.5, ours="refused by Groovy 2.4"),
        Case("Math.max(1, 2.5)", 2.5, ours="ambiguous for Groovy"),
        Case("(10 / 3).round(2)", 3.33, ours="a method of Groovy 2.5"),
    ],
    "a string with values in it is a string": [
        Case('"${1}" instanceof String', True, ours="a GString is another class"),
        Case("def m = [:]\ndef k = 'a'\nm[\"${k}\"] = 1\nm.a", 1, ours="a GString is another key"),
        Case("['a'].contains(\"${'a'}\")", True, ours="a GString is another class"),
    ],
    "exceptions have their names without a package": [
        Case(
            "try { throw new RuntimeException('boom') } catch (e) { e.toString() }",
            "RuntimeException: boom",
            ours="java.lang",
        ),
        Case(
            'try { null.a } catch (e) { "$e" }',
            "NullPointerException: Cannot get property 'a' on null object",
            ours="java.lang",
        ),
    ],
    "an exception as a result is its text": [
        Case(
            "try { null.a } catch (e) { [error: e] }",
            {"error": "NullPointerException: Cannot get property 'a' on null object"},
            ours="an object of Java",
        ),
    ],
    "what has no order is not compared": [
        Case("'a' < 1", fails="ClassCastException", ours="Groovy takes a single letter for a number"),
        Case("[1, 'a'].sort()", fails="ClassCastException", ours="Groovy sorts these by hash"),
    ],
    "a variable of the run's data can be hidden and set": [
        Case("if (true) { def input = 5 }\ninput.n", 3, ORDER, ours="a binding may be hidden"),
        Case("[1].collect { input -> input + 1 }\n", [2], ORDER, ours="a binding may be hidden"),
        Case("[1, 2].each { vars = it }\n3", 3, ORDER, ours="a binding may be set"),
        Case("[1, 2].each { vars = it }\nvars", 2, ORDER, ours="a binding may be set"),
        Case("def vars = 7\nvars", 7, ORDER, ours="a binding may be hidden"),
    ],
    "null has no elements": [
        Case("def n = 0\nnull.each { n++ }\nn", 0),
        Case("null.eachWithIndex { x, i -> x }\n1", 1),
        Case("5.7.round()", 6, ours="fails in Groovy 2.4"),
        Case("int x = '5'", fails="GroovyCastException", ours="Groovy takes a single letter for its code"),
    ],
}
