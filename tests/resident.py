"""The memory of this process."""

import resource
from pathlib import Path


def peak_resident_kib() -> int:
    """The largest resident set of this program so far.

    Linux passes `ru_maxrss` on to the programs that a process starts, so that a parent that once exceeded a limit would
    fail all of its children: it is used only where there is no `/proc`.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1])
