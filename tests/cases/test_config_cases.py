"""Faults of public reports that a config must catch, before anything is made. Each test names its case."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from flows.cli.main import main
from flows.common.config import load_config
from schemas.config import Config
from schemas.source import SourceError, Violation

HEAD = "schema_version: 1\nname: mine\ndata:\n  users: 5000\n"
WINDOW = "  window: {start: '2024-01-01T00:00:00Z', end: '2024-03-11T00:00:00Z'}\n"


def people(attributes: str, window: str = WINDOW) -> str:
    """A config with these attributes, each line of which is indented below `attributes`."""
    lines = "".join(f"      {line}\n" for line in attributes.splitlines())
    return f"{HEAD}{window}  personas:\n    attributes:\n{lines}"


def loaded(folder: Path, text: str) -> Config:
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    return load_config(folder / "mine.yaml")


def refused(folder: Path, text: str) -> list[Violation]:
    with pytest.raises(SourceError) as caught:
        loaded(folder, text)
    return caught.value.violations


def test_g1_s10_a_unique_pool_that_runs_dry_is_told_with_both_numbers(tmp_path: Path) -> None:
    values = ", ".join(f"name{number}" for number in range(300))
    [violation] = refused(tmp_path, people(f"nickname: {{values: [{values}], unique: true}}"))
    assert violation.field == "data.personas.attributes.nickname.values" and violation.line == 8
    assert "`nickname` is unique: 5000 wanted, 300 available" in str(violation)


def test_g2_s08_a_window_without_offset_is_told_at_its_key(tmp_path: Path) -> None:
    text = HEAD + "  window: {start: '2024-01-01T00:00:00', end: '2024-03-01T00:00:00Z'}\n"
    [violation] = refused(tmp_path, text)
    assert (violation.line, violation.field) == (5, "data.window.start")
    assert "needs its offset" in violation.rule and violation.fix == "write 2024-01-01T00:00:00+00:00"


def test_g3_s01_weights_that_do_not_sum_to_one_are_told_with_sum_and_tolerance(tmp_path: Path) -> None:
    [violation] = refused(tmp_path, people("location_type: {weights: {urban: 0.5, suburban: 0.3, rural: 0.15}}"))
    assert violation.field == "data.personas.attributes.location_type.weights"
    assert "sum to 0.95" in violation.rule and "1e-06" in violation.rule


@pytest.mark.parametrize(
    ("weights", "field", "value"),
    [("{daily: 1, weekly: -1, never: 1}", "weekly", "-1"), ("{daily: .nan, never: 1}", "daily", ".nan")],
)
def test_g3_s02_a_negative_or_missing_weight_is_told_at_its_value(
    tmp_path: Path, weights: str, field: str, value: str
) -> None:
    [violation] = refused(tmp_path, people(f"frequency: {{weights: {weights}}}"))
    assert (violation.field, violation.value) == (f"data.personas.attributes.frequency.weights.{field}", value)


def test_g3_s03_a_conditional_table_that_lacks_a_value_of_its_parent_is_told_with_both_names(tmp_path: Path) -> None:
    text = people(
        "place: {weights: {North: 0.4, South: 0.4, Ceuta: 0.2}}\n"
        "trade: {given: place, table: {North: {farm: 1}, South: {shop: 1}}}"
    )
    [violation] = refused(tmp_path, text)
    assert (violation.line, violation.field) == (9, "data.personas.attributes.trade.table")
    assert "`Ceuta`" in violation.rule and "`place`" in violation.rule


def test_g3_s06_a_misspelt_key_two_levels_down_is_told_with_what_was_meant(tmp_path: Path) -> None:
    [violation] = refused(tmp_path, people("country:\n  wieghts: {se: 0.4, no: 0.3, dk: 0.3}"))
    assert (violation.line, violation.field) == (9, "data.personas.attributes.country.wieghts")
    assert violation.fix == "did you mean `weights`?"


def test_g3_s07_no_is_norway_as_key_and_as_value(tmp_path: Path) -> None:
    text = people("country: {weights: {se: 0.4, no: 0.3, dk: 0.3}}\nlanguage: {values: [nn, no, on, yes, NO]}")
    attributes = loaded(tmp_path, text).data.personas.attributes
    assert attributes["country"].weights == {"se": 0.4, "no": 0.3, "dk": 0.3}
    assert attributes["language"].values == ["nn", "no", "on", "yes", "NO"]


def test_g3_s08_a_key_given_twice_is_told_with_its_line(tmp_path: Path) -> None:
    [violation] = refused(tmp_path, people("home:\n  weights:\n    rural: 0.3\n    urban: 0.5\n    rural: 0.2"))
    assert (violation.line, violation.value) == (12, "0.2")
    assert violation.field == "data.personas.attributes.home.weights.rural"
    assert "line 10" in violation.rule


def test_g3_s09_one_name_in_two_unicode_forms_is_one_value(tmp_path: Path) -> None:
    composed, decomposed = "Hi\u1ebfu", unicodedata.normalize("NFD", "Hi\u1ebfu")
    table = f"{{{decomposed}: {{{decomposed}: 1}}}}"
    text = people(f"nick: {{values: [{composed}]}}\nfriend: {{given: nick, table: {table}}}")
    attributes = loaded(tmp_path, text).data.personas.attributes
    assert attributes["nick"].levels() == attributes["friend"].levels() == [composed]
    assert list(attributes["friend"].table or {}) == [composed]


def test_g3_s09_keys_of_several_parents_rules_and_margins_are_one_form_too(tmp_path: Path) -> None:
    composed, decomposed = "Hi\u1ebfu", unicodedata.normalize("NFD", "Hi\u1ebfu")
    text = people(
        f"nick: {{weights: {{{composed}: 0.5, An: 0.5}}}}\n"
        f"friend: {{given: [nick, sex], table: {{'{decomposed} | female': {{a: 1}}, '{decomposed} | male': {{a: 1}}, "
        "'An | female': {b: 1}, 'An | male': {a: 1}}}"
    )
    more = (
        f"    rules: [{{name: x, when: {{nick: {decomposed}}}, need: {{friend: a}}}}]\n"
        f"    rake: [{{attribute: nick, weights: {{{decomposed}: 0.4, An: 0.6}}}}]\n"
    )
    personas = loaded(tmp_path, text + more).data.personas
    assert next(iter(personas.attributes["friend"].table or {})) == f"{composed} | female"
    assert personas.rules[0].when == {"nick": [composed]} and personas.rake[0].weights == {composed: 0.4, "An": 0.6}


def test_g3_s03_a_gap_between_bands_and_a_pair_without_a_row_are_told_with_their_line(tmp_path: Path) -> None:
    text = people(
        "trade: {given: age_years, table: {18..30: {farm: 1}, 31..: {shop: 1}}}\n"
        "work: {given: [sex, region], table: {female | south: {a: 1}, female | west: {a: 1}}}"
    )
    first, second = refused(tmp_path, text)
    assert (first.line, first.field) == (8, "data.personas.attributes.trade.table")
    assert "has no row for `30`, which `age_years` can be" in first.rule
    assert (second.line, second.field) == (9, "data.personas.attributes.work.table")
    assert "`female | midwest`" in second.rule and "`male | west`" in second.rule


def test_g3_s10_an_unknown_locale_is_named(tmp_path: Path) -> None:
    text = f"{HEAD}{WINDOW}  personas: {{locales: {{zz_ZZ: 1}}}}\n"
    [violation] = refused(tmp_path, text)
    assert violation.field == "data.personas.locales.zz_ZZ" and "`zz_ZZ`" in violation.rule


def test_g3_s10_a_locale_whose_names_would_be_english_is_an_error(tmp_path: Path) -> None:
    text = people("locale: {weights: {en_US: 0.5, lb_LU: 0.5}}")
    [violation] = refused(tmp_path, text)
    assert violation.field == "data.personas.attributes.locale"
    assert violation.rule == "Faker has no names for `lb_LU`, and would give English ones"


MANY = people(
    "country:\n"
    "  wieghts: {se: 0.4, no: 0.3, dk: 0.3}\n"
    "location_type:\n"
    "  weights: {urban: 0.5, suburban: 0.3, rural: 0.15}\n"
    "frequency:\n"
    "  weights: {daily: 1, weekly: -1, never: 1}\n"
    "mood: {weights: {calm: .nan, tense: 1}}\n"
    "home:\n"
    "  weights:\n"
    "    rural: 0.3\n"
    "    urban: 0.5\n"
    "    rural: 0.2",
    window="  window: {start: '2024-01-01T00:00:00', end: '2024-03-11T00:00:00Z'}\n",
)
EXPECTED = [
    (5, "data.window.start", "2024-01-01T00:00:00"),
    (9, "data.personas.attributes.country.wieghts", "{se: 0.4, no: 0.3, dk: 0.3}"),
    (11, "data.personas.attributes.location_type.weights", "{urban: 0.5, suburban: 0.3, rural: 0.15}"),
    (13, "data.personas.attributes.frequency.weights.weekly", "-1"),
    (14, "data.personas.attributes.mood.weights.calm", ".nan"),
    (19, "data.personas.attributes.home.weights.rural", "0.2"),
]


def test_everything_wrong_with_a_file_is_told_at_once_with_place_value_rule_and_fix(tmp_path: Path) -> None:
    found = refused(tmp_path, MANY)
    assert [(v.line, v.field, v.value) for v in found] == EXPECTED
    assert {v.file for v in found} == {str(tmp_path / "mine.yaml")}
    assert all(v.rule and v.fix for v in found)


@pytest.mark.parametrize("verb", ["config check", "build", "preview"])
def test_a_wrong_config_exits_2_from_every_verb_and_writes_nothing(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if verb != "config check":
        pytest.importorskip(f"flows.cli.{verb}", reason=f"needs the verb {verb}")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(MANY)
    assert main([*verb.split(), "mine.yaml"]) == 2
    err = capsys.readouterr().err
    places = [line.split(" is ")[0] for line in err.splitlines()]
    assert places == [f"mine.yaml:{line}: {field}" for line, field, _ in EXPECTED]
    assert list(tmp_path.iterdir()) == [tmp_path / "mine.yaml"]
