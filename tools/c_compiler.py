"""Whether this machine can compile extension modules of this Python: a C compiler, and Python's header.

    python tools/c_compiler.py

Prints what is missing, and exits with 1 then. `setup.py` asks before it compiles shapeinf. Only the standard library.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile

SOURCE = "#include <Python.h>\nint main(void) { return 0; }\n"


def missing() -> str | None:
    """What is missing to compile a module, as a sentence; None where nothing is, and on Windows, which is not tried."""
    if sys.platform == "win32":  # setuptools itself finds the compiler
        return None
    command = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    include = sysconfig.get_paths()["include"]
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "empty.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(SOURCE)
        options = ["-I", include, "-c", source, "-o", os.path.join(folder, "empty.o")]
        try:
            done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        except OSError:
            return f"no C compiler: {command[0]} cannot be run (CC selects another one; Debian's package is gcc)"
    if done.returncode == 0:
        return None
    if not os.path.isfile(os.path.join(include, "Python.h")):
        return f"no Python.h in {include}: install the headers of this Python (Debian's package is python3-dev)"
    return f"the C compiler {command[0]} does not compile an empty program:\n{done.stderr}"


if __name__ == "__main__":
    reason = missing()
    sys.exit(f"error: shapeinf cannot be compiled: {reason}" if reason else 0)
