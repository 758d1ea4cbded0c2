"""What this process has used: CPU, memory. From the kernel's own accounts, so that a busy machine changes little."""

from __future__ import annotations

import resource
from pathlib import Path


def cpu_seconds() -> float:
    """Of all threads of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def pss_mb() -> float:
    """Memory, with what is shared divided by those who share it."""
    return _kilobytes("smaps_rollup", "Pss:") / 1024


def rss_mb() -> float:
    """Resident memory now."""
    return _kilobytes("status", "VmRSS:") / 1024


def peak_rss_mb() -> float:
    """The most resident memory since `forget_peak`, or since the beginning."""
    return _kilobytes("status", "VmHWM:") / 1024


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _kilobytes(file: str, field: str) -> int:
    for line in Path("/proc/self", file).read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise LookupError(f"{file} has no {field}")


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]
