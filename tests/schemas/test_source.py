"""Reading YAML 1.2 with places, and errors that name file, line, key, value, rule and fix."""

from __future__ import annotations

import json
import math
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.config import Config
from schemas.source import Source, SourceError, Violation, check, read_text, read_yaml, shown

TEXT = st.text(st.characters(codec="utf-8"), max_size=12).map(lambda t: unicodedata.normalize("NFC", t))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda part: st.lists(part, max_size=4) | st.dictionaries(TEXT, part, max_size=4),
    max_leaves=12,
)
MINIMAL: dict[str, Any] = {
    "schema_version": 1,
    "name": "small",
    "data": {"users": 5, "window": {"start": "2025-01-06T00:00:00Z", "end": "2025-03-03T00:00:00Z"}},
}


def value_of(text: str) -> Any:
    source = read_text(text, "x.yaml")
    assert source.violations == ()
    return source.value


def violations_of(text: str) -> list[Violation]:
    return list(read_text(text, "x.yaml").violations)


def config_violations(**data: Any) -> list[Violation]:
    """What is wrong with a small config when some of its `data` differ."""
    config = {**MINIMAL, "data": {**MINIMAL["data"], **data}}
    with pytest.raises(SourceError) as caught:
        check(Config, Source("x.yaml", config, {}))
    return caught.value.violations


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "NO",
        "No",
        "yes",
        "on",
        "On",
        "off",
        "y",
        "n",
        "22:00",
        "1:30:00",
        "2025-01-06",
        "2025-01-06T00:00:00Z",
        "2025-01-06 10:00:00",
        "1_000",
        "0b101",
        "017x",
        "=",
        "nULL",
        "nan",
        "inf",
        "1e",
        "1.2.3",
        "+",
        "NaN",
    ],
)
def test_what_the_core_schema_does_not_name_stays_text(text: str) -> None:
    assert value_of(f"key: {text}") == {"key": text}
    assert value_of(f"- {text}") == [text]
    assert value_of(f"{{a: [{text}]}}") == {"a": [text]}


@pytest.mark.parametrize(
    "text", ["no", "yes", "on", "1", "01", "1.50", "true", "null", "22:00", "2025-01-06", "0x1F", "~"]
)
def test_keys_are_text_as_written(text: str) -> None:
    assert value_of(f"{text}: 1") == {text: 1}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("007", 7),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.50", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        (".inf", math.inf),
        ("-.Inf", -math.inf),
        ('"7"', "7"),
        ("'true'", "true"),
        ("!!str 7", "7"),
    ],
)
def test_the_core_schema_is_read_exactly(text: str, value: Any) -> None:
    read = value_of(f"key: {text}")["key"]
    assert read == value and type(read) is type(value)


def test_nan_is_read_as_a_number() -> None:
    assert math.isnan(value_of("key: .NaN")["key"])


def test_a_declared_old_version_of_yaml_changes_nothing() -> None:
    assert value_of("%YAML 1.1\n---\nkey: no\n") == {"key": "no"}


@settings(deadline=None, max_examples=60)
@given(JSON)
def test_whatever_json_can_say_reads_back_equal(value: Any) -> None:
    assert read_text(json.dumps(value), "x.yaml").value == value


def test_the_line_of_every_value_is_known() -> None:
    source = read_text("# first\na:\n  b: 1\n  c:\n    - x\n    - y: 2\nd: {e: 1,\n  f: 2}\n", "x.yaml")
    lines = {place: mark.line for place, mark in source.marks.items()}
    assert lines == {
        (): 2,
        ("a",): 2,
        ("a", "b"): 3,
        ("a", "c"): 4,
        ("a", "c", 0): 5,
        ("a", "c", 1): 6,
        ("a", "c", 1, "y"): 6,
        ("d",): 7,
        ("d", "e"): 7,
        ("d", "f"): 8,
    }
    assert source.mark(("a", "c", "nothing", 3)).line == 4


def test_windows_line_ends_and_a_byte_order_mark_change_neither_values_nor_lines(tmp_path: Path) -> None:
    path = tmp_path / "windows.yaml"
    path.write_bytes("\ufeffa: 1\r\nb: 2\r\n".encode())
    source = read_yaml(path)
    assert source.value == {"a": 1, "b": 2} and source.mark(("b",)).line == 2


def test_every_key_that_stands_twice_is_told_with_both_lines() -> None:
    found = violations_of("a: 1\nb: {c: 1, c: 2}\na: 3\na: 4\n")
    assert [(v.line, v.field, v.value) for v in found] == [(2, "b.c", "2"), (3, "a", "3"), (4, "a", "4")]
    assert all("line 1 has it too" in violation.rule and "remove one" in violation.fix for violation in found[1:])


def test_two_unicode_forms_of_a_key_are_one_key() -> None:
    composed, decomposed = "Hi\u1ebfu", unicodedata.normalize("NFD", "Hi\u1ebfu")
    assert value_of(f"{decomposed}: {decomposed}") == {composed: composed}
    assert [v.field for v in violations_of(f"{composed}: 1\n{decomposed}: 2\n")] == [composed]


def test_anchors_and_aliases_are_followed() -> None:
    source = read_text("a: &shared\n  x: 1\nb: *shared\nc: &one no\nd: *one\n", "x.yaml")
    assert source.value == {"a": {"x": 1}, "b": {"x": 1}, "c": "no", "d": "no"}
    assert source.mark(("b",)).line == 3


def test_an_alias_of_itself_is_told() -> None:
    assert [v.field for v in violations_of("a: &a [1, *a]")] == ["a[1]"]


def test_aliases_that_unfold_without_end_are_refused() -> None:
    lines = ["l0: &l0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 9)]
    source = read_text("\n".join(lines), "x.yaml")
    assert not source.is_readable and "without end" in source.violations[0].rule


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("a: [1,\nb: 2", 2, "expected"),
        ("a: b: c", 1, "quotes"),
        ("ok: 1\n\tb: 1", 2, "tabs"),
        ("a: 1\n---\nb: 2\n", 2, "one document"),
        ("a: 1\nb: *nothing\n", 2, "undefined alias"),
        ("a: 1\nb: 'open\n", 3, "not YAML"),
        ("a: 1\nb: \x07\n", 2, "control character"),
        ("a: " + "[" * 100, None, "nested"),
    ],
)
def test_broken_syntax_is_one_violation_with_its_line(text: str, line: int | None, word: str) -> None:
    source = read_text(text, "x.yaml")
    assert not source.is_readable and source.value is None
    [violation] = source.violations
    assert violation.line == line and word in str(violation)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a: !colour red", "tag"),
        ("a: !!int '5'", "tag"),
        ("a: !point [1]", "tag"),
        ("? [a]\n: 1", "no text"),
        ("b: &b {x: 1}\na: {<<: *b}", "merge key"),
        ('a: "\\ud800"', "surrogate"),
    ],
)
def test_what_yaml_can_say_and_a_config_cannot_mean_is_told(text: str, word: str) -> None:
    [violation] = violations_of(text)
    assert word in violation.rule and violation.line is not None


def test_files_that_cannot_be_read_are_violations(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes("a: 1\nname: é\n".encode("latin-1"))
    [violation] = read_yaml(tmp_path / "latin.yaml").violations
    assert (violation.line, violation.rule) == (2, "the file is not in UTF-8")
    for path in (tmp_path, tmp_path / "none.yaml"):
        source = read_yaml(path)
        assert not source.is_readable and "cannot be read" in source.violations[0].rule


def test_a_violation_reads_as_one_line() -> None:
    violation = Violation("full.yaml", 12, "timelines.exploration", "1.3", "must be 0 to 1", "write 0.013 for 1.3 %")
    assert str(violation) == "full.yaml:12: timelines.exploration is 1.3; must be 0 to 1. Write 0.013 for 1.3 %."
    assert str(Violation("--seed", None, "data.seed", "x", "r", "did you mean `y`?")) == (
        "--seed: data.seed is x; r. Did you mean `y`?"
    )


def test_an_error_lists_violations_by_file_and_line_and_each_once() -> None:
    late, early, other = (Violation(file, line, "f", "v", "r", "x") for file, line in (("a", 10), ("a", 9), ("b", 1)))
    error = SourceError([other, late, early, late])
    assert error.violations == [early, late, other]
    assert str(error).splitlines() == [str(early), str(late), str(other)]


def test_values_are_shown_as_yaml_writes_them() -> None:
    assert shown({"a": [1, True, None, math.nan], "b": "no", "c": "7", "d": ""}) == (
        '{a: [1, true, null, .nan], b: no, c: "7", d: ""}'
    )
    assert len(shown("x" * 500)) == 100


@pytest.mark.parametrize(
    ("data", "field", "value", "rule", "fix"),
    [
        ({"users": 0}, "data.users", "0", "must be 1 to 999999", "the nearest that is allowed is 1"),
        ({"users": 24.0}, "data.users", "24.0", "must be a whole number", "write 24"),
        ({"users": "1_000"}, "data.users", "1_000", "must be a whole number", "write 1000 without quotes"),
        ({"users": True}, "data.users", "true", "must be a whole number", "write a whole number"),
        (
            {"seed": -1},
            "data.seed",
            "-1",
            "must be 0 or more and below 9223372036854775808",
            "the nearest that is allowed is 0",
        ),
        (
            {"disturb": {"noise": {"corrupt": 1.3}}},
            "data.disturb.noise.corrupt",
            "1.3",
            "must be 0 to 1",
            "write 0.013 for 1.3 %",
        ),
        (
            {"disturb": {"noise": {"corrupt": "2%"}}},
            "data.disturb.noise.corrupt",
            "2%",
            "must be a number",
            "write 0.02 without quotes",
        ),
        (
            {"timelines": {"exploration": math.nan}},
            "data.timelines.exploration",
            ".nan",
            "must be a finite number",
            "write a number, 0 to 1",
        ),
        (
            {"dispositions": {"strength_mean": 0}},
            "data.dispositions.strength_mean",
            "0",
            "must be above 0",
            "write a number above 0",
        ),
        ({"gates": {"fidelity": "no"}}, "data.gates.fidelity", "no", "must be true or false", "write false"),
        (
            {"domains": "food"},
            "data.domains",
            "food",
            "must be a list of names, or a map of names to files",
            "write [food]",
        ),
        ({"domains": []}, "data.domains", "[]", "must have at least 1 entries", "add what is missing"),
        (
            {"language": {"speaker": "embeded"}},
            "data.language.speaker",
            "embeded",
            "must be embedded",
            "write embedded",
        ),
        (
            {"timelines": {"domains": {"food": {"weekdays": ["tues"]}}}},
            "data.timelines.domains.food.weekdays[0]",
            "tues",
            "must be one of mon, tue, wed, thu, fri, sat, sun",
            "did you mean `tue`?",
        ),
        (
            {"personas": {"attributes": {"code": {"values": [1, "b"]}}}},
            "data.personas.attributes.code.values[0]",
            "1",
            "must be text",
            'write "1" in quotes',
        ),
        ({"tasks": 3}, "data.tasks", "3", "must be a map of keys to values", None),
        (
            {"window": {"start": "2025-01-06", "end": "2025-03-03T00:00:00Z"}},
            "data.window.start",
            "2025-01-06",
            "must be a time with its offset from UTC",
            "write 2025-01-06T00:00:00+00:00",
        ),
        ({"personas": {"population": "mars"}}, "data.personas.population", "mars", "must be one of us, eurozone", None),
    ],
)
def test_each_kind_of_mistake_has_its_rule_and_fix(
    data: dict[str, Any], field: str, value: str, rule: str, fix: str | None
) -> None:
    [violation] = config_violations(**data)
    assert (violation.field, violation.value, violation.rule) == (field, value, rule)
    assert fix is None or violation.fix == fix


def test_a_missing_key_says_what_it_means() -> None:
    with pytest.raises(SourceError) as caught:
        check(Config, read_text("schema_version: 1\nname: x\ndata:\n  users: 5\n", "x.yaml"))
    [violation] = caught.value.violations
    assert str(violation).startswith("x.yaml:3: data.window is missing; must be given. Add `window`")


def test_a_misspelt_key_is_one_violation_even_if_the_right_one_is_required() -> None:
    text = json.dumps(MINIMAL).replace("window", "windwo")
    with pytest.raises(SourceError) as caught:
        check(Config, read_text(text, "x.yaml"))
    assert [(v.field, v.fix) for v in caught.value.violations] == [("data.windwo", "did you mean `window`?")]


def test_a_key_at_the_wrong_depth_is_sent_to_its_place() -> None:
    with pytest.raises(SourceError) as caught:
        check(Config, read_text(json.dumps({**MINIMAL, "disturb": {}}), "x.yaml"))
    assert [v.fix for v in caught.value.violations] == ["did you mean `data.disturb`?"]


def test_a_bad_name_of_an_attribute_is_a_violation_of_its_key() -> None:
    [violation] = config_violations(personas={"attributes": {"Home town": {"values": ["a"]}}})
    assert violation.field == "data.personas.attributes.Home town"
    assert violation.rule.startswith("its key must be lower-case letters") and violation.fix == "write home_town"


def test_an_empty_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").touch()
    with pytest.raises(SourceError) as caught:
        check(Config, read_yaml(tmp_path / "empty.yaml"))
    assert [v.rule for v in caught.value.violations] == ["must be a map of keys to values"]


def test_of_a_map_with_a_key_given_twice_no_sum_is_judged() -> None:
    text = json.dumps(MINIMAL)[:-2] + ', "release": {"splits": {"train": 0.5, "test": 0.3, "train": 0.2}}}}'
    with pytest.raises(SourceError) as caught:
        check(Config, read_text(text, "x.yaml"))
    assert [v.field for v in caught.value.violations] == ["data.release.splits.train"]


@settings(deadline=None, max_examples=60)
@given(JSON | st.fixed_dictionaries({"data": st.dictionaries(st.sampled_from(["users", "window", "personas"]), JSON)}))
def test_no_value_whatever_breaks_the_telling(value: Any) -> None:
    with pytest.raises(SourceError) as caught:
        check(Config, Source("x.yaml", value, {}))
    assert all(violation.rule for violation in caught.value.violations)
