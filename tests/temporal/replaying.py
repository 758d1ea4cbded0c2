"""Replaying Temporal histories of flows: `python -m tests.temporal.replaying DIRECTORY` prints what it replayed."""

import asyncio
import os
import sys
from pathlib import Path

from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from perdure.nodes.catalogue import builtin_types
from perdure.temporal.hosting import FlowHost
from perdure.temporal.payloads import DATA_CONVERTER
from perdure.temporal.worker import SANDBOX, NodeTypes


async def replay(*histories: WorkflowHistory) -> None:
    """Raises if the workflow would now ask for anything else than what the history holds."""
    replayer = Replayer(
        workflows=[FlowHost],
        interceptors=[NodeTypes(builtin_types)],
        data_converter=DATA_CONVERTER,
        workflow_runner=SANDBOX,
    )
    for history in histories:
        await replayer.replay_workflow(history)


class Recordings:
    """Histories in a directory, for another process."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.names: set[str] = set()

    def keep(self, history: WorkflowHistory) -> None:
        (self.directory / history.workflow_id).write_text(history.to_json())
        self.names.add(history.workflow_id)

    async def replayed_with(self, hash_seed: int) -> set[str]:
        """The names of those that another process could replay. It stops at the first that it cannot."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.temporal.replaying", str(self.directory)),
            env=os.environ | {"PYTHONHASHSEED": str(hash_seed)},
            cwd=Path(__file__).parents[2],
            stdout=asyncio.subprocess.PIPE,
        )
        said, _ = await process.communicate()
        return set(said.decode().split())


def main(directory: Path) -> None:
    for path in sorted(directory.iterdir()):
        asyncio.run(replay(WorkflowHistory.from_json(path.name, path.read_text())))
        sys.stdout.write(f"{path.name}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
