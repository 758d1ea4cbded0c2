"""Records the histories that are replayed for ever: one file per scenario that has none yet, under tests/golden.

    python tools/record_golden.py            writes what is missing; what is there is never touched

A recording is a promise: that a log written by this release can be read by every later one. So a file is written once,
with the release in its folder's name, and from then on only the code has to change, not the file. (Until the release is
out its files may be deleted and written again.)
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.golden.histories import FOLDER, RELEASE, record
from tests.kernel.every_scenario import SCENARIOS


def main() -> None:
    folder = FOLDER / RELEASE
    folder.mkdir(exist_ok=True)
    recorded = {path.stem for path in FOLDER.glob("*/*.json")}
    for name, scenario in SCENARIOS.items():
        if name in recorded:
            continue
        rig = scenario()
        encoded = msgspec.json.encode(record(name, rig, rig.document))
        (folder / f"{name}.json").write_bytes(msgspec.json.format(encoded, indent=1) + b"\n")
        print(f"recorded {name}")


if __name__ == "__main__":
    main()
