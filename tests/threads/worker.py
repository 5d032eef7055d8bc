"""A process in which several threads start at once; prints how their results differ from those of a single thread.

`python worker.py first|shared INTERVAL MODEL...`: with "first" each thread infers the models, with "shared"
all threads query the same results.
"""

import json
import sys
import threading
import traceback

THREADS = 8


def main(mode, interval, *models):
    sys.setswitchinterval(float(interval))
    if mode == "first":
        per_thread = run_at_once(
            lambda number: [infer_model(models[(number + i) % len(models)]) for i in range(len(models))]
        )
        per_thread = [dict(each) if isinstance(each, list) else each for each in per_thread]
        expected = dict(map(infer_model, models))
    else:
        results = [infer_shapes_of(model) for model in models]
        per_thread = run_at_once(lambda number: [query_all(result, number) for result in results])
        expected = [query_all(infer_shapes_of(model), 0) for model in models]
    print(json.dumps([difference(each, expected) for each in per_thread if each != expected]))


def run_at_once(work):
    """The results of `work` in several threads that start together; an error as its traceback."""
    results = [None] * THREADS
    start = threading.Barrier(THREADS)

    def run(number):
        start.wait()
        try:
            results[number] = work(number)
        except BaseException:
            results[number] = traceback.format_exc()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def infer_shapes_of(model):
    from shapeinf import infer_shapes  # also the import is a first use

    return infer_shapes(model)


def infer_model(model):
    result = infer_shapes_of(model)
    tensors = {name: str(info) for name, info in result.tensors.items()}
    return model, [
        tensors,
        str(result.contract),
        [str(diagnostic) for diagnostic in result.diagnostics],
        result.coverage.known,
    ]


def query_all(result, start):
    """The results of all read-only queries, by name; threads start with different queries."""
    sizes = {name: 4 for name in result.program().inputs}
    last = result.graph.outputs[-1]
    queries = {
        "tensors": lambda: {name: str(info) for name, info in result.tensors.items()},
        "diagnostics": lambda: [str(item) for item in result.diagnostics],
        "coverage": lambda: str(result.coverage),
        "unknowns": lambda: [str(item) for item in result.unknowns()],
        "intervals": lambda: [str(result.interval(dim)) for dim in result.tensors[last].shape],
        "sums": lambda: [str(dim * 3 + dim // 5) for dim in result.tensors[last].shape],
        "explain": lambda: result.explain(last, 0),
        "contract": lambda: [str(item) for item in result.contract],
        "check": lambda: [str(result.contract.check({**sizes, name: 5})) for name in sizes],
        "solve": lambda: [str(result.contract.solve(name, range(1, 9))) for name in sizes],
        "smaller": lambda: str(result.without_assumptions(dict.fromkeys(sizes, 0)).tensors[last]),
        "memory": lambda: str(result.memory(aliases=True).activations),
        "peak": lambda: str(result.memory().peak),
        "peak.at": lambda: str(result.memory().peak.at(sizes)),
        "plan": lambda: result.memory(order="least").plan(sizes).arena,
        "program": lambda: result.program()(sizes)[last].tolist(),
        "bytes": lambda: result.program().masked(sizes).total_bytes.tolist(),
    }
    names = sorted(queries)
    return {name: run_query(queries[name]) for name in names[start:] + names[:start]}


def run_query(query):
    from shapeinf import ShapeInferenceError

    try:
        return query()
    except ShapeInferenceError as error:
        return f"{type(error).__name__}: {error}"


def difference(actual, expected):
    """The unexpected parts, in short."""
    if isinstance(actual, list):
        actual, expected = (dict(enumerate(side)) for side in (actual, expected))
    if not isinstance(actual, dict):
        return str(actual) if actual != expected else None
    return {str(key): difference(actual[key], expected[key]) for key in expected if actual[key] != expected[key]}


if __name__ == "__main__":
    main(*sys.argv[1:])
