"""Write the kernels that were measured, and those that were not, into `docs/dev/onnxruntime-kernels.md`.

    python tools/make_kernel_table.py

The kernels are those of the installed onnxruntime, for processors.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from onnxruntime.capi import onnxruntime_pybind11_state as onnxruntime

from shapeinf.memory.runtimes.kernels import RuntimeKernels, find_kernels
from shapeinf.ops import default_registry

PAGE = Path(__file__).resolve().parent.parent / "docs" / "dev" / "onnxruntime-kernels.md"
BEGIN, END = "<!-- kernels: made by tools/make_kernel_table.py -->", "<!-- end of kernels -->"
WIDTH = 120
BODIES = "If Loop Scan ConcatFromSequence SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert"
OTHERS = ("SequenceLength", "SplitToSequence", "MemcpyFromHost", "MemcpyToHost")
ELSEWHERE = {("", name) for name in (*BODIES.split(), *OTHERS)}
"""Operators with bodies and sequences, which are not kernels with temporaries, and copies between devices."""


def main() -> int:
    PAGE.write_text(new_page(), encoding="utf-8")
    print(f"the lists are in {PAGE.name}")
    return 0


def new_page() -> str:
    """The page with the lists of today."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{lists()}\n{END}{after}"


def lists() -> str:
    """The operators by domain: measured, replaced by the session, and not measured."""
    kernels = find_kernels(default_registry().dialect("onnx"), "onnxruntime")
    assert kernels is not None
    return "\n\n".join(paragraphs(kernels))


def paragraphs(kernels: RuntimeKernels) -> Iterator[str]:
    listed = onnxruntime.get_all_opkernel_def()
    installed = {(k.domain, k.op_name) for k in listed if k.provider == "CPUExecutionProvider"}
    measured = kernels.measured()
    missing = installed - measured - kernels.replaced() - ELSEWHERE
    for title, operators in (
        (f"**Measured** ({len(measured)})", measured),
        (f"**Replaced by the session** ({len(kernels.replaced())})", kernels.replaced()),
        (f"**Not measured** ({len(missing)})", missing),
    ):
        for domain in sorted({domain for domain, _ in operators}):
            names = ", ".join(sorted(name for other, name in operators if other == domain))
            yield textwrap.fill(f"{title}, `{domain or 'ai.onnx'}`: {names}", WIDTH, break_long_words=False)


if __name__ == "__main__":
    sys.exit(main())
