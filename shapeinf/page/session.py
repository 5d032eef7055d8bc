"""The model that a reader of the page opened: its report, explanations, and its annotated copy.

The worker of the page calls it through `answer`. All that it needs is a file system, so it is tested without a browser.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from importlib.util import find_spec

import attrs

from shapeinf.api import infer
from shapeinf.checks import check
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.declarations import only_compares_declarations
from shapeinf.errors import ShapeError, ShapeInferenceError, UnknownNameError
from shapeinf.formats import FORMATS
from shapeinf.formats.files import copy_name
from shapeinf.inputs.options import InferenceOptions
from shapeinf.memory import Memory
from shapeinf.page.uploads import list_models
from shapeinf.report.explanations import explain_tensor, explanation_lines
from shapeinf.report.live import render_report
from shapeinf.result import Result

Listener = Callable[[str, int, int], None]
"""Called with a phase, and how much of how much of it is done; a total of 0 means that it is not known."""

OPTIONAL = {
    "islpy": "decides more conditions of the contract; without it, more of them are open",
    "onnx": "checks the annotated model once more, and reads and writes the text forms of ONNX",
}
"""What packages add that a page may not have."""

STEP = 64
"""Nodes between two reports of progress."""


@attrs.frozen
class OpenedModel:
    """A model with all that the page shows of it.

    Args:
        path: its file or folder.
        result: the inference.
        diagnostics: the findings of `check`, which include those of the inference.
        memory: its memory.
    """

    path: str
    result: Result
    diagnostics: list[Diagnostic]
    memory: Memory


class PageSession:
    """Opens the models of a folder that holds what was dropped.

    >>> session = PageSession("examples", "/nowhere", lambda phase, done, total: None)
    >>> session.open("examples/convnet.onnx")
    >>> session.explain(0, 0)
    ['image.shape[0] = batch, declared by an input']
    >>> session.copy_name
    'convnet-shapes.onnx'
    """

    def __init__(self, folder: str, unpacked: str, listener: Listener) -> None:
        """An archive in `folder` is unpacked into `unpacked`."""
        self._folder = folder
        self._unpacked = unpacked
        self._listener = listener
        self._opened: OpenedModel | None = None

    def models(self) -> list[str]:
        """The paths of the models; the folder that they are relative to becomes the working directory.

        So messages have the names that the reader knows. Raises as `list_models` does.
        """
        self._listener("read", 0, 0)
        root, paths = list_models(self._folder, self._unpacked)
        os.chdir(root)
        return paths

    def open(self, path: str) -> None:
        """Infer a model, check it, and compute its memory. Raises ShapeInferenceError where it cannot be read."""
        options = InferenceOptions(progress=self._progress)
        self._listener("read", 0, 0)
        result = infer(path, options)
        self._listener("check", 0, 0)
        quiet = attrs.evolve(options, progress=None)
        compared = result
        if not only_compares_declarations(result.engine.inference):
            compared = infer(result.graph, attrs.evolve(quiet, declared="check"))
        diagnostics = check(compared, {})
        self._listener("memory", 0, 0)
        self._opened = OpenedModel(path, result, diagnostics, result.memory())

    def _progress(self, done: int, total: int) -> None:
        if done % STEP == 0 or done == total:
            self._listener("infer", done, total)

    @property
    def opened(self) -> OpenedModel:
        """The model that was opened."""
        assert self._opened is not None, "no model is open"
        return self._opened

    def report(self) -> str:
        """The page of `shapeinf report`, without sizes of the user."""
        self._listener("report", 0, 0)
        opened = self.opened
        return render_report(
            opened.result,
            title=opened.path,
            diagnostics=opened.diagnostics,
            memory=opened.memory,
        )

    def summary(self) -> dict[str, object]:
        """What the page shows around the report.

        `title`, the name of the model; `copy`, that of its annotated copy, None where its format is only read;
        `folder`, where the copy is written; `counts` of findings; `missing` packages, each with what it would add.
        """
        opened = self.opened
        severities = [diagnostic.severity for diagnostic in opened.diagnostics]
        missing = {name: text for name, text in OPTIONAL.items() if find_spec(name) is None}
        return {
            "title": opened.path,
            "copy": self.copy_name if self._is_writable else None,
            "folder": self.copy_folder,
            "counts": {severity: severities.count(severity) for severity in ("error", "warning", "note")},
            "missing": missing,
        }

    @property
    def _is_writable(self) -> bool:
        chosen = FORMATS.format_of(self.opened.result.graph)
        return chosen is not None and chosen.write is not None

    def explain(self, tensor: int, axis: int) -> list[str]:
        """Why an axis has its size, as lines; `tensor` is the number of a tensor in the report.

        Of a tensor of unknown rank, why that is.
        """
        name = list(self.opened.result.tensors)[tensor]
        return list(explanation_lines(explain_tensor(self.opened.result, name, axis), every=False))

    @property
    def copy_name(self) -> str:
        """The name of the annotated copy."""
        stem, suffix = os.path.splitext(copy_name(self.opened.path))
        return f"{stem}-shapes{suffix}"

    @property
    def copy_folder(self) -> str:
        """The folder in which the copy refers to the same files of weights; empty where the model is a folder."""
        path = os.path.abspath(self.opened.path)
        return "" if os.path.isdir(path) else os.path.dirname(path)

    def save(self, target: str) -> str:
        """Write the annotated copy to a path, and return the path of its file. Raises ShapeInferenceError."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # files of weights that were not dropped
            self.opened.result.save(target)
        return _only_file(target)


def _only_file(path: str) -> str:
    """A file itself, or the only one in a folder, such as that of a SavedModel."""
    while os.path.isdir(path):
        (name,) = os.listdir(path)
        path = os.path.join(path, name)
    return path


REQUESTS = ("models", "open", "report", "summary", "explain", "save")
"""The methods that the page may call."""


def answer(session: PageSession, request: str, arguments: str) -> str:
    """The JSON of what a method returns, as `value`; `failure` instead where it raises. `arguments` is JSON too.

    >>> session = PageSession("examples", "/nowhere", lambda phase, done, total: None)
    >>> answer(session, "open", '["examples/README.md"]')[:57]
    '{"failure": {"title": "This file cannot be read", "text":'
    """
    if request not in REQUESTS:
        raise UnknownNameError("request", request, REQUESTS)
    try:
        return json.dumps({"value": getattr(session, request)(*json.loads(arguments))})
    except Exception as error:
        title, text = describe_error(error)
        return json.dumps({"failure": {"title": title, "text": text}})


def describe_error(error: Exception) -> tuple[str, str]:
    """An error for the reader: what it is, and what happened; neither contains markup."""
    if isinstance(error, ShapeError):
        return "No sizes are possible", error.headline
    if isinstance(error, MemoryError):
        return "Too large for this browser", f"There is not enough memory. {_ELSEWHERE}"
    if isinstance(error, RecursionError):
        return "Too deep for this browser", f"Its parts are nested too deeply. {_ELSEWHERE}"
    if isinstance(error, (ShapeInferenceError, OSError)):
        return "This file cannot be read", str(error)
    return "This is a bug of shapeinf, not of the model", f"{type(error).__name__}: {error}"


_ELSEWHERE = "Use shapeinf on the command line."
