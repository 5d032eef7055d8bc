"""Record what TensorFlow refuses of a sample of operators: `python -m tests.differential.tf.record_definitions`.

The records are [operator, what is broken, the GraphDef in base64, whether TensorFlow refuses to import it].
"""

from __future__ import annotations

import base64
import gzip
import json
import random

from tests.differential.tf.record import RECORDED

PATH = RECORDED / "definitions.json.gz"
SAMPLE = 60


def read():
    """The recorded cases."""
    for op, broken, graph, is_refused in json.loads(gzip.decompress(PATH.read_bytes())):
        yield op, broken, base64.b64decode(graph), is_refused


def judged(op_def):
    """The cases of an operator with TensorFlow's answers; none where it refuses the case that should be right."""
    from tests.differential.tf.definition_cases import cases, refused

    for case in cases(op_def):
        reason = refused(case.graph)
        if reason and not case.broken:
            return
        yield case, reason


def main():
    from tests.differential.tf.definition_cases import op_defs

    listed = op_defs()
    records = [
        (case.op, case.broken, base64.b64encode(case.graph).decode(), bool(reason))
        for name in sorted(random.Random(30).sample(sorted(listed), SAMPLE))
        for case, reason in judged(listed[name])
    ]
    PATH.write_bytes(gzip.compress(json.dumps(records, separators=(",", ":")).encode(), mtime=0))


if __name__ == "__main__":
    main()
