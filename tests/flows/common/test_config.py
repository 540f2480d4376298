"""Configs from presets, files and the command line."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flows.common.config import diff, load_config, preset_names, show
from schemas.config.personas import POPULATION
from schemas.source import SourceError, Violation

Write = Callable[..., Path]
WORD = st.text(st.characters(codec="utf-8"), max_size=8)


def refused(*arguments: object, **options: int) -> list[Violation]:
    with pytest.raises(SourceError) as caught:
        load_config(*arguments, **options)  # type: ignore[arg-type]
    return caught.value.violations


def fields(violations: list[Violation]) -> list[str]:
    return [violation.field for violation in violations]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(text: str, name: str = "mine.yaml") -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write_file


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_is_valid_and_named_after_its_file_and_loads_back_as_shown(name: str, write: Write) -> None:
    config = load_config(name)
    assert config.name == name
    again = load_config(write(show(config)))
    assert again == config and again.data_digest() == config.data_digest()


def test_presets_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config("smoke").name == "smoke"


def test_an_unknown_preset_is_answered_with_the_nearest_and_the_list() -> None:
    [violation] = refused("smok")
    assert str(violation) == (
        f"smok: there is no such preset or file. Did you mean `smoke`? Presets are {', '.join(preset_names())}."
    )


def test_extends_takes_over_everything_but_what_differs(write: Write) -> None:
    path = write("extends: smoke\nname: mine\ndata:\n  users: 5\n  disturb: {noise: {corrupt: 0}}\n")
    assert diff(load_config("smoke"), load_config(path)) == [
        ("name", "smoke", "mine"),
        ("data.users", 24, 5),
        ("data.disturb.noise.corrupt", 0.01, 0.0),
    ]


def test_extends_goes_over_files_beside_each_other(write: Write) -> None:
    write("extends: smoke\nname: one\ndata: {users: 5, seed: 1}\n", "one.yaml")
    config = load_config(write("extends: one.yaml\ndata: {users: 6}\n", "two.yaml"))
    assert (config.name, config.data.users, config.data.seed, config.execution.shard_users) == ("one", 6, 1, 6)


def test_lists_and_shares_and_tables_are_replaced_whole_and_other_maps_merged(write: Write) -> None:
    write(
        "extends: smoke\nname: base\ndata:\n  domains: [food]\n  release: {splits: {train: 0.5, test: 0.5}}\n"
        "  personas:\n    attributes:\n      city: {values: [Oslo, Rome]}\n"
        "      pet: {given: sex, table: {female: {cat: 1}, male: {dog: 1}}}\n",
        "base.yaml",
    )
    config = load_config(
        write(
            "extends: base.yaml\ndata:\n  domains: [groceries]\n  release: {splits: {all: 1}}\n  personas:\n"
            "    attributes:\n      pet:\n        given: region\n"
            "        table: {midwest: {a: 1}, northeast: {a: 1}, south: {a: 1}, west: {a: 1}}\n"
        )
    )
    assert list(config.data.domains) == ["groceries"] and config.data.release.splits == {"all": 1.0}
    attributes = config.data.personas.attributes
    assert list(attributes) == ["city", "pet"] and attributes["city"].values == ["Oslo", "Rome"]
    assert list(attributes["pet"].table or {}) == ["midwest", "northeast", "south", "west"]


def test_null_takes_an_inherited_key_away(write: Write) -> None:
    write("extends: smoke\ndata: {personas: {attributes: {city: {values: [Oslo]}}}}\n", "base.yaml")
    path = write("extends: base.yaml\ndata: {personas: {attributes: {city: {values: null, weights: {Rome: 1}}}}}\n")
    assert load_config(path).data.personas.attributes["city"].levels() == ["Rome"]


def test_errors_name_the_file_the_value_came_from(write: Write) -> None:
    base = write("extends: smoke\ndata:\n  seed: -1\n  disturb: {noise: {corrupt: 2}}\n", "base.yaml")
    mine = write("extends: base.yaml\ndata:\n\n  disturb: {noise: {duplicate: 3}}\n")
    found = refused(mine, ["data.timelines.exploration=4"], users=0)
    assert [(v.file, v.line, v.field) for v in found] == [
        ("--set data.timelines.exploration", None, "data.timelines.exploration"),
        ("--users", None, "data.users"),
        (str(base), 3, "data.seed"),
        (str(base), 4, "data.disturb.noise.corrupt"),
        (str(mine), 4, "data.disturb.noise.duplicate"),
    ]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("extends: smokee\nname: 3\n", "no such preset or file"),
        ("extends: mine.yaml\nname: 3\n", "extends itself"),
        ("extends: [smoke]\nname: 3\n", "must be one name"),
        ("extends: broken.yaml\nname: 3\n", "not YAML"),
    ],
)
def test_what_cannot_be_extended_is_told_together_with_the_rest(write: Write, text: str, rule: str) -> None:
    write("a: [", "broken.yaml")
    found = refused(write(text))
    assert len(found) == 2 and any(rule in v.rule for v in found) and "name" in fields(found)


def test_set_values_are_yaml_and_win_over_the_file() -> None:
    config = load_config(
        "smoke",
        [
            "data.disturb.noise.corrupt=0",
            "data.personas.attributes.country.weights={se: 0.4, no: 0.3, dk: 0.3}",
            "data.domains=[food]",
            "data.window.end=2025-02-03T00:00:00+00:00",
            "execution.workers=2",
            "data.seed=1",
            "name=other",
            "data.disturb.noise={duplicate: 0}",
        ],
        seed=5,
        users=7,
        workers=3,
    )
    assert config.name == "other" and list(config.data.domains) == ["food"] and config.data.window.weeks == 4
    assert config.data.personas.attributes["country"].weights == {"se": 0.4, "no": 0.3, "dk": 0.3}
    assert (config.data.seed, config.data.users, config.execution.workers) == (5, 7, 3)
    assert (config.data.disturb.noise.corrupt, config.data.disturb.noise.duplicate) == (0.0, 0.0)
    assert config.data.disturb.noise.accidental == 0.02


def test_set_reaches_a_single_share() -> None:
    sets = ["data.release.splits.test=0.25", "data.release.splits.train=0.75"]
    assert load_config("smoke", sets).data.release.splits == {"test": 0.25, "train": 0.75}


def test_every_wrong_set_is_told_at_once() -> None:
    end = "data.window.end=2025-01-08T00:00:00Z"
    found = refused("smoke", ["data.users", "=3", "data.x=1", "a.b=[", "data.users=many", end])
    assert [v.file for v in found] == [
        "--set =3",
        "--set a.b",
        "--set data.users",
        "--set data.users",
        "--set data.window.end",
        "--set data.x",
    ]


def test_errors_against_other_files_are_told_with_the_rest() -> None:
    sets = [
        "data.domains=[fod, food]",
        "data.personas.locales={en-gb: 0.5, zz_ZZ: 0.5}",
        "data.disturb.noise.corrupt=2",
        "data.personas.attributes.time_zone={weights: {Europe/Olso: 1}}",
        "data.timelines.domains.home={}",
        "data.personas.attributes.work={given: regoin, table: {a: {b: 1}}}",
    ]
    told = {v.field: f"{v.rule} | {v.fix}" for v in refused("smoke", sets)}
    assert set(told) == {
        "data.domains[0]",
        "data.personas.locales.en-gb",
        "data.personas.locales.zz_ZZ",
        "data.disturb.noise.corrupt",
        "data.personas.attributes.time_zone",
        "data.timelines.domains.home",
        "data.personas.attributes.work.given",
    }
    assert told["data.domains[0]"].endswith("did you mean `food`?")
    assert told["data.personas.locales.en-gb"].endswith("did you mean `en_GB`?")
    assert "Europe/Oslo" in told["data.personas.attributes.time_zone"]


def test_the_known_values_of_built_in_attributes_are_those_of_the_population() -> None:
    from flows.personas.population import built_in

    assert {name: (part.given, part.levels) for name, part in built_in().items()} == {
        name: (part.given, part.levels) for name, part in POPULATION.items()
    }


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORD, min_size=1, max_size=5, unique_by=lambda word: unicodedata.normalize("NFC", word)))
def test_whatever_the_values_are_called_a_shown_config_loads_back_equal(write: Write, words: list[str]) -> None:
    weights = json.dumps({word: 1 if place == 0 else 0 for place, word in enumerate(words)})
    config = load_config("smoke", ["data.domains=[food]", f"data.personas.attributes.word.weights={weights}"])
    assert load_config(write(show(config))) == config


@pytest.mark.parametrize(
    "word",
    ["no", "Yes", "on", "22:00", "1", "1.5", "null", "~", "", "a: b", "# a", "-", "2025-01-06", "\u2028", "\x7f"],
)
def test_a_shown_config_quotes_what_could_be_taken_for_something_else(word: str, write: Write) -> None:
    config = load_config("smoke", ["data.domains=[food]"])
    people = {"attributes": {"word": {"values": [word, "plain text"]}}}
    changed = config.model_validate({**config.model_dump(), "data": {**config.data.model_dump(), "personas": people}})
    text = show(changed)
    assert "plain text]" in text and load_config(write(text)) == changed
    line = next(line for line in text.splitlines() if "plain text]" in line)
    assert '["' in line
