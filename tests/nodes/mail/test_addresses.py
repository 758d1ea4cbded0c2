"""Addresses: what is one, and that nothing else gets into a mail by way of one."""

from typing import Any

import pytest

from perdure.nodes.mail.addresses import MOST, Address, parse_addresses


def mailboxes(given: Any) -> list[str]:
    return [each.mailbox for each in parse_addresses(given)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("ada@example.com", [("", "ada@example.com")]),
        (" ada@example.com , bo@example.com,", [("", "ada@example.com"), ("", "bo@example.com")]),
        ("Ada Lovelace <ada@example.com>", [("Ada Lovelace", "ada@example.com")]),
        ('"Lovelace, Ada" <ada@example.com>, b@c.de', [("Lovelace, Ada", "ada@example.com"), ("", "b@c.de")]),
        (r'"Ada \"Countess\"" <ada@example.com>', [('Ada "Countess"', "ada@example.com")]),
        ("<ada@example.com>", [("", "ada@example.com")]),
        (["a@b.c", "D <d@e.f>, g@h.i"], [("", "a@b.c"), ("D", "d@e.f"), ("", "g@h.i")]),
        ("Ada@EXAMPLE.com.", [("", "Ada@example.com")]),
        ("o'brien+tag=x@a-b.example", [("", "o'brien+tag=x@a-b.example")]),
        ("root@localhost", [("", "root@localhost")]),
        ("Jürgen <jürgen@bücher.example>", [("Jürgen", "jürgen@xn--bcher-kva.example")]),
        ("a@straße.example", [("", "a@xn--strae-oqa.example")]),
        ("用户@例え.テスト", [("", "用户@xn--r8jz45g.xn--zckzah")]),
        ("", []),
        (None, []),
        ([], []),
        ([None, "a@b.c"], [("", "a@b.c")]),
    ],
)
def test_addresses(given: Any, expected: list[tuple[str, str]]) -> None:
    assert parse_addresses(given) == [Address(*each) for each in expected]


@pytest.mark.parametrize(
    "given",
    [
        "ada",
        "@example.com",
        "ada@",
        "ada@@example.com",
        "a b@example.com",
        "ada@exa mple.com",
        "ada@-example.com",
        "ada@example..com",
        "ada@[127.0.0.1]",
        ".ada@example.com",
        "a..b@example.com",
        "Ada <ada@example.com> trailing",
        "Ada <ada@example.com",
        "<<a@b.c>>",
        "a@b.c\nBcc: eve@example.com",
        "a@b.c\r\n.\r\nMAIL FROM:<x@y.z>",
        "Ada\r\nBcc: e@x.y <a@b.c>",
        "a@b.c\0",
        "a@b.c\x85x@y.z",
        "a@b.c\u2028d@e.f",
        "x" * 65 + "@example.com",
        "a@" + "b" * 64 + ".com",
        "a@" + ".".join(["bbbbbbbb"] * 32),
        "a;b@example.com;c@d.e",
        "{{data.email}}",
        {"email": "a@b.c"},
        [["a@b.c"]],
        7,
        "a@ex\u200bample.com" + "\u202e",
    ],
)
def test_what_is_none(given: Any) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_addresses(given)


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(ValueError, match=r"'nobody' is no address: it should be name@domain"):
        parse_addresses("a@b.c, nobody")


def test_each_mailbox_once_and_not_too_many() -> None:
    assert mailboxes("a@b.c, A <a@b.c>, a@B.C") == ["a@b.c"]
    assert len(mailboxes([f"n{i}@example.com" for i in range(MOST)])) == MOST
    with pytest.raises(ValueError, match="at most 100"):
        parse_addresses([f"n{i}@example.com" for i in range(MOST + 1)])
