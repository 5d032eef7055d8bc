"""The memory of this process."""

import resource
from pathlib import Path


def peak_resident_kib() -> int:
    """The largest resident set of this program so far.

    Linux hands `ru_maxrss` of the parent down to the programs that it starts, so it is only asked where there is no
    `/proc`: there a parent that once was larger than a limit would fail all of its children.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1])
