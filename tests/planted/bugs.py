"""The bugs of T-25, and who notices each. A bug is a small change of the product in memory, planted one at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from perdure.testing import contracts
from tests.engine.test_ownership import test_a_step_that_kills_every_worker_is_set_aside_after_three as poison_test
from tests.planted import engine_bugs as engine
from tests.planted import oracles
from tests.planted import store_bugs as stores
from tests.planted.oracles import Watcher


@dataclass(frozen=True)
class Bug:
    name: str
    plant: Callable[[], AbstractContextManager[None]]
    watchers: tuple[Watcher, ...]
    """Each of them must notice it."""

    @property
    def says(self) -> str:
        return (self.plant.__doc__ or "").strip().rstrip(".")


SIMULATION = Watcher("simulation", "seeds", oracles.simulation)
POWER_CUTS = Watcher("power cuts", "cuts", oracles.power_cuts)


def contract(suite: type) -> Watcher:
    name = suite.__name__.removesuffix("Contract").lower()
    return Watcher(f"store contract ({name})", "tests", oracles.contract(suite))


def crash_points(scenario: str) -> Watcher:
    return Watcher(f"crash points ({scenario})", "kills", oracles.crash_points(scenario))


FENCING, CLAIMS, LEASES = (
    contract(suite) for suite in (contracts.FencingContract, contracts.ClaimsContract, contracts.LeasesContract)
)
OUTBOX, RUNS, STARTS = (
    contract(suite) for suite in (contracts.OutboxContract, contracts.RunsContract, contracts.StartsContract)
)
DECLINING = contract(contracts.DecliningContract)
POISON = Watcher("engine test", "tests", oracles.engine_test(poison_test))

_PLANTED: list[tuple[Callable[[], AbstractContextManager[None]], tuple[Watcher, ...]]] = [
    (stores.no_fence, (FENCING, SIMULATION)),
    (stores.seq_unchecked, (FENCING, SIMULATION)),
    (engine.ack_before_commit, (crash_points("signals"), SIMULATION)),
    (engine.effects_before_commit, (crash_points("sequence"), SIMULATION)),
    (stores.synchronous_normal, (POWER_CUTS,)),
    (stores.cursor_outbox, (OUTBOX, SIMULATION)),
    (stores.wake_time_dropped, (CLAIMS, SIMULATION)),
    (stores.dead_workers_runs_not_due, (LEASES, SIMULATION)),
    (engine.notify_only, (SIMULATION,)),
    (engine.leases_by_own_clock, (SIMULATION,)),
    (engine.timers_by_wall_clock, (SIMULATION,)),
    (engine.timer_early, (SIMULATION,)),
    (stores.rescue_without_recheck, (CLAIMS, SIMULATION)),
    (stores.lease_outlives_itself, (LEASES,)),
    (engine.replay_skips_signals, (SIMULATION,)),
    (engine.snapshot_forgets, (SIMULATION,)),
    (engine.signal_dropped, (SIMULATION,)),
    (engine.retry_with_new_key, (SIMULATION,)),
    (engine.takeover_with_new_key, (SIMULATION,)),
    (engine.stale_attempt_counts, (SIMULATION,)),
    (engine.decide_again, (SIMULATION,)),
    (stores.parking_ignores_inbox, (FENCING, SIMULATION)),
    (stores.key_not_unique, (STARTS, SIMULATION)),
    (stores.namespace_forgotten, (RUNS,)),
    (engine.strangers_heard, (SIMULATION,)),
    (engine.deaths_not_counted, (POISON,)),
    (engine.lacking_is_failing, (SIMULATION,)),
    (stores.death_forgotten, (DECLINING,)),
]
BUGS = {plant.__name__: Bug(plant.__name__, plant, watchers) for plant, watchers in _PLANTED}
