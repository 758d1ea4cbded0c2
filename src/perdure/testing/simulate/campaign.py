"""Many seeds, and what they found."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable

from perdure.testing.simulate.misfortune import Site
from perdure.testing.simulate.story import Verdict, tell

DETERMINISM_EVERY = 100
"""Each so-many-th seed is told twice and must come out the same, byte for byte."""


def campaign(seeds: Iterable[int], size: str = "small") -> tuple[list[Verdict], Counter[str]]:
    """The seeds that went wrong, and how often each fault was met."""
    failed: list[Verdict] = []
    met: Counter[str] = Counter()
    for seed in seeds:
        verdict = tell(seed, size)
        met.update(verdict.met)
        if seed % DETERMINISM_EVERY == 0 and tell(seed, size).digest != verdict.digest:
            verdict.wrong.append("the same seed told another story the second time")
        if verdict.wrong:
            failed.append(verdict)
    return failed, met


def main(seed: int | None, seeds: int, start: int, size: str) -> int:
    if seed is not None:
        return show(tell(seed, size))
    from rich.console import Console
    from rich.progress import track

    numbers = range(start, start + seeds)
    failed, met = campaign(track(numbers, "simulating", console=Console(stderr=True)), size)
    for site in Site:
        sys.stdout.write(f"{met[site.name]:>8}  {site.value}\n")
    for verdict in failed:
        sys.stdout.write(f"seed {verdict.seed}: {'; '.join(verdict.wrong)}\n")
    sys.stdout.write(f"{seeds} seeds, {len(failed)} went wrong\n")
    return 1 if failed else 0


def show(verdict: Verdict) -> int:
    lines = [*verdict.log, *(f"met {site}: {times}" for site, times in verdict.met.items())]
    lines += [f"WRONG: {text}" for text in verdict.wrong]
    sys.stdout.write("\n".join([*lines, f"digest {verdict.digest}"]) + "\n")
    return 1 if verdict.wrong else 0
