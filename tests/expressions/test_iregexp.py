"""Regular expressions of RFC 9485: every rule of its grammar, what each means, and that no text takes long."""

import re
import threading
import time
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import ExpressionError, ExpressionLimit, ExpressionSyntax
from perdure.expressions import Limits
from perdure.expressions.iregexp import compile_iregexp

# pattern: texts that it means, texts that it does not mean
MEANINGS: dict[str, tuple[list[str], list[str]]] = {
    "": ([""], ["a", "\n"]),
    "abc": (["abc"], ["", "ab", "abcd", "xabc", "ABC"]),
    "a|b": (["a", "b"], ["", "ab", "c"]),
    "a|": (["a", ""], ["b", "aa"]),
    "a||b": (["a", "", "b"], ["ab"]),
    "|": ([""], ["a"]),
    "()": ([""], ["a"]),
    "a()b": (["ab"], ["a", "a()b"]),
    "(ab|cd)e": (["abe", "cde"], ["ab", "abcde", "ae"]),
    "((a))": (["a"], ["", "aa"]),
    # repetition
    "a*": (["", "a", "aaaa"], ["b", "ab"]),
    "a+": (["a", "aaaa"], ["", "b", "ab"]),
    "a?": (["", "a"], ["aa"]),
    "a{0}": ([""], ["a"]),
    "a{0,0}": ([""], ["a"]),
    "a{3}": (["aaa"], ["aa", "aaaa"]),
    "a{03}": (["aaa"], ["aa"]),
    "a{2,}": (["aa", "aaaaa"], ["", "a"]),
    "a{0,}": (["", "aaa"], ["b"]),
    "a{2,4}": (["aa", "aaa", "aaaa"], ["a", "aaaaa"]),
    "a{0,2}": (["", "a", "aa"], ["aaa"]),
    "(ab){2}": (["abab"], ["ab", "aabb"]),
    "(a|b){2}c": (["aac", "bac", "abc"], ["ac", "aaac"]),
    "(a{2}){2,3}": (["aaaa", "aaaaaa"], ["aa", "aaaaa", "aaaaaaaa"]),
    "(a?){3}": (["", "a", "aaa"], ["aaaa"]),
    "(a*)*": (["", "aaa"], ["b"]),
    "(a*b*)+c": (["c", "abbac"], ["ab"]),
    "(a|b?)+": (["", "abba"], ["c"]),
    "(){9}": ([""], ["a"]),
    "(|a){2}b": (["b", "ab", "aab"], ["aaab"]),
    # any character but the ends of lines
    ".": (["a", "é", "😀", "\u2028", "\u2029", "\u0085", "\x0b", "\0"], ["", "\n", "\r", "ab"]),
    "a.c": (["abc", "a.c"], ["ac", "a\nc"]),
    ".*": (["", "anything at all"], ["two\nlines"]),
    # escapes
    r"\(\)\*\+\-\.\?\[\\\]\^\{\|\}": (["()*+-.?[\\]^{|}"], [""]),
    r"\n\r\t": (["\n\r\t"], ["nrt"]),
    r"a\.c": (["a.c"], ["abc"]),
    # characters that look special and are not
    "a,b-c/d:e;f<g=h>i@j!k\"l#m%n&o'p_q`r~": (["a,b-c/d:e;f<g=h>i@j!k\"l#m%n&o'p_q`r~"], [""]),
    "é中😀": (["é中😀"], ["e中😀"]),
    # classes
    "[abc]": (["a", "b", "c"], ["", "d", "ab", "-"]),
    "[a-c]": (["a", "b", "c"], ["d", "-"]),
    "[a-cx-z0]": (["b", "y", "0"], ["d", "w", "1"]),
    "[a-a]": (["a"], ["b"]),
    "[^a-c]": (["d", "\n", "^", "😀"], ["a", "b", "c", ""]),
    "[-a]": (["-", "a"], ["b"]),
    "[a-]": (["-", "a"], ["b"]),
    "[-]": (["-"], ["a"]),
    "[--]": (["-"], ["a"]),
    "[^-]": (["a"], ["-"]),
    "[^-a]": (["b"], ["-", "a"]),
    "[a^]": (["a", "^"], ["b"]),
    "[^^]": (["a"], ["^"]),
    "[.*+?(){}|$,]": ([*".*+?(){}|$,"], ["a", "\\"]),
    r"[\]\[\\\-\^]": ([*"][\\-^"], ["a"]),
    r"[\n\r\t]": (["\n", "\r", "\t"], ["n", "\\"]),
    r"[\t-\r]": (["\t", "\n", "\x0b", "\r"], [" "]),
    "[а-я]+": (["привет"], ["Привет", "hello"]),
    "[😀-😎]": (["😀", "😃"], ["😏", "\ud83d"]),
    "[a-mg-z]": (["a", "h", "z"], ["A"]),
    # categories
    r"\p{L}+": (["aéЖ中"], ["a1", ""]),
    r"\p{Lu}\p{Ll}": (["Éa", "Жж"], ["aA", "AA"]),
    r"\P{L}": (["1", " ", "-"], ["a", "é"]),
    r"\p{Nd}{2}": (["12", "١٢"], ["1a", "Ⅷ1"]),
    r"\p{N}": (["1", "Ⅷ", "½"], ["a"]),
    r"[\p{L}\p{Nd}_]+": (["a1_é"], ["a-b", ""]),
    r"[^\p{L}]": (["1"], ["a"]),
    r"[\P{L}a]": (["1", "a"], ["b"]),
    r"[\p{L}-]": (["x", "-"], ["1"]),
    r"\p{Zs}\p{Sc}\p{Pd}\p{Mn}\p{Cc}": ([" €-\u0301\x01"], [""]),
    # edges of the text
    "^abc$": (["abc"], ["", "^abc$", "abcd"]),
    "^": ([""], ["^", "a"]),
    "$": ([""], ["$", "a"]),
    "^$": ([""], ["a"]),
    "$^": ([""], ["a"]),
    "^^a$$": (["a"], ["aa"]),
    "(^a|b)c": (["ac", "bc"], ["c"]),
    "a(b$|c)": (["ab", "ac"], ["a"]),
    "a^b": ([], ["ab", "a^b"]),
    "a$b": ([], ["ab", "a$b"]),
    "^*a": (["a"], ["^a"]),
    r"\^[$]": (["^$"], [""]),
}
PARTS: dict[str, tuple[list[str], list[str]]] = {
    "b": (["abc", "b"], ["", "ac"]),
    "": (["", "anything"], []),
    "b.?b": (["bab", "bba", "xbbx"], ["bcd", "b"]),
    "^b": (["bc", "b"], ["ab", ""]),
    "b$": (["ab", "b"], ["bc", ""]),
    "^$": ([""], ["a"]),
    "^(a|b)*$": (["", "abba"], ["abc"]),
    "a|^b": (["ca", "bc"], ["cb"]),
    "[0-9]{3}": (["a 123 b", "1234"], ["12 34"]),
    "\\p{Lu}": (["abC"], ["abc"]),
    "a{2}b": (["aaab"], ["ab", "aacb"]),
    "x*": (["", "abc"], []),
}


@pytest.mark.parametrize("pattern", MEANINGS)
def test_a_pattern_means_whole_texts(pattern: str) -> None:
    regexp = compile_iregexp(pattern)
    meant, not_meant = MEANINGS[pattern]
    for text in meant:
        assert regexp.match(text), text
        assert regexp.search(text), text
        if not set(pattern) & {"^", "$"}:
            assert regexp.search(f"\n{text}\n"), text
    for text in not_meant:
        assert not regexp.match(text), text


@pytest.mark.parametrize("pattern", PARTS)
def test_a_search_finds_parts(pattern: str) -> None:
    regexp = compile_iregexp(pattern)
    found, not_found = PARTS[pattern]
    assert [text for text in [*found, *not_found] if regexp.search(text)] == found


MISTAKES: dict[str, tuple[int, str]] = {
    ")": (1, "closes nothing"),
    "a)": (2, "closes nothing"),
    "a(b": (2, r"a \) is missing"),
    "(a|(b)": (1, r"a \) is missing"),
    "*a": (1, "repeats nothing"),
    "a|+": (3, "repeats nothing"),
    "(?)": (2, "no special groups"),
    "(?:a)": (2, "no special groups"),
    "a**": (3, "repeated again"),
    "a*?": (3, "repeated again"),
    "a{2}{3}": (5, "repeated again"),
    "a{": (3, "number is missing"),
    "a{,3}": (3, "number is missing"),
    "a{x}": (3, "number is missing"),
    "a{2": (2, "not a count"),
    "a{2,3": (2, "not a count"),
    "a{2,x}": (5, "number is missing"),
    "a{3,2}": (2, "less than the first"),
    "{2}": (1, "no meaning"),
    "a}": (2, "no meaning"),
    "a]": (2, "no meaning"),
    "[": (1, r"a \] is missing"),
    "[a": (1, r"a \] is missing"),
    "[a-": (2, r"a \] is missing"),
    "[]": (1, "empty"),
    "[^]": (1, "empty"),
    "[]a]": (1, "empty"),
    "[[]": (2, "no meaning"),
    "[a[]": (3, "no meaning"),
    "[a-b-c]": (5, "no meaning"),
    "[--a]": (3, "no meaning"),
    "[a--]": (4, "no meaning"),
    "[z-a]": (2, "backwards"),
    "[a-\\p{L}]": (4, "ends with a character"),
    "[\\p{L}-a]": (7, "no meaning"),
    "\\": (1, "not an escape"),
    "\\d": (1, "not an escape"),
    "a\\$": (2, "not an escape"),
    "\\u0041": (1, "not an escape"),
    "[\\d]": (2, "not an escape"),
    "\\p": (1, "no such category"),
    "\\pL": (1, "no such category"),
    "\\p{}": (1, "no such category"),
    "\\p{Xx}": (1, "no such category"),
    "\\p{Cs}": (1, "no such category"),
    "\\p{IsBasicLatin}": (1, "no such category"),
    "\\p{Lu": (1, "no such category"),
    "\\p{lu}": (1, "no such category"),
    "a\ud800": (2, "half of a surrogate pair"),
    "[a\udfff]": (3, "half of a surrogate pair"),
}


@pytest.mark.parametrize("pattern", MISTAKES, ids=ascii)
def test_what_is_no_pattern_is_refused_with_its_place(pattern: str) -> None:
    column, message = MISTAKES[pattern]
    with pytest.raises(ExpressionSyntax, match=message) as caught:
        compile_iregexp(pattern)
    assert (caught.value.line, caught.value.column) == (1, column)
    assert "^" in caught.value.details["snippet"]


def test_a_mistake_says_what_to_write_instead() -> None:
    for pattern, remedy in {"\\d+": "[0-9]", "\\w": "[A-Za-z0-9_]", "a\\$": "[$]", "x*+": "(a+)?", "+1": "\\+"}.items():
        with pytest.raises(ExpressionSyntax) as caught:
            compile_iregexp(pattern)
        assert remedy in (caught.value.remedy or "")
    with pytest.raises(ExpressionSyntax) as caught:
        compile_iregexp("a{2;3}")
    assert caught.value.expected == "{2}, {2,} or {2,5}"


@pytest.mark.parametrize("category", ["L", "Lu", "M", "N", "Nd", "P", "Ps", "Z", "S", "Sm", "C", "Cn", "Co"])
def test_a_category_takes_what_unicode_says(category: str) -> None:
    inside, outside = compile_iregexp(f"\\p{{{category}}}"), compile_iregexp(f"\\P{{{category}}}")
    for code in range(0, 0x11000, 7):
        expected = unicodedata.category(chr(code)).startswith(category)
        assert inside.match(chr(code)) is expected
        assert outside.match(chr(code)) is not expected


# -- against Python's own, on patterns that do it no harm --------------------------------------------------------------

ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "[a-c]", "\\.", "-", "(^)", "($)", "c", "\\n"])
COUNTS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "{0}"])


def grouped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    piece = st.builds(lambda part, count: f"({part}){count}", inner, COUNTS)
    row = st.lists(st.one_of(piece, st.builds(str.__add__, ATOMS, COUNTS)), max_size=3).map("".join)
    return st.lists(row, min_size=1, max_size=3).map("|".join)


PATTERNS = st.recursive(st.builds(str.__add__, ATOMS, COUNTS), grouped, max_leaves=8)
TEXTS = st.text(alphabet="aabbc.-\n\r^$", max_size=7)


def translated(pattern: str) -> "re.Pattern[str]":
    """The same for Python: `.` stops at both ends of lines, `$` only at the end of the text."""
    outside = re.sub(r"(\\.|\[[^\]]*\])|\.", lambda found: found[1] or "[^\\n\\r]", pattern)
    return re.compile(re.sub(r"(\\.|\[[^\]]*\])|\$", lambda found: found[1] or r"\Z", outside))


@given(PATTERNS, TEXTS)
def test_python_finds_the_same(pattern: str, text: str) -> None:
    theirs, ours = translated(pattern), compile_iregexp(pattern)
    assert ours.match(text) == (theirs.fullmatch(text) is not None)
    assert ours.search(text) == (theirs.search(text) is not None)


@given(st.text(max_size=20), st.text(max_size=20))
def test_an_escaped_text_means_itself(text: str, other: str) -> None:
    names = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "$": "[$]"}
    pattern = "".join(names.get(each, f"\\{each}" if each in "()*+-.?[\\]^{|}" else each) for each in text)
    regexp = compile_iregexp(pattern)
    assert regexp.match(text)
    assert regexp.match(other) == (text == other)
    assert regexp.search(other + text + other)


@given(st.text(alphabet="ab()[]{}|*+?.^$\\-,019pLNn", max_size=12), st.text(max_size=6))
def test_every_text_is_a_pattern_or_a_mistake_with_a_place(pattern: str, text: str) -> None:
    column = 1
    try:
        regexp = compile_iregexp(pattern)
        assert regexp.search(text) or not regexp.match(text)
    except ExpressionError as fault:
        column = fault.column or 0
    assert 1 <= column <= len(pattern) + 1


# -- limits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    [
        "a{1001}",
        "a{0,1001}",
        "a{999999999}",
        "a{9999999999999999999}",
        "(a{100}){100}",
        "((((a{50}){50}){50}){50}){50}",
        "(a{500}b{501})",
        "a{600}|b{600}",
        "a" * 1001,
        "(" * 65 + ")" * 65,
        "(" * 8000,
        "a" * 9000,
    ],
    ids=lambda pattern: pattern[:30],
)
def test_a_pattern_that_is_too_large_is_refused_before_it_is_built(pattern: str) -> None:
    with pytest.raises(ExpressionLimit) as caught:
        compile_iregexp(pattern)
    assert caught.value.line == 1


def test_brackets_around_nothing_cost_nothing() -> None:
    assert compile_iregexp("(){999999999}").match("")
    assert compile_iregexp("((){100000}|(){100000}){100000}a").match("a")
    assert compile_iregexp("(a" + "()" * 3000 + "){1000}").size == 1000


def test_the_size_of_patterns_is_a_setting() -> None:
    assert compile_iregexp("a{2000}", limits=Limits(pattern=2000)).match("a" * 2000)
    with pytest.raises(ExpressionLimit, match="more than 5 characters"):
        compile_iregexp("abcdef", limits=Limits(pattern=5))


def test_only_text_is_a_pattern() -> None:
    others: list[Any] = [5, None, ["$"], {}]
    for other in others:
        with pytest.raises(ExpressionSyntax, match=f"text, not {type(other).__name__}"):
            compile_iregexp(other)


def seconds(action: Any) -> float:
    start = time.thread_time()
    action()
    return time.thread_time() - start


LONG = "a" * 100_000


@pytest.mark.serial
@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "(a*)*b", "(a|a)*b", "(a|aa)+b", "(.*)*b", "((a?)+)+b", "(a?){300}a{300}b", "(a|b|ab)*c", ".*.*.*=.*"],
)
def test_a_hundred_thousand_characters_take_less_than_a_second(pattern: str) -> None:
    regexp = compile_iregexp(pattern)
    for action in (regexp.match, regexp.search):
        assert seconds(lambda action=action: action(LONG, meter=[0, 100_000_000])) < 1
        assert not action(LONG, meter=[0, 100_000_000])


@pytest.mark.serial
def test_twice_the_text_takes_twice_the_time() -> None:
    regexp = compile_iregexp("(a+)+b")
    regexp.match(LONG)
    once = min(seconds(lambda: regexp.match(LONG)) for _ in range(5))
    thrice = min(seconds(lambda: regexp.match(LONG * 3)) for _ in range(5))
    assert thrice < once * 6


def test_a_text_that_costs_too_much_meets_the_budget_and_costs_the_same_each_time() -> None:
    pattern, text = "(a|b)*a(a|b){400}c", "abbaababb" * 30_000
    with pytest.raises(ExpressionLimit, match="too much work"):
        compile_iregexp(pattern).match(text)
    spent = []
    for _ in range(3):
        meter = [0, 1_000_000]
        compile_iregexp(pattern).match(text[:10_000], meter=meter)
        spent.append(1_000_000 - meter[1])
    assert spent[0] > 10_000
    assert len(set(spent)) == 1


def test_many_states_and_characters_are_forgotten_and_found_again() -> None:
    regexp = compile_iregexp("(a|b|[\u1000-\uffff])*a(a|b|[\u1000-\uffff]){12}c")
    state, text = 1, []
    for number in range(12_000):
        state = state * 1_103_515_245 + 12_345 & 0x7FFFFFFF
        text.append("ab"[state >> 16 & 1] if number % 3 else chr(0x1000 + number))
    whole = "".join(text) + "a" + "b" * 12 + "c"
    for _ in range(2):
        assert regexp.match(whole)
        assert not regexp.match(whole[:-1])
        assert regexp.search(whole + "!")


def test_the_same_source_is_compiled_once() -> None:
    assert compile_iregexp("[a-z]+") is compile_iregexp("[a-z]+")
    assert compile_iregexp("[a-z]+") is not compile_iregexp("[a-z]+", limits=Limits(pattern=5))
    assert repr(compile_iregexp("[a-z]+")) == "IRegexp('[a-z]+')"


def test_threads_may_share_a_pattern() -> None:
    regexp = compile_iregexp("((a|b)*a(a|b){9})?")
    texts = ["".join("ab"[number >> bit & 1] for bit in range(14)) for number in range(2_000)]
    expected = [text[-10] == "a" for text in texts]
    found: list[list[bool]] = []
    threads = [threading.Thread(target=lambda: found.append([regexp.match(text) for text in texts])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
