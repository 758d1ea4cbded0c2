"""Whatever a run puts into a header, it is one header, its lines are short enough, and it is read back as it was."""

from __future__ import annotations

from email.header import decode_header, make_header
from email.parser import BytesParser
from email.policy import compat32
from email.utils import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.nodes.mail.addresses import Address, parse_addresses
from perdure.nodes.mail.headers import address_field, field, file_parameters

PIECES = [
    "=?utf-8?q?a=0ABcc:_x?=",
    "=?utf-8?b?",
    "?=",
    "Bcc: eve@example.com",
    "x" * 150,
    '"',
    "\\",
    ",",
    "<a@b.c>",
    "ä",
    "東",
]
TEXT = st.text(st.characters(blacklist_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=300)
CUNNING = st.lists(st.sampled_from([*PIECES, " ", "a"]), max_size=20).map("".join)


def checked(written: str, name: str) -> str:
    """The value, unfolded."""
    raw = written.encode("ascii")
    assert raw.endswith(b"\r\n")
    lines = raw.split(b"\r\n")[:-1]
    assert all(len(line) <= 998 and b"\n" not in line and b"\r" not in line for line in lines)
    assert all(line.startswith(b" ") and line.strip() for line in lines[1:])
    found = BytesParser(policy=compat32).parsebytes(raw + b"\r\n")
    assert found.keys() == [name]
    return "".join(line.decode() for line in lines).partition(":")[2].removeprefix(" ")


@given(TEXT | CUNNING)
def test_text(text: str) -> None:
    value = checked(field("X-A", text), "X-A")
    if "=?" in text or not text.isascii():
        assert str(make_header(decode_header(value))) == text
    elif not value.startswith("=?"):
        assert value == text


@given(TEXT | CUNNING)
def test_names_of_people(name: str) -> None:
    value = checked(address_field("To", [Address(name, "ada@example.com"), Address("", "bo@example.com")]), "To")
    assert value.endswith("ada@example.com>, bo@example.com" if name else "ada@example.com, bo@example.com")


@given(CUNNING | st.text(max_size=100))
def test_what_is_taken_for_addresses_is_written_safely(text: str) -> None:
    try:
        found = parse_addresses(text)
    except ValueError:
        return
    for each in found:
        assert each.mailbox.count("@") == 1
        assert not set(each.mailbox) & set('\r\n\0 <>,;:"\\()[]')
    if found and all(each.is_ascii for each in found):
        checked(address_field("To", found), "To")


@given(TEXT.filter(bool) | CUNNING.filter(bool))
def test_names_of_files(name: str) -> None:
    parameters = "".join(f";\r\n {each}" for each in file_parameters(name))
    raw = f"Content-Disposition: attachment{parameters}\r\n\r\n".encode("ascii")
    assert all(len(line) <= 998 for line in raw.split(b"\r\n"))
    found = BytesParser(policy=compat32).parsebytes(raw)
    assert found.keys() == ["Content-Disposition"]
    # this reader takes off quotes, brackets and blanks that are part of the name
    assert found.get_filename() in {name, name.strip(), unquote(name), unquote(name).strip()}


@pytest.mark.parametrize("character", ["\r", "\n", "\0", "\x7f", "\x1b"])
def test_a_control_character_never_gets_through(character: str) -> None:
    with pytest.raises(ValueError, match="control character"):
        address_field("To", [Address("", f"a{character}@b.c")])
    assert character not in field("X-A", f"a{character}b")[:-2]
