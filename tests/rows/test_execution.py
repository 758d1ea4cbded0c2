"""Rows E01–E07, E12–E15, K06–K10, H01, H02, H06–H08, O01, O04, S01, G02, G04, G17, G18: how runs move, fail and end."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any

import pytest

from perdure import ActivationContext, ActivationError
from perdure.errors import IllegalCommand, NotFound, RunEnded
from perdure.model.policies import Limits
from perdure.testing.simloop import pass_time
from tests.rows.worlds import World, events, flow, names, node, on_every_store, step


def now(world: World) -> float:
    return world.clock.now() / 1_000_000


@on_every_store
async def test_e02_eleven_handled_errors_in_a_row_end_the_run_and_a_success_resets(world: World) -> None:
    async def maybe(ctx: ActivationContext, bad: bool) -> None:
        if bad:
            raise ActivationError("BAD", "bad item")

    async def mend(ctx: ActivationContext) -> None:
        raise ActivationError("STILL_BAD", "mending failed too")

    async with world.app(maybe) as app:
        loop = node("each", "loop", {"items": "${input}"})
        risky = step("maybe", arguments={"bad": "${item}"}, parent="each")
        after = node("after", "json", {"data": 1}, parent="each")
        document = flow("f", loop, risky, after, edges=["start each", "maybe after error"])
        await app.deploy(document)
        await (await app.start("f", [True, False] * 11)).result()
    async with world.app(maybe, mend) as app:
        chain = [step(f"m{n}", "mend") for n in range(12)]
        edges = ["start m0", *[f"m{n} m{n + 1} error" for n in range(11)]]
        await app.deploy(flow("g", *chain, edges=edges))
        with pytest.raises(RunEnded) as caught:
            await (await app.start("g")).result()
        assert caught.value.failure is not None
        assert caught.value.failure["code"] == "TOO_MANY_ERRORS"


@on_every_store
async def test_e03_an_unhandled_failure_goes_to_the_failure_node_with_its_cause(world: World) -> None:
    async def breaks() -> None:
        raise ActivationError("BROKEN", "it broke")

    async def tell(ctx: ActivationContext) -> Any:
        return ctx.input["error"]["code"]

    async with world.app(breaks, tell) as app:
        await app.deploy(flow("f", step("breaks"), step("tell"), edges=["start breaks"], on_failure="tell"))
        assert await (await app.start("f")).result() == "BROKEN"
        await app.deploy(flow("g", step("breaks")))
        with pytest.raises(RunEnded):
            await (await app.start("g")).result()


@on_every_store
async def test_e04_completion_nodes_always_run_and_change_nothing(world: World) -> None:
    ran: list[str] = []

    async def bye(ctx: ActivationContext) -> None:
        ran.append(ctx.input["status"])
        raise ActivationError("NO", "not even this works")

    async def breaks() -> None:
        raise ActivationError("BROKEN", "it broke")

    wait = node("wait", "wait-for-signal", {"name": "never"})
    async with world.app(bye, breaks) as app:
        await app.deploy(
            flow("good", node("end", "end", {"output": 1}), step("bye"), edges=["start end"], after=["bye"])
        )
        await app.deploy(flow("bad", step("breaks"), step("bye"), edges=["start breaks"], after=["bye"]))
        await app.deploy(flow("gone", wait, step("bye"), edges=["start wait"], after=["bye"]))
        assert await (await app.start("good")).result() == 1
        with pytest.raises(RunEnded, match="it broke"):
            await (await app.start("bad")).result()
        gone = await app.start("gone")
        await gone.cancel()
        with pytest.raises(RunEnded):
            await gone.result()
    assert ran == ["COMPLETED", "FAILED", "CANCELLED"]


@on_every_store
async def test_e05_e06_branches_run_side_by_side_and_nothing_before_what_it_needs(world: World) -> None:
    ended: dict[str, float] = {}
    begun: dict[str, float] = {}

    async def works(ctx: ActivationContext) -> None:
        begun[ctx.node_id] = now(world)
        await pass_time(1)
        ended[ctx.node_id] = now(world)

    edges = ["start a", "start b", "a c", "b c", "a d"]
    async with world.app(works) as app:
        await app.deploy(flow("f", *[step(name, "works") for name in "abcd"], edges=edges))
        at = now(world)
        await (await app.start("f")).result()
        assert now(world) - at < 2.5
        for edge in edges[2:]:
            source, target = edge.split()
            assert ended[source] <= begun[target]


@on_every_store
async def test_e07_one_at_a_time_is_always_in_the_same_order(world: World) -> None:
    order: list[str] = []

    async def works(ctx: ActivationContext) -> None:
        order.append(ctx.node_id)
        await pass_time(0.01)

    edges = ["start a", "start b", "start c", "a d", "b d", "c e"]
    async with world.app(works) as app:
        await app.deploy(flow("f", *[step(name, "works") for name in "abcde"], edges=edges, max_parallel=1))
        seen = set()
        for _ in range(20):
            order.clear()
            await (await app.start("f")).result()
            seen.add(tuple(order))
        assert len(seen) == 1


@on_every_store
async def test_e12_d14_a_false_condition_skips_the_node_and_not_what_follows(world: World) -> None:
    ran: list[str] = []

    async def works(ctx: ActivationContext) -> None:
        ran.append(ctx.node_id)

    async with world.app(works) as app:
        await app.deploy(flow("f", step("a", "works", condition="${input.vip}"), step("b", "works")))
        run = await app.start("f", {"vip": False})
        await run.result()
        assert ran == ["b"]
        skipped = [event for event in await events(app, run.id) if type(event).__name__ == "NodeSkipped"]
        assert [(event.node, event.reason) for event in skipped] == [("a", "condition")]


@on_every_store
async def test_c03_only_the_chosen_branch_runs_and_the_other_is_skipped(world: World) -> None:
    async with world.app() as app:
        check = node("if", "conditional", {"condition": "${input > 1}"})
        yes, no = node("yes", "json", {"data": 1}), node("no", "json", {"data": 2})
        await app.deploy(flow("f", check, yes, no, edges=["start if", "if yes true", "if no false"]))
        run = await app.start("f", 5)
        await run.result()
        skipped = [event.node for event in await events(app, run.id) if type(event).__name__ == "NodeSkipped"]
        assert skipped == ["no"]


@on_every_store
async def test_e13_b21_every_iteration_has_a_path_and_a_key_of_its_own(world: World) -> None:
    keys: list[str] = []

    async def works(ctx: ActivationContext) -> None:
        keys.append(ctx.key)

    async with world.app(works) as app:
        await app.deploy(flow("f", node("each", "loop", {"items": "${[1, 2]}"}), step("works", parent="each")))
        run = await app.start("f")
        await run.result()
        assert keys == [f"{run.id}/works/each.0/1", f"{run.id}/works/each.1/1"]


@on_every_store
async def test_e14_each_limit_has_its_own_code(world: World) -> None:
    body = node("b", "json", {"data": {"text": "y" * 40}}, parent="each")
    loop = flow("f", node("each", "loop", {"items": "${input}"}), body)
    chain = flow("f", *[node(name, "json", {"data": 1}) for name in "abcd"])
    large = flow("f", node("big", "json", {"data": {"text": "x" * 600}}))
    cases: list[tuple[str, Limits, dict[str, Any], Any]] = [
        ("LIMIT_ACTIVATIONS", Limits(activations=3), chain, None),
        ("LIMIT_ITERATIONS", Limits(iterations=2), loop, [1, 2, 3]),
        ("LIMIT_DATA", Limits(data=500), large, None),
        ("LIMIT_ACCUMULATOR", Limits(accumulator=50), loop, [1, 2, 3]),
    ]
    async with world.app() as app:
        for code, limits, document, given in cases:
            await app.deploy(document)
            with pytest.raises(RunEnded) as caught:
                await (await app.start("f", given, limits=limits)).result()
            assert caught.value.failure is not None
            assert caught.value.failure["code"] == code
            await app.start("f", given)


@on_every_store
async def test_e14_loops_nested_too_deep_are_refused(world: World) -> None:
    async with world.app() as app:
        loops = [node(f"l{n}", "loop", {"items": "${[1]}"}, **({"parent": f"l{n - 1}"} if n else {})) for n in range(3)]
        await app.deploy(flow("f", *loops, node("b", "json", {"data": 1}, parent="l2")))
        with pytest.raises(RunEnded) as caught:
            await (await app.start("f", limits=Limits(depth=2))).result()
        assert caught.value.failure is not None
        assert caught.value.failure["code"] == "LIMIT_DEPTH"


async def test_e15_blocking_steps_run_beside_the_loop(tmp_path: Any) -> None:
    from perdure import Perdure

    here = threading.get_ident()
    gate, threads = threading.Event(), set()

    def blocks() -> None:
        threads.add(threading.get_ident())
        assert gate.wait(20)

    async with Perdure.open(f"sqlite:///{tmp_path / 'x.db'}") as app:
        app.register(blocks)
        await app.deploy(flow("f", step("blocks")))
        await app.deploy(flow("quick", node("end", "end", {"output": "quick"})))
        stuck = [await app.start("f") for _ in range(4)]
        assert await (await app.start("quick")).result() == "quick"
        gate.set()
        for run in stuck:
            await run.result()
    assert here not in threads


@on_every_store
async def test_k06_h08_retries_have_numbers_pauses_and_an_end(world: World) -> None:
    at: list[float] = []

    async def flaky(ctx: ActivationContext) -> int:
        at.append(now(world))
        if ctx.attempt < 4:
            raise ConnectionError("no")
        return ctx.attempt

    async def final(ctx: ActivationContext) -> None:
        raise ActivationError("FINAL", "no use", retryable=False)

    retry = {"attempts": 5, "initial": "1s", "multiplier": 2, "maximum": "3s"}
    async with world.app(flaky, final) as app:
        await app.deploy(flow("f", step("flaky", retry=retry)))
        run = await app.start("f")
        assert await run.result() == 4
        pauses = [round(b - a) for a, b in pairwise(at)]
        assert pauses == [1, 2, 3]
        retrying = [
            event.attempt for event in await events(app, run.id) if type(event).__name__ == "ActivationRetrying"
        ]
        assert retrying == [2, 3, 4]
        await app.deploy(flow("g", step("final", retry=retry)))
        failed = await app.start("g")
        with pytest.raises(RunEnded):
            await failed.result()
        assert (await names(app, failed.id)).count("ActivationFailed") == 1


@on_every_store
async def test_h01_x01_signals_are_kept_in_order_and_count_once(world: World) -> None:
    async with world.app() as app:
        waits = [node(f"w{n}", "wait-for-signal", {"name": "go"}) for n in range(2)]
        ends = node("end", "end", {"output": ["${nodes.w0.output}", "${nodes.w1.output}"]})
        await app.deploy(flow("f", node("nap", "sleep", {"duration": "1h"}), *waits, ends))
        run = await app.start("f")
        for number, id in ((1, "a"), (1, "a"), (2, "b"), (3, "c")):
            await run.signal("go", number, id=id)
        assert await run.result() == [1, 2]
        state = (await app.runs.state("default", run.id))[1]
        assert [signal.payload for signal in state.signals.values()] == [3], "what nobody consumed stays visible"
        with pytest.raises(IllegalCommand):
            await run.signal("go", 4)
        with pytest.raises(NotFound):
            await app.run("nobody").signal("go")


@on_every_store
async def test_h02_s01_children_give_their_output_and_end_with_their_parent(world: World) -> None:
    async with world.app() as app:
        wait = node("wait", "wait-for-signal", {"name": "never"})
        await app.deploy(flow("quick", node("end", "end", {"output": "${input * 2}"})))
        await app.deploy(flow("slow", wait))
        call = node("call", "sub-flow", {"definition": "quick", "input": "${input + 1}"})
        await app.deploy(flow("f", call))
        run = await app.start("f", 4)
        assert await run.result() == 10
        children = await app.list_runs(parent=run.id)
        assert [(child.definition, child.status, child.trigger) for child in children] == [
            ("quick", "COMPLETED", "child")
        ]
        await app.deploy(flow("g", node("call", "sub-flow", {"definition": "slow"})))
        parent = await app.start("g")
        await pass_time(1)
        assert await parent.status() == "WAITING"
        (child,) = await app.list_runs(parent=parent.id)
        await parent.cancel("enough")
        with pytest.raises(RunEnded):
            await app.run(child.id).result()
        assert await app.run(child.id).status() == "CANCELLED"


@on_every_store
async def test_k08_k10_g11_a_retry_runs_only_what_failed_and_a_cancel_is_no_failure(world: World) -> None:
    broken, calls = [True], []

    async def first(ctx: ActivationContext) -> None:
        calls.append("first")

    async def second(ctx: ActivationContext) -> None:
        calls.append("second")
        if broken[0]:
            raise ActivationError("BROKEN", "not yet")

    async with world.app(first, second) as app:
        await app.deploy(flow("f", step("first"), step("second")))
        run = await app.start("f")
        with pytest.raises(RunEnded):
            await run.result()
        broken[0] = False
    async with world.app(first, second) as app:
        await app.run(run.id).retry()
        await app.run(run.id).result()
        assert calls == ["first", "second", "second"]
        assert "RunCancelled" not in await names(app, run.id)


@on_every_store
async def test_g04_a_long_run_is_loaded_from_a_snapshot_and_few_events(world: World) -> None:
    async with world.app() as app:
        nodes = [node(f"w{n}", "wait-for-signal", {"name": "go"}) for n in range(120)]
        await app.deploy(flow("f", *nodes))
        run = await app.start("f")
        for _ in range(115):
            await run.signal("go")
        loaded = await app.store.journal.load(run.id)
        assert loaded is not None
        assert loaded.snapshot is not None
        assert loaded.head.seq - loaded.snapshot_seq < loaded.head.seq / 2
        await run.cancel()


@on_every_store
async def test_g18_a_run_may_go_on_as_new_for_ever_under_one_id(world: World) -> None:
    async with world.app() as app:
        check = node("more", "conditional", {"condition": "${input.n < 30}"})
        again = node("again", "continue-as-new", {"input": {"n": "${input.n + 1}"}})
        ends = node("end", "end", {"output": "${input.n}"})
        await app.deploy(flow("f", check, again, ends, edges=["start more", "more again true", "more end false"]))
        run = await app.start("f", {"n": 0})
        assert await run.result() == 30
        assert (await names(app, run.id)).count("RunContinued") == 30


@on_every_store
async def test_g02_o04_starting_cancelling_retrying_and_asking_for_results_have_clear_refusals(world: World) -> None:
    async with world.app() as app:
        await app.deploy(flow("f", node("end", "end")))
        done = await app.start("f")
        await done.result()
        for refused in (done.cancel(), done.retry(), done.suspend(), done.resume()):
            with pytest.raises(IllegalCommand):
                await refused
        for missing in (app.run("x").cancel(), app.run("x").retry(), app.run("x").view(), app.run("x").result()):
            with pytest.raises(NotFound):
                await missing
        with pytest.raises(NotFound):
            await app.start("nothing")
