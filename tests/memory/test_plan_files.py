"""minimalloc's CSV and shapeinf's JSON: written plans read back, invalid files are rejected with the position."""

from __future__ import annotations

import contextlib
import csv
import json

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapeinf.errors import LimitError, PlanError, PlanFileError
from shapeinf.memory.planning import (
    Plan,
    Problem,
    Request,
    Slot,
    Unplaced,
    from_json,
    greedy_by_size,
    load_plan,
    load_problem,
    plan_from_csv,
    problem_from_csv,
    save_plan,
    to_csv,
)
from shapeinf.memory.planning import files as plan_files
from shapeinf.schemas import to_json
from tests.memory.planning_cases import problems

NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=8)
SMALL = st.integers(0, 2**62 - 1)


@st.composite
def plans(draw):
    slots = []
    for name in draw(st.lists(NAMES, unique=True, max_size=6)):
        lower, length, size, offset = draw(st.tuples(SMALL, st.integers(1, 9), SMALL, SMALL))
        slots.append(Slot(name, lower, lower + length, size, offset))
    return Plan(slots, max((s.top for s in slots), default=0))


@given(plans())
def test_a_plan_reads_back(plan):
    assert plan_from_csv(to_csv(plan)) == plan
    assert from_json(json.loads(json.dumps(to_json(plan)))) == plan


@given(problems())
def test_a_problem_reads_back(problem):
    assert problem_from_csv(to_csv(problem), problem.alignment) == problem


@given(st.text(max_size=60) | st.text("id,lowerupsz0123456789-\n\r\"' ", max_size=60))
def test_any_text_is_read_or_refused(text):
    for read in (problem_from_csv, plan_from_csv):
        for prefix in ("", "id,lower,upper,size,offset\n"):
            with contextlib.suppress(PlanError, LimitError):
                read(prefix + text)


KEYS = ["schema", "slots", "unplaced", "arena", "alignment", "name", "lower", "upper", "size", "offset"]
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["schema", "slots", "unplaced", "arena", "alignment", "name", "lower", "upper", "size", "offset"]
            ),
            inner,
        )
    ),
)


@given(JSONS, st.sampled_from(["slots", "unplaced", "arena", "alignment", "planner", "schema", "slot"]))
def test_any_json_is_read_or_refused(data, where):
    full = to_json(Plan([Slot("x", 0, 2, 100, 0)], 100))
    if where == "slot":
        full["slots"] = [data]
    else:
        full[where] = data
    for document in (data, full):
        with contextlib.suppress(PlanError, LimitError):
            assert isinstance(from_json(document), Plan)


HEAD = "id,lower,upper,size,offset\n"


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ("", 1, "must name the columns"),
        ("\n\n", 1, "must name the columns"),
        ("id,lower,upper\n", 1, "column 'size' is missing"),
        ("id,lower,upper,size,size\n", 1, "column 'size' is duplicated"),
        ("id,lower,upper,size,color\n", 1, "column 'color' is unknown"),
        ("# pool_offset=3\nid,lower,upper,size\n", 1, "is unknown"),
        (HEAD + "x,0,1,4\n", 2, "expected 5 fields, not 4"),
        (HEAD + "x,0,1,4,0\n\ny,0,1,four,0\n", 4, "size must be an int of 64 bits, not 'four'"),
        (HEAD + "x,0,1,4.0,0\n", 2, "size must be an int"),
        (HEAD + "x,0,1,٤,0\n", 2, "size must be an int"),
        (HEAD + "x,0,1," + "9" * 30 + ",0\n", 2, "size must be an int"),
        (HEAD + "x,0,1," + "9" * 100_000 + ",0\n", 2, r"size must be an int.*\.\.\."),
        (HEAD + "x,0,1," + "9" * 200_000 + ",0\n", 2, "not valid CSV"),
        (HEAD + "x,0,1,-4,0\n", 2, "must not be negative"),
        (HEAD + "x,0,1,4,-8\n", 2, "must not be negative"),
        (HEAD + "x,3,3,4,0\n", 2, "empty lifetime"),
        (HEAD + "x,0:1,3,4,0\n", 2, "lower must be an int"),
        (HEAD + ",0,1,4,0\n", 2, "the id is empty"),
        (HEAD + f"x,0,1,{2**63},0\n", 2, "size of 'x' must be an int of 64 bits"),
        (HEAD + f"x,0,1,{2**62},{2**62}\n", 2, "ends at a byte that does not fit 64 bits"),
        (HEAD.replace("id", "i" * 100_000) + "x,0,1,4,0\n", 1, r"^.{1,200}$"),
        (HEAD + "x,0,1,4,\n", 2, "has no offset"),
        ("id,lower,upper,size\nx,0,1,4\n", 2, "has no offset"),
        (HEAD + "x,0,1,4,0\ny,0,1,4,4\nx,2,3,4,0\n", 4, "two buffers have the id 'x', as in line 2"),
        (HEAD + 'x,0,1,4,0\n"y,0,1,4,4\n', 3, "not valid CSV"),
    ],
)
def test_an_invalid_csv_of_a_plan(text, line, cause):
    with pytest.raises(PlanFileError, match=cause) as caught:
        plan_from_csv(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"arena": ' + "9" * 5000 + "}", "too long a number"),
        ("[]", "must be an object, not list"),
        ("{", "not valid JSON: Expecting property name"),
        (json.dumps({**to_json(Plan([], 0)), "arena": 2**63}), "an int of 64 bits"),
        (json.dumps({**to_json(Plan([], 0)), "arena": [1] * 100_000}), "an int of 64 bits"),
        (json.dumps({**to_json(Plan([], 0)), "alignment": -(10**300)}), "an alignment must be an int"),
    ],
)
def test_errors_of_an_invalid_json_are_short(tmp_path, text, cause):
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(PlanError, match=cause) as caught:
        load_plan(path)
    assert len(str(caught.value)) < len(str(path)) + 200
    assert "sys." not in str(caught.value)


def test_columns_in_any_order_and_omnimallocs_kind():
    plan = plan_from_csv("size,kind,offset,id,upper,lower\r\n4,OUTPUT,8,x,2,1\r\n", 8)
    assert plan == Plan([Slot("x", 1, 2, 4, 8)], 12, 8)


def test_a_problem_may_have_offsets_that_are_not_there():
    assert problem_from_csv("id,lower,upper,size,offset\nx,0,1,4,\n").requests == (Request("x", 0, 1, 4),)


def test_too_many_buffers(monkeypatch):
    lines = "".join(f"{i},0,1,4,0\n" for i in range(200_001))
    with pytest.raises(LimitError, match="more buffers than"):
        plan_from_csv(HEAD + lines)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"schema": "shapeinf.plan/2"}, "schema"),
        ({"slots": None}, "list `slots`"),
        ({"slots": [{}]}, r"slots\[0\]: `name` must be a text"),
        ({"slots": [{"name": "x", "lower": 0, "upper": 1, "size": "4", "offset": 0}]}, "size of 'x' must be an int"),
        ({"slots": [{"name": "x", "lower": 0, "upper": 1, "size": 4}]}, "offset of 'x' must be an int"),
        ({"slots": [{"name": "x", "lower": 0, "upper": 1, "size": 4, "offset": 0}] * 2}, r"slots\[1\]: two slots"),
        ({"unplaced": [{"name": "x"}]}, r"unplaced\[0\]: `cause` must be a text"),
        ({"arena": -1}, "arena"),
        ({"arena": True}, "arena"),
        ({"alignment": 0}, "alignment"),
        ({"planner": 3}, "planner"),
    ],
)
def test_an_invalid_json_of_a_plan(change, cause):
    with pytest.raises(PlanError, match=cause):
        from_json({**to_json(Plan([], 0)), **change})


def test_files(tmp_path):
    plan = greedy_by_size(Problem([Request("x", 0, 2, 100), Request('ß, "quoted"\n', 1, 3, 50)], 64))
    full = attrs.evolve(plan, unplaced=(Unplaced("y", "its size u0 has no upper bound"),))
    save_plan(full, tmp_path / "plan.json")
    assert load_plan(tmp_path / "plan.json") == full
    save_plan(plan, tmp_path / "plan.csv")
    assert load_plan(tmp_path / "plan.csv", 64).slots == plan.slots
    assert load_problem(tmp_path / "plan.csv", 64) == plan.problem


@pytest.mark.parametrize(
    ("raw", "cause"),
    [
        (b"\xff\xfe", "not valid UTF-8"),
        (b"{", "not (valid|the) JSON"),
        (b'{"schema": ' + b"[" * 200_000, "not (valid|the) JSON"),
        (b'{"arena": ' + b"9" * 10_000 + b"}", "not the JSON|schema"),
        (b"", "must name the columns"),
    ],
)
def test_hostile_files(tmp_path, raw, cause):
    path = tmp_path / "plan"
    path.write_bytes(raw)
    with pytest.raises(PlanError, match=cause) as caught:
        load_plan(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(plan_files, "MAX_FILE_BYTES", 10)
    (tmp_path / "plan.csv").write_text("id,lower,upper,size,offset\n")
    with pytest.raises(LimitError, match="more than 10 bytes"):
        load_plan(tmp_path / "plan.csv")


ODD_NAMES = [
    "a\0b",
    "=1+1",
    "-2",
    "+x",
    "@SUM(1)",
    "\tx",
    "a\rb",
    "a\nb",
    "'x",
    "'=x",
    "'a\\x1b",
    "a\\x1b",
    "=a\\x1b\x1b",
    "\ud800",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_come_back_and_are_no_formulas(name):
    plan = Plan([Slot(name, 0, 1, 1, 0)], 1)
    text = to_csv(plan)
    assert plan_from_csv(text).slots == plan.slots
    (cell, *_) = list(csv.reader(text.splitlines()))[1]
    assert cell.isprintable() and not cell.startswith(tuple("=+-@"))


@pytest.mark.parametrize("name", ["x", "'quoted'", "it's", "a\\b", "'", "'\\q"])
def test_names_of_other_programs_stay(name):
    (slot,) = plan_from_csv(f"id,lower,upper,size,offset\n{name},0,1,1,0\n").slots
    assert slot.name == name


def test_an_empty_name_is_no_id():
    with pytest.raises(PlanError, match="write JSON"):
        to_csv(Plan([Slot("", 0, 1, 1, 0)], 1))
