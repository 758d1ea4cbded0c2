"""The settings about mail: what they mean, and that a mistake is told at the start and without what is secret."""

import pytest

from perdure.errors import SettingsInvalid
from perdure.nodes.mail.addresses import Address
from perdure.nodes.mail.plain import text_of
from perdure.nodes.mail.servers import SmtpServer, mail_settings, parse_smtp_url
from perdure.settings import Settings


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://mail.example", SmtpServer("mail.example", 587)),
        ("smtp://u@mail.example:2525", SmtpServer("mail.example", 2525, user="u")),
        ("smtp://u%40x.y@mail.example?secret=KEY", SmtpServer("mail.example", 587, user="u@x.y", secret="KEY")),
        ("smtps://mail.example", SmtpServer("mail.example", 465, "implicit")),
        ("smtp://mail.example:465", SmtpServer("mail.example", 465, "implicit")),
        ("smtp://localhost:1025?tls=none", SmtpServer("localhost", 1025, "none")),
        ("smtp://u@[::1]?tls=none", SmtpServer("::1", 25, "none", user="u")),
        (
            "smtp://mail.example?verify=no&cafile=/etc/ca.pem",
            SmtpServer("mail.example", 587, verify=False, cafile="/etc/ca.pem"),
        ),
    ],
)
def test_servers(url: str, expected: SmtpServer) -> None:
    assert parse_smtp_url(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "mail.example:587",
        "http://mail.example",
        "smtp://",
        "smtp://mail.example/path",
        "smtp://mail.example:port",
        "smtp://mail.example?tls=ssl",
        "smtp://mail.example?verify=maybe",
        "smtp://mail.example?timeout=5",
        "smtp://mail.example?tls",
        "smtp://user:hunter2@mail.example",
        "smtp://user@mail.example?tls=none",
    ],
)
def test_what_is_no_server(url: str) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        mail_settings(Settings(smtp_url_ses=url))
    assert "smtp_url_ses" in caught.value.message
    assert "hunter2" not in str(caught.value.as_dict())


def test_settings() -> None:
    found = mail_settings(
        Settings(smtp_url="smtp://a.example", smtp_url_resend="smtp://b.example", mail_from="P <p@q.r>")
    )
    assert {name: server.host for name, server in found.servers.items()} == {"smtp": "a.example", "resend": "b.example"}
    assert found.sender == Address("P", "p@q.r")
    assert mail_settings(Settings(mail_domain="Bücher.example")).domain == "xn--bcher-kva.example"
    for wrong in ({"mail_from": "nobody"}, {"mail_domain": "a b"}, {"mail_domain": "x@y.z>"}):
        with pytest.raises(SettingsInvalid):
            mail_settings(Settings(**wrong))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>One</p><p>Two</p>", "One\n\nTwo\n"),
        ("a<br>b<br/>c", "a\nb\nc\n"),
        ("<ul><li>x<li>y</ul>z", "- x\n- y\n\nz\n"),
        ("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 2\n\n3\n"),
        ("<title>t</title><style>p{}</style>&lt;b&gt; &amp; &eacute;", "<b> & é\n"),
        ('<a href="https://x.example">https://x.example</a>', "https://x.example\n"),
        ('<a href="javascript:alert(1)">press</a>', "press\n"),
        ("", "\n"),
        ("<p>not closed <b>bold", "not closed bold\n"),
        ("<<<>>>&#x110000;</p>", "<<<>>>\N{REPLACEMENT CHARACTER}\n"),
    ],
)
def test_the_text_of_html(html: str, expected: str) -> None:
    assert text_of(html) == expected
