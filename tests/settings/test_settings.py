"""Where settings come from, which one wins, and what is said about a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.errors import SettingsInvalid
from perdure.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def _empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_flag_goes_before_a_variable_before_the_file_before_the_default() -> None:
    Path("perdure.toml").write_text('port = 1\nhost = "::1"\nnamespace = "file"\n')
    found = load_settings({"port": 3, "host": None}, {"PERDURE_PORT": "2", "PERDURE_NAMESPACE": "variable"})
    assert (found.port, found.namespace, found.host, found.max_runs) == (3, "variable", "::1", 10_000)


def test_without_anything_the_defaults_hold() -> None:
    assert load_settings({}, {}) == Settings()


def test_another_file_can_be_named_and_must_exist() -> None:
    Path("other.toml").write_text("port = 7\n")
    assert load_settings({}, {"PERDURE_CONFIG": "other.toml"}).port == 7
    with pytest.raises(SettingsInvalid, match=r"gone\.toml does not exist"):
        load_settings({}, {"PERDURE_CONFIG": "gone.toml"})


def test_texts_of_the_file_may_name_variables() -> None:
    Path("perdure.toml").write_text('database_url = "postgresql://${WHO}@${WHERE:-localhost}/orders"\n')
    assert load_settings({}, {"WHO": "ada"}).database_url == "postgresql://ada@localhost/orders"
    with pytest.raises(SettingsInvalid, match="WHO"):
        load_settings({}, {})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "eight"),
        ("PORT", "65536"),
        ("LEASE_SECONDS", "-1"),
        ("LEASE_SECONDS", "nan"),
        ("POLL_SECONDS", "0"),
        ("HANDLER_THREADS", "0"),
        ("NAMESPACE", ""),
        ("LOG_LEVEL", "loud"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_its_origin(name: str, value: str) -> None:
    with pytest.raises(SettingsInvalid, match=f"PERDURE_{name}: "):
        load_settings({}, {f"PERDURE_{name}": value})


def test_an_unknown_setting_in_the_file_is_named() -> None:
    Path("perdure.toml").write_text("colour = 1\n")
    with pytest.raises(SettingsInvalid, match=r"perdure\.toml has an unknown setting 'colour'"):
        load_settings({}, {})


def test_levels_may_be_written_small() -> None:
    assert load_settings({}, {"PERDURE_LOG_LEVEL": "debug"}).log_level == "DEBUG"
