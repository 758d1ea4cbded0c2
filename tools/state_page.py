"""Writes docs/explanation/states.md from the kernel's tables, so that the picture is the law.

python tools/state_page.py            writes the page
python tools/state_page.py --check    fails if it is out of date
"""

from __future__ import annotations

import sys
from pathlib import Path

from perdure.kernel.legality import COMMANDS, PHASES, Answer, Condition

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "states.md"
SIGNS = {Answer.ACCEPT: "yes", Answer.IGNORE: "·", Answer.REFUSE: "**no**"}


def page() -> str:
    arrows = []
    for (phase, event), after in sorted(PHASES.items(), key=lambda row: (row[0][0], row[0][1].__name__)):
        arrows.append(f"    {phase.value} --> {after.value if after is not None else '[*]'}: {event.__name__}")
    header = [condition.value for condition in Condition]
    rows = [
        f"| {command.__name__} | " + " | ".join(SIGNS[answers[condition]] for condition in Condition) + " |"
        for command, answers in COMMANDS.items()
    ]
    return "\n".join(
        [
            "# States, drawn from the tables",
            "",
            "Made by `tools/state_page.py` from `perdure.kernel.legality`. What is not listed there is not allowed.",
            "",
            "## An activation",
            "",
            "```mermaid",
            "stateDiagram-v2",
            "    [*] --> executing: ActivationScheduled",
            *arrows,
            "```",
            "",
            "## Commands",
            "",
            "Which command a run accepts where. A dot: it comes too late or too early, and nothing happens. **no**:",
            "whoever sent it is told so (ILLEGAL_COMMAND, 409).",
            "",
            "| command | " + " | ".join(header) + " |",
            "|---" * (len(header) + 1) + "|",
            *rows,
            "",
        ]
    )


def main() -> int:
    if "--check" in sys.argv:
        if PAGE.exists() and PAGE.read_text() == page():
            return 0
        sys.stderr.write(f"{PAGE.name} is out of date: python tools/state_page.py\n")
        return 1
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
