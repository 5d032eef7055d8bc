"""The table of ONNX's operators agrees with the installed `onnx.defs`, which is imported only where it is needed."""

import json
import subprocess
import sys
from pathlib import Path

import attrs
import onnx
import onnx.defs
import pytest

from opdefs.onnx import installed, schemas
from opdefs.onnx.schema_table import FILE, SchemaTable, TypeSets, arg_text, op_def_text
from shapeinf.ops import ArgDef, OpDef

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = {(d.domain, d.name, d.since): d for d in map(installed.op_def, installed.all_schemas())}
STALE = "run: python tools/make_onnx_schemas.py"


def fields(op_def):
    """The fields of an OpDef; of a function that there is one."""
    values = {field.name: getattr(op_def, field.name) for field in attrs.fields(OpDef)}
    return values | {"expand": op_def.expand is not None}


def test_the_table_and_the_installed_onnx_agree():
    """On every schema that both have: the installed onnx may be older or newer."""
    common = [key for key in schemas.ONNX if key in INSTALLED]
    assert len(common) > 500
    different = {
        key: schemas.ONNX.find(*key) for key in common if fields(schemas.ONNX.find(*key)) != fields(INSTALLED[key])
    }
    assert not different, STALE


def test_the_table_of_this_onnx_is_complete():
    if f"onnx {onnx.__version__};" not in (ROOT / "opdefs" / "onnx" / FILE).read_text(encoding="utf-8"):
        pytest.skip(f"the table was made with another onnx than the installed {onnx.__version__}")
    assert set(schemas.ONNX) == INSTALLED.keys(), STALE
    domains = {domain for domain, _, _ in INSTALLED}
    assert {d: schemas.ONNX.newest(d) for d in domains} == {d: installed.newest(d) for d in domains}, STALE


def test_of_each_version_the_schema_in_force():
    for (domain, name, since), op_def in INSTALLED.items():
        if since <= schemas.ONNX.newest(domain):
            for version in (since, since + 1):
                force = onnx.defs.get_schema(name, min(version, installed.newest(domain)), domain)
                assert schemas.schema(domain, name, version).since == force.since_version
            assert fields(schemas.schema(domain, name, since)) == fields(op_def)
    assert schemas.schema("", "Conv", 0).since == onnx.defs.get_schema("Conv").since_version
    assert schemas.schema("", "LayerNormalization", 16) is None, "since version 17"
    assert schemas.schema("", "Convolution", 17) is schemas.schema("com.example", "Conv", 1) is None


@pytest.mark.parametrize("package", ["opdefs.onnx", "opdefs.microsoft"])
def test_what_is_written_is_read(package):
    table = SchemaTable(package)
    lines = (ROOT.joinpath(*package.split(".")) / FILE).read_text(encoding="utf-8").splitlines()
    type_sets = TypeSets()
    written = [op_def_text(table.find(*key), type_sets) for key in table]
    texts = [line if line[0].isdigit() else line.partition("\t")[2] for line in lines if "\t" in line]
    assert type_sets.lines()[1:] + written == texts


@pytest.mark.parametrize(
    "arg",
    [
        ArgDef("x", type_list_attr="T"),
        ArgDef("x", type="int64", type_attr="T"),
        ArgDef("x", variadic=True, least=2),
        ArgDef("x", kind="map"),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_not_written(arg):
    with pytest.raises(ValueError, match="has no text for ArgDef"):
        arg_text(arg)


def test_a_newer_onnx_is_asked(monkeypatch):
    """The table is made as old as that of opset 16, without the operators and domains that are newer."""
    table = SchemaTable("opdefs.onnx")
    assert table.newest("") >= 17
    old = {key: {s: text for s, text in versions.items() if s <= 16} for key, versions in table._operators.items()}
    monkeypatch.setattr(
        table, "_operators", {key: versions for key, versions in old.items() if versions and not key[0]}
    )
    monkeypatch.setattr(table, "_newest", {"": 16})
    monkeypatch.setattr(schemas, "ONNX", table)
    schemas.schema.cache_clear()
    try:
        lookups = {
            ("", "LayerNormalization", 17): 17,
            ("", "LayerNormalization", 999): 17,
            ("", "Conv", 16): 11,
            ("ai.onnx.ml", "LabelEncoder", 3): 2,
        }
        assert {key: schemas.schema(*key).since for key in lookups} == lookups
        assert schemas.schema("", "Convolution", 17) is None
    finally:
        schemas.schema.cache_clear()


def test_functions_of_another_onnx_are_unknown():
    """A function of a version that the installed onnx does not have has no graph."""
    from opdefs.onnx.functions import expand_function

    assert expand_function(("", "LayerNormalization", 16), {}, [], 1) is None
    assert expand_function(("", "LayerNormalisation", 17), {}, [], 1) is None
    assert expand_function(("", "Conv", 11), {}, [], 1) is None


CHILD = """
import json, sys
from shapeinf.ops import default_registry
dialect = default_registry().dialect("onnx")
keys = [("", "Conv", 11), ("", "Celu", 12), ("", "Other", 17), ("com.microsoft", "Gelu", 1)]
op_defs = [dialect.lookup(*key) for key in keys]
definitions = [d and [d.since, d.rule is not None, d.expand is not None] for d in op_defs]
print(json.dumps([definitions, "onnx.defs" in sys.modules]))
"""


def test_onnx_is_not_imported():
    completed = subprocess.run([sys.executable, "-c", CHILD], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert completed.returncode == 0, completed.stderr
    assert json.loads(completed.stdout) == [[[11, True, False], [12, True, True], None, [1, True, False]], False]


def test_schemas_that_users_register():
    """They are those of `onnx.defs`, as before they have a function that inference can expand."""
    parameter = onnx.defs.OpSchema.FormalParameter
    schema = onnx.defs.OpSchema(
        "Halve",
        "com.example.halves",
        1,
        inputs=[parameter("x", "tensor(float)")],
        outputs=[parameter("y", "tensor(float)")],
    )
    onnx.defs.register_schema(schema)
    try:
        op_def = schemas.schema("com.example.halves", "Halve", 1)
        assert (op_def.inputs, op_def.outputs) == ((ArgDef("x", type="float32"),), (ArgDef("y", type="float32"),))
    finally:
        onnx.defs.deregister_schema("Halve", 1, "com.example.halves")
        schemas.schema.cache_clear()
