"""The machine a figure was measured on, in words."""

import os
import platform
import re
from pathlib import Path


def describe() -> str:
    """One paragraph: processor, cores, memory, Python, kernel; no host name, no path."""
    return (
        f"{cpu_model()}, {usable_cores()} cores usable, {memory_gib():.1f} GiB of memory; "
        f"{platform.python_implementation()} {platform.python_version()} "
        f"on {platform.system()} {kernel_version()} ({platform.machine()})."
    )


def cpu_model() -> str:
    """The processor's own name for itself, or its architecture where it gives none (ARM)."""
    found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def usable_cores() -> int:
    """The cores this process may run on, which in a container can be fewer than exist."""
    return len(os.sched_getaffinity(0))


def memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def kernel_version() -> str:
    """The numbers alone: what distributors and clouds append may name the place."""
    found = re.match(r"[\d.]*\d", platform.release())
    return found[0] if found else "unknown"


if __name__ == "__main__":
    print(describe())
