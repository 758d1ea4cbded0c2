"""A07, B19, C15, C16: node types that others bring, by entry point, and what is between them and the engine."""

import importlib
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure.assembly import Perdure, installed_plugins
from perdure.errors import DocumentInvalid, RunEnded, SettingsInvalid
from perdure.nodes.plugins import (
    ActivationError,
    ExpressionText,
    Field,
    NodeConfig,
    Result,
    Sleep,
    TemplateText,
    TemplateValue,
    installed,
    node,
)
from perdure.settings import Settings

SMS = '''
"""A node type of somebody else's."""
from perdure.nodes.plugins import ActivationError, Field, NodeConfig, Result, TemplateText, node

SENT = []

class SmsConfig(NodeConfig):
    to: TemplateText = Field(title="To", description="A phone number.", examples=["${data.phone}"])
    text: TemplateText = Field(title="Text", description="What to send.", max_length=160, examples=["Hello"])

@node("acme.sms", config=SmsConfig, title="SMS", description="Sends a text message.", outcomes=["sent", "refused"])
async def sms(ctx, config):
    SENT.append((ctx.key, config.to, config.text))
    if config.to == "0":
        raise ActivationError("SMS_NO_NUMBER", "there is no such number", output={"tried": config.to})
    return Result({"to": config.to}, outcome="refused" if config.to.startswith("-") else "sent")

BROKEN = "not a node type"
'''


class Site:
    """A directory into which distributions are installed, as pip would."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def install(self, name: str, code: str, entries: dict[str, str]) -> None:
        module = name.replace("-", "_")
        (self.path / f"{module}.py").write_text(textwrap.dedent(code))
        info = self.path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{entry} = {module}:{attribute}" for entry, attribute in entries.items()]
        (info / "entry_points.txt").write_text("\n".join(["[perdure.nodes]", *lines, ""]))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    before = set(sys.modules)
    yield Site(tmp_path)
    for name in set(sys.modules) - before:
        if name.startswith(("acme", "other", "broken")):
            del sys.modules[name]


def flow(config: Any, type: str = "acme.sms") -> dict[str, Any]:
    nodes = [
        {"id": "start", "type": "start"},
        {"id": "n", "type": type, "config": config},
        {"id": "good", "type": "json", "config": {"data": "${data}"}},
        {"id": "bad", "type": "json", "config": {"data": {"bad": "${data}"}}},
    ]
    edges = [
        {"source": "start", "target": "n"},
        {"source": "n", "target": "good", "outcome": "sent"},
        {"source": "n", "target": "bad", "outcome": "refused"},
        {"source": "n", "target": "bad", "outcome": "error"},
    ]
    return {"nodes": nodes, "edges": edges}


async def test_a07_an_installed_type_runs_in_a_flow_without_a_change_to_the_engine(site: Site) -> None:
    site.install("acme-sms", SMS, {"sms": "sms"})
    async with Perdure.open("memory://") as app:
        await app.deploy(flow({"to": "${input.to}", "text": "Hello {{input.name}}"}), id="flow")
        run = await app.start("flow", {"to": "123", "name": "Ada"})
        assert await run.result() == {"data": {"to": "123"}}
        refused = await (await app.start("flow", {"to": "-1", "name": "Bob"})).result()
        assert refused == {"data": {"bad": {"to": "-1"}}}
        from acme_sms import SENT  # type: ignore[import-not-found]

        assert SENT[0][1:] == ("123", "Hello Ada")
        assert SENT[0][0].startswith(f"{run.id}/n")


async def test_defaults_that_are_templates_or_expressions_are_computed() -> None:
    class Inner(NodeConfig):
        a: TemplateText = Field("{{input.c}}!", title="A", description="Text.")
        n: int = Field(1, title="N", description="A number.")

    class Config(NodeConfig):
        b: TemplateText = Field("${input.c}", title="B", description="Text.")
        e: ExpressionText = Field("input.n + 1", title="E", description="A number.")
        plain: TemplateText = Field("as it is", title="Plain", description="Text.")
        inner: Inner = Field(default_factory=Inner, title="Inner", description="More.")

    @node("acme.defaults", config=Config, title="D", description="D.", outcomes=["sent", "refused"])
    async def defaults(ctx: Any, config: Config) -> Result:
        return Result([config.b, config.e, config.plain, config.inner.a, config.inner.n], outcome="sent")

    async with Perdure.open("memory://") as app:
        app.use(defaults)
        for given, inner in (({}, "hello!"), ({"inner": {"n": 1}}, "hello!"), ({"inner": {"a": "own"}}, "own")):
            await app.deploy(flow(given, "acme.defaults"), id="flow")
            output = await (await app.start("flow", {"c": "hello", "n": 4})).result()
            assert output == {"data": ["hello", 5, "as it is", inner, 1]}


async def test_c16_a_failure_keeps_what_there_was(site: Site) -> None:
    site.install("acme-sms", SMS, {"sms": "sms"})
    async with Perdure.open("memory://") as app:
        await app.deploy(flow({"to": "0", "text": "x"}), id="flow")
        told = (await (await app.start("flow")).result())["data"]["bad"]
        assert (told["error"]["code"], told["output"]) == ("SMS_NO_NUMBER", {"tried": "0"})


async def test_a07_an_unknown_type_is_refused_at_save_and_named(site: Site) -> None:
    site.install("acme-sms", SMS, {"sms": "sms"})
    async with Perdure.open("memory://") as app:
        with pytest.raises(DocumentInvalid) as refused:
            await app.deploy(flow({}, "acme.sma"), id="flow")
        (problem,) = [each for each in refused.value.problems if each["code"] == "NODE_TYPE_UNKNOWN"]
        assert problem["pointer"] == "/nodes/1/type"
        assert "'acme.sma'" in problem["message"]
        assert "did you mean 'acme.sms'" in problem["message"]


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"to": "1"}, "/text"),
        ({"to": "1", "text": "x", "from": "2"}, "/from"),
        ({"to": "${dta.x}", "text": "x"}, "/to"),
        ({"to": 5, "text": "x"}, "/to"),
    ],
)
async def test_its_configuration_is_checked_at_save(site: Site, config: Any, place: str) -> None:
    site.install("acme-sms", SMS, {"sms": "sms"})
    async with Perdure.open("memory://") as app:
        with pytest.raises(DocumentInvalid) as refused:
            await app.deploy(flow(config), id="flow")
        assert f"/nodes/1/config{place}" in [each["pointer"] for each in refused.value.problems]


async def test_a_number_for_a_text_of_its_own_is_written_as_text(site: Site) -> None:
    site.install("acme-sms", SMS, {"sms": "sms"})
    async with Perdure.open("memory://") as app:
        await app.deploy(flow({"to": "${input.number}", "text": "${input.urgent}"}), id="flow")
        await (await app.start("flow", {"number": 7, "urgent": True})).result()
        assert [sent[1:] for sent in importlib.import_module("acme_sms").SENT] == [("7", "true")]


async def test_what_templates_give_is_checked_before_the_handler_runs(site: Site) -> None:
    site.install("acme-sms", SMS, {"sms": "sms"})
    async with Perdure.open("memory://") as app:
        await app.deploy(flow({"to": "1", "text": "${input.text}"}), id="flow")
        told = (await (await app.start("flow", {"text": "x" * 161})).result())["data"]["bad"]
        assert told["error"]["code"] == "CONFIG_UNSUITABLE"
        assert told["error"]["details"] == {"pointer": "/text"}


def test_a_broken_plug_in_is_named_and_the_others_work(site: Site) -> None:
    site.install("acme-sms", SMS, {"sms": "sms", "wrong": "BROKEN", "missing": "nothing"})
    site.install("broken-one", "raise RuntimeError('no licence')", {"x": "x"})
    plugins, troubles = installed()
    assert [each.type.name for each in plugins] == ["acme.sms"]
    told = {each.entry.split(" ")[0]: each.reason for each in troubles}
    assert set(told) == {"wrong", "missing", "x"}
    assert "no licence" in told["x"]
    assert "broken-one" in str(next(each for each in troubles if each.entry.startswith("x")))


def test_a_name_that_is_taken_is_refused(site: Site) -> None:
    site.install("acme-sms", SMS, {"sms": "sms"})
    site.install("other-sms", SMS, {"sms": "sms"})
    plugins, troubles = installed()
    assert [each.type.name for each in plugins] == ["acme.sms"]
    assert [each.reason for each in troubles] == ["there is a node type 'acme.sms' already"]


def test_the_same_type_under_two_entries_is_one(site: Site) -> None:
    site.install("acme-sms", SMS, {"sms": "sms", "again": "sms"})
    plugins, troubles = installed()
    assert (len(plugins), troubles) == (1, [])


@pytest.mark.parametrize("off", ["acme.sms", "sms", "acme-sms", "x, acme.sms", "*"])
def test_plug_ins_can_be_turned_off(site: Site, off: str) -> None:
    site.install("acme-sms", SMS, {"sms": "sms"})
    assert installed_plugins(Settings(plugins_off=off)) == []
    assert len(installed_plugins(Settings(plugins_off="others"))) == 1


@pytest.mark.parametrize("name", ["sms", "Acme.sms", "acme.", ".sms", "acme sms", "acme.sms!", "a." + "x" * 70, ""])
def test_a_name_says_whose_it_is(name: str) -> None:
    with pytest.raises(SettingsInvalid, match="cannot be the name"):
        node(name, config=NodeConfig, title="x", description="x.")


def test_a_configuration_is_a_node_config() -> None:
    with pytest.raises(SettingsInvalid, match="no NodeConfig"):
        node("acme.x", config=dict, title="x", description="x.")  # type: ignore[arg-type]


def test_the_command_line_knows_them(site: Site, tmp_path: Path) -> None:
    site.install("acme-sms", SMS, {"sms": "sms"})
    file = tmp_path / "flow.json"
    import json

    file.write_text(json.dumps(flow({"to": "1", "text": "x"})))
    command = [sys.executable, "-m", "perdure.cli.main", "validate", str(file)]
    with_it = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(site.path)}, check=False)
    without = subprocess.run(command, capture_output=True, text=True, env={}, check=False)
    assert (with_it.returncode, without.returncode) == (0, 1), with_it.stdout + with_it.stderr
    assert "acme.sms" in without.stdout


# -- what is between a handler and the engine --------------------------------------------------------------------------


class Inner(NodeConfig):
    when: ExpressionText = Field(title="When", description="A condition.")


class EchoConfig(NodeConfig):
    plain: int = Field(1, title="Plain", description="A number.")
    value: TemplateValue = Field(None, title="Value", description="Anything.")
    parts: list[Inner] = Field(default_factory=list, title="Parts", description="More.")


@node("test.echo", config=EchoConfig, title="Echo", description="Gives what it gets.", kind="isolated")
async def echo(ctx: Any, config: EchoConfig) -> Any:
    return {
        "node": ctx.node_id,
        "key": ctx.key,
        "config": [config.plain, config.value, [each.when for each in config.parts]],
        "input": ctx.input,
        "vars": dict(ctx.vars),
        "thread": ctx.thread,
        "run": ctx.run_id,
        "namespace": ctx.namespace,
        "definition": ctx.definition,
    }


@node("test.blocking", config=NodeConfig, title="Blocking", description="A plain function.")
def blocking(ctx: Any, config: NodeConfig) -> Any:
    return ctx.key


@node("test.wait", config=NodeConfig, title="Wait", description="Sleeps, holding nothing.")
async def wait(ctx: Any, config: NodeConfig) -> Any:
    return Sleep(ctx.now() + 1000, {"slept": True})


@node("test.fail", config=NodeConfig, title="Fail", description="Fails.", retry_attempts=3)
async def fail(ctx: Any, config: NodeConfig) -> Any:
    raise ActivationError("NOT_YET", f"attempt {ctx.attempt}", retryable=True, retry_after=0.001)


async def run_one(type: Any, config: Any = None, input: Any = None, **start: Any) -> Any:
    async with Perdure.open("memory://") as app:
        app.use(type)
        nodes = [
            {"id": "start", "type": "start"},
            {"id": "set", "type": "set", "config": {"vars": {"a": 1}}},
            {"id": "n", "type": type.type.name, "config": config or {}},
        ]
        edges = [{"source": "start", "target": "set"}, {"source": "set", "target": "n"}]
        await app.deploy({"nodes": nodes, "edges": edges}, id="flow")
        run = await app.start("flow", input, **start)
        return run.id, await run.result()


async def test_b19_c15_a_handler_is_told_everything_about_its_activation() -> None:
    config = {"value": {"a": ["${input.x}", "{{input.x}}!"]}, "parts": [{"when": "input.x > 1"}]}
    run, output = await run_one(echo, config, {"x": 5}, thread={"tenant": "t"})
    assert output == {
        "node": "n",
        "key": f"{run}/n/1",
        "config": [1, {"a": [5, "5!"]}, [True]],
        "input": {"x": 5},
        "vars": {"a": 1},
        "thread": {"tenant": "t"},
        "run": run,
        "namespace": "default",
        "definition": "flow",
    }


async def test_b21_two_iterations_of_one_node_have_different_keys() -> None:
    async with Perdure.open("memory://") as app:
        app.use(echo)
        nodes = [
            {"id": "start", "type": "start"},
            {"id": "each", "type": "map", "config": {"range": {"stop": 5}}},
            {"id": "n", "type": "test.echo", "parent": "each"},
        ]
        await app.deploy({"nodes": nodes, "edges": [{"source": "start", "target": "each"}]}, id="flow")
        output = await (await app.start("flow")).result()
        keys = [each["key"] for each in output["results"]]
        assert len(set(keys)) == 5


async def test_a_plain_function_runs_in_a_thread_and_a_handler_may_wait() -> None:
    run, output = await run_one(blocking)
    assert output == f"{run}/n/1"
    _, output = await run_one(wait)
    assert output == {"slept": True}


async def test_a_type_says_how_often_it_is_tried() -> None:
    with pytest.raises(RunEnded, match="attempt 3"):
        await run_one(fail)


def test_calling_a_plug_in_calls_its_function() -> None:
    assert blocking(type("Ctx", (), {"key": "k"})(), NodeConfig()) == "k"
    assert Result(1).output == 1
