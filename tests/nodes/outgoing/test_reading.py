"""What an operator writes about calls."""

import pytest

from perdure.errors import SettingsInvalid
from perdure.nodes.outgoing.policy import AuthClient
from perdure.nodes.outgoing.reading import outgoing_settings
from perdure.settings import Settings, load_settings


def test_settings_about_calls_are_read_from_texts() -> None:
    found = outgoing_settings(
        load_settings(
            environ={
                "PERDURE_HTTP_ALLOW": "10.0.0.0/8, a.example:81",
                "PERDURE_HTTP_HOSTS": "b.example = http://127.0.0.1:9",
                "PERDURE_HTTP_CONNECTIONS_PER_HOST": "5",
                "PERDURE_HTTP_CLIENTS": '{"c": {"token_url": "https://id", "client_id": "me", "secret": "S"}}',
            }
        )
    )
    assert (len(found.allow), found.connections_per_host, found.hosts["b.example"].port) == (2, 5, 9)
    assert found.clients == {"c": AuthClient(token_url="https://id", client_id="me", secret="S")}


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"c": {}}', '{"c": {"token_url": "u", "client_id": "i", "password": "p"}}']
)
def test_clients_that_cannot_be_read_are_refused_at_start(text: str) -> None:
    with pytest.raises(SettingsInvalid, match="http_clients"):
        outgoing_settings(Settings(http_clients=text))
