"""The index of rules agrees with the sources, a module is imported on need, and rules are read from annotations."""

import functools
import importlib
import inspect
import json
import runpy
import subprocess
import sys
import typing
from pathlib import Path
from types import FunctionType

import pytest

from opdefs.onnx.conv import conv
from shapeinf.errors import OpDefError, StaleTableError
from shapeinf.lattice import Shape
from shapeinf.ops import Dialect, Rule, RuleIndex, default_registry
from shapeinf.ops.parameters import (
    REQUIRED,
    Kind,
    annotation_members,
    is_compiled,
    namespace_of,
    parameters,
    source_parameters,
)

ROOT = Path(__file__).resolve().parent.parent
COMPILED = [name for name in runpy.run_path(str(ROOT / "setup.py"))["compiled_modules"]() if name.startswith("opdefs")]
DIALECTS = ("nnef", "onnx", "pnnx", "tf")


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.mark.skipif(is_compiled(conv.__module__), reason="the modules are loaded from sources")
def test_the_tables_are_not_stale():
    checked = run("tools/make_rule_index.py", "--check")
    assert checked.returncode == 0, f"run: python tools/make_rule_index.py\n{checked.stdout}{checked.stderr}"


def inspected_parameters(function):
    """As Python's own inspection reads them."""
    hints = typing.get_type_hints(function, include_extras=True)
    kinds = {inspect.Parameter.VAR_POSITIONAL: Kind.VARIADIC, inspect.Parameter.KEYWORD_ONLY: Kind.ATTRIBUTE}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        hint = hints.get(parameter.name, "")
        members = () if hint == "" else annotation_members(hint, {})
        yield parameter.name, kinds.get(parameter.kind, Kind.INPUT), members, repr(parameter.default)


def read_parameters(function):
    for name, kind, annotation, default in parameters(function):
        members = annotation_members(annotation, namespace_of(function)) if annotation else ()
        yield name, kind, members, repr(default)


@pytest.mark.parametrize("name", DIALECTS)
def test_the_parameters_of_rules_are_those_of_inspection(name):
    dialect = default_registry().dialect(name)
    functions = {dialect.lookup(*key).rule.function for key in dialect.rule_index}
    functions = {function for function in functions if not is_compiled(function.__module__)}
    different = [f.__qualname__ for f in functions if [*read_parameters(f)] != [*inspected_parameters(f)]]
    assert different == []
    assert len(functions) > (100 if name != "onnx" or not is_compiled(conv.__module__) else 0)


@pytest.mark.parametrize("path", COMPILED)
def test_the_source_of_a_rule_states_the_same_parameters(path):
    """A compiled build reads them from there."""
    listed = source_parameters((ROOT / path).read_text(encoding="utf-8"))
    defined = vars(importlib.import_module(path.removesuffix(".py").replace("/", ".")))
    for name, entries in listed.items():
        if type(defined.get(name)) is FunctionType and entries[:1] and entries[0][1] is Kind.INPUT.value:
            expected = [tuple(p) if p.default is not REQUIRED else tuple(p[:3]) for p in parameters(defined[name])]
            assert entries[1:] == expected


def compiled_name(name):
    """The name of a function inside of another as mypyc has it."""
    outer, _, inner = name.partition(".<locals>.")
    return f"{inner}_{outer}_obj" if inner else outer


@pytest.mark.skipif(is_compiled(conv.__module__), reason="the rules are loaded from sources")
def test_the_sources_of_compiled_modules_have_all_of_their_rules():
    dialect = default_registry().dialect("onnx")
    modules = {path.removesuffix(".py").replace("/", "."): path for path in COMPILED}
    listed = {name: source_parameters((ROOT / path).read_text(encoding="utf-8")) for name, path in modules.items()}
    functions = [dialect.lookup(*key).rule.function for key in dialect.rule_index]
    rules = [f for f in functions if f.__module__ in modules]
    names = {f: compiled_name(f.__qualname__) for f in rules}
    assert [name for f, name in names.items() if name not in listed[f.__module__]] == []
    assert len(rules) > 50


def test_the_annotations_of_a_wrapped_function_have_the_names_of_its_module():
    """The wrapper is of another module."""

    @functools.wraps(conv)
    def wrapper(*args, **kwargs):
        return conv(*args, **kwargs)

    namespace = {"conv": conv}
    elsewhere = functools.wraps(conv)(FunctionType(wrapper.__code__, namespace, closure=wrapper.__closure__))
    assert Rule.from_function(elsewhere).params == Rule.from_function(conv).params
    assert Rule.from_function(elsewhere).groups == Rule.from_function(conv).groups


def test_the_parameters_of_a_wrapped_function():
    def rule(c, x: Shape | None, *, axis: int = 1):
        return x

    @functools.wraps(rule)
    def wrapper(*args, **kwargs):
        return rule(*args, **kwargs)

    assert Rule.from_function(wrapper).attributes == {"axis": 1}
    assert Rule.from_function(wrapper).params == Rule.from_function(rule).params


FAMILIES = """
import sys, json
from shapeinf import infer_shapes
result = infer_shapes("examples/decoder.onnx")
assert str(result.tensors), "shapes"
print(json.dumps([name for name in sys.modules if name.startswith("opdefs.")]))
"""


def test_a_model_imports_the_families_of_its_operators():
    completed = run("-c", FAMILIES)
    assert completed.returncode == 0, completed.stderr
    imported = json.loads(completed.stdout)
    assert {"opdefs.onnx.elementwise", "opdefs.onnx.contraction"} <= {*imported}
    own = {"opdefs.onnx", "opdefs.onnx.dialect", "opdefs.onnx.schemas", "opdefs.microsoft.dialect"}
    families = {name for name in imported if name.startswith(("opdefs.onnx.", "opdefs.microsoft."))} - own
    unused = {"attention", "conv", "ml", "recurrent", "signal", "text", "training", "vision"}
    assert families.isdisjoint(f"opdefs.onnx.{name}" for name in unused)
    assert not [name for name in imported if name.startswith(("opdefs.tf", "opdefs.nnef", "opdefs.pnnx"))]


BASE = "from shapeinf.ops import Dialect, RuleIndex\ntoy = Dialect('toy', rule_index=RuleIndex('toy_package'))\n"
RULES = """
from toy_package.base import toy

@toy("Same", "Alike", since=3)
def same(c, x, *, axis: int = 1):
    return x
"""
TABLE = """# a comment

[toy_package.rules]
Same@3 Alike@3
"""
SAME = """
def same(c, x, *, axis: int = 1):
    return x
"""


def defined(source):
    namespace = {}
    exec(source, namespace)
    return namespace["same"]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of one module, with an index."""

    def write(rules=RULES):
        folder = tmp_path / "toy_package"
        folder.mkdir()
        texts = {
            "__init__.py": "",
            "base.py": BASE,
            "rules.py": rules,
            "rules.txt": TABLE,
        }
        for name, text in texts.items():
            (folder / name).write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        from toy_package.base import toy

        return toy

    yield write
    for name in [name for name in sys.modules if name.startswith("toy_package")]:
        del sys.modules[name]


def test_the_table_answers_before_the_module_is_imported(package):
    toy = package()
    assert list(toy) == [("", "Alike", 3), ("", "Same", 3)]
    assert (toy.has_rule("", "Same"), toy.has_rule("", "Other"), toy.has_rule("x", "Same")) == (True, False, False)
    assert toy.lookup("", "Other", 3) is None
    assert "toy_package.rules" not in sys.modules
    assert toy.lookup("", "Same", 2) is None, "since version 3"
    rule = toy.lookup("", "Same", 4).rule
    assert rule is toy.lookup("", "Alike", 3).rule
    assert (rule.attributes, rule.kinds, rule.raw) == ({"axis": 1}, {"axis": "int"}, False)


MORE = RULES + '\n@toy("More")\ndef more(c, x):\n    return x\n'
LESS = RULES.replace(', "Alike"', "")


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        (MORE, "the index of rules has no rule for .More since version 1"),
        (LESS, "toy_package.rules has no rule for .Alike since version 3"),
        (RULES.replace("since=3", "since=4"), "toy_package.rules has no rule for .Same since version 3"),
    ],
)
def test_a_module_registers_what_its_table_has(package, rules, problem):
    with pytest.raises(StaleTableError) as error:
        package(rules).lookup("", "Same", 3)
    assert str(error.value) == f"{problem}; run: python tools/make_rule_index.py"


def test_a_cost_rule_may_stand_next_to_its_operator(package):
    toy = package(RULES + '\n@toy.cost("Same")\ndef cost_of_same(c):\n    raise NotImplementedError\n')
    assert "toy_package.rules" not in sys.modules
    assert toy.cost_rule("", "Other", 3) is None
    assert toy.cost_rule("", "Same", 3).__name__ == "cost_of_same"


def test_rules_of_others_are_added_to_those_of_a_table(package):
    toy = package()
    toy("Same", since=7)(defined(SAME.replace("1", "2")))
    toy("Own")(defined(SAME))
    assert list(toy) == [("", "Alike", 3), ("", "Own", 1), ("", "Same", 3), ("", "Same", 7)]
    defaults = {
        (name, version): toy.lookup("", name, version).rule.attributes["axis"]
        for name, version in [("Same", 3), ("Same", 7), ("Own", 1)]
    }
    assert defaults == {("Same", 3): 1, ("Same", 7): 2, ("Own", 1): 1}


@pytest.mark.parametrize("looked_up_before", [False, True])
def test_a_second_rule_for_a_version_of_the_table_is_an_error(package, looked_up_before):
    toy = package()
    if looked_up_before:
        toy.lookup("", "Same", 3)
    with pytest.raises(OpDefError, match=r"toy has two rules for \.Same since version 3"):
        toy("Same", since=3)(defined(SAME))


def test_a_module_is_reloaded(package):
    import importlib

    toy = package()
    first = toy.lookup("", "Same", 3)
    importlib.reload(sys.modules["toy_package.rules"])
    assert toy.lookup("", "Same", 3).rule.function is not first.rule.function


def test_without_packages_a_table_is_empty():
    dialect = Dialect("toy")
    assert list(RuleIndex()) == list(dialect) == []
