"""Tables of signatures: they agree with the sources, and a module is imported when an operator of it is looked up."""

import json
import subprocess
import sys
from inspect import Parameter
from pathlib import Path

import attrs
import pytest

from opdefs.onnx.conv import conv
from shapeinf.errors import OpDefError, StaleTableError
from shapeinf.ops import Dialect, Rule, SignatureTable, default_registry
from shapeinf.ops.signatures import checksum

ROOT = Path(__file__).resolve().parent.parent
DIALECTS = ("nnef", "onnx", "pnnx", "tf")


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300)


def is_compiled(defined):
    """Whether mypyc has compiled a function or class, which then has no annotations and defaults to inspect."""
    return not sys.modules[defined.__module__].__file__.endswith(".py")


@pytest.mark.skipif(is_compiled(conv), reason="the signatures are read from sources that are not compiled")
def test_the_tables_are_not_stale():
    checked = run("tools/make_signatures.py", "--check")
    assert checked.returncode == 0, f"run: python tools/make_signatures.py\n{checked.stdout}{checked.stderr}"


@pytest.mark.parametrize("name", DIALECTS)
def test_a_rule_of_a_table_is_the_inspected_one(name):
    dialect = default_registry().dialect(name)
    different, count = [], 0
    for domain, op, since in dialect.signatures:
        rule = dialect.lookup(domain, op, since).rule
        if any(map(is_compiled, (rule.function, *rule.groups.values()))):
            continue
        inspected = Rule.from_function(rule.function)
        for field in attrs.fields(Rule):
            values = [getattr(r, field.name) for r in (rule, inspected)]
            same_types = field.name != "attributes" or repr(values[0]) == repr(values[1])  # 1 == True == 1.0
            if values[0] != values[1] or not same_types:
                different.append((domain, op, since, field.name, *values))
        count += 1
    assert different == []
    assert count > (200 if name != "onnx" or not is_compiled(conv) else 0)


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


BASE = (
    "from shapeinf.ops import Dialect, SignatureTable\ntoy = Dialect('toy', signatures=SignatureTable('toy_package'))\n"
)
RULES = """
from toy_package.base import toy

@toy("Same", "Alike", since=3)
def same(c, x, *, axis: int = 1):
    return x
"""
TABLE = """# a comment

[toy_package.rules]
Same@3 Alike@3\t{"function": "same", "crc": CRC, "inputs": ["x"], "attributes": {"axis": ["int", 2]}}
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
    """A package with a table whose default is another one than that of the source, to tell which of them is used."""

    def write(rules=RULES, table=TABLE, crc=None):
        folder = tmp_path / "toy_package"
        folder.mkdir()
        crc = checksum(defined(SAME)) if crc is None else crc
        texts = {
            "__init__.py": "",
            "base.py": BASE,
            "rules.py": rules,
            "signatures.txt": table.replace("CRC", json.dumps(crc)),
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
    assert (rule.attributes, rule.kinds, rule.raw) == ({"axis": 2}, {"axis": "int"}, False)


def test_a_changed_signature_is_inspected(package):
    rule = package(crc="00000000").lookup("", "Same", 3).rule
    assert rule.attributes == {"axis": 1}


MORE = RULES + '\n@toy("More")\ndef more(c, x):\n    return x\n'
LESS = RULES.replace(', "Alike"', "")


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        (MORE, "the table of signatures has no rule for .More since version 1"),
        (LESS, "toy_package.rules has no rule for .Alike since version 3"),
        (RULES.replace("since=3", "since=4"), "toy_package.rules has no rule for .Same since version 3"),
    ],
)
def test_a_module_registers_what_its_table_has(package, rules, problem):
    with pytest.raises(StaleTableError) as error:
        package(rules).lookup("", "Same", 3)
    assert str(error.value) == f"{problem}; run: python tools/make_signatures.py"


def test_a_cost_rule_may_stand_next_to_its_operator(package):
    toy = package(RULES + '\n@toy.cost("Same")\ndef cost_of_same(c):\n    raise NotImplementedError\n')
    assert "toy_package.rules" not in sys.modules
    assert toy.cost_rule("", "Other", 3) is None
    assert toy.cost_rule("", "Same", 3).__name__ == "cost_of_same"


def test_rules_of_others_are_added_to_those_of_a_table(package):
    toy = package()
    toy("Same", since=7)(defined(SAME))
    toy("Own")(defined(SAME))
    assert list(toy) == [("", "Alike", 3), ("", "Own", 1), ("", "Same", 3), ("", "Same", 7)]
    defaults = {
        (name, version): toy.lookup("", name, version).rule.attributes["axis"]
        for name, version in [("Same", 3), ("Same", 7), ("Own", 1)]
    }
    assert defaults == {("Same", 3): 2, ("Same", 7): 1, ("Own", 1): 1}


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


def test_a_required_attribute_has_no_default(package):
    table = TABLE.replace('["int", 2]', '["int"]')
    assert package(table=table).lookup("", "Same", 3).rule.attributes["axis"] is Parameter.empty


def test_without_packages_a_table_is_empty():
    dialect = Dialect("toy")
    assert list(SignatureTable()) == list(dialect) == []
