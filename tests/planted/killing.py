"""Kills a process with a planted bug at one commit after the other, until something is found wrong.

python -m tests.planted.killing --bug ack_before_commit --scenario signals
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.crash import runner
from tests.crash.killing import AFTER, BEFORE
from tests.crash.ledger import Ledger
from tests.crash.runner import Campaign, in_child
from tests.crash.scenarios import SCENARIOS
from tests.planted.bugs import BUGS

PATIENCE_SECONDS = 3


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bug", required=True)
    parser.add_argument("--scenario", required=True)
    options = parser.parse_args()
    (scenario,) = [each for each in SCENARIOS if each.name == options.scenario]
    runner.PATIENCE_SECONDS = PATIENCE_SECONDS
    with tempfile.TemporaryDirectory(prefix="perdure-planted-") as directory, BUGS[options.bug].plant():
        campaign = Campaign("sqlite", Path(directory), False, None)
        counting = campaign.point(scenario, None, BEFORE)
        if in_child(counting.live) != 0:
            campaign.wrong.append("it does not even work without a kill")
        else:
            total = int(Ledger(counting.ledger_path).lines("points")[-1])
            for at, when in ((at, when) for at in range(1, total + 1) for when in (BEFORE, AFTER)):
                campaign.kill_at(scenario, at, when)
                if campaign.wrong:
                    break
    report = {"first": max(1, campaign.points) if campaign.wrong else None, "wrong": campaign.wrong}
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
