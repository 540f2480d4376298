"""Every key of `data.personas` matters: changing it changes the people, or raises an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from ruamel.yaml import YAML

from flows.common.config import load_config
from flows.common.draws import Draws
from flows.common.stage import Context, Shard
from flows.personas.sample import people_of
from schemas.config.personas import PersonasConfig
from schemas.explain import Slot, inside
from schemas.source import InputError
from tests.flows.common.test_learn_people import population, saved

BASE = """
locales: {en_US: 0.9, en_GB: 0.1}
attributes:
  diet: {weights: {all: 0.7, none: 0.3}}
  nick: {values: [n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, o0, o1, o2, o3, o4,
    o5, o6, o7, o8, o9, p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, r0, r1, r2, r3,
    r4, r5, r6, r7, r8, r9], unique: true}
  sport: {given: sex, table: {female: {run: 0.5, swim: 0.5}, male: {run: 0.2, swim: 0.8}}}
  height: {given: sex, number: {family: normal, sd: 7, step: 1, low: 140, high: 210, by: {female: {mean: 163}, male: {mean: 177}}}}
  spread: {number: {family: lognormal, median: 20, spread: 0.5}}
  luck: {number: {family: beta, a: 2, b: 3}}
  waits: {number: {family: gamma, shape: 2, scale: 3}}
  pets: {number: {family: poisson, mean: 2}}
  paid: {number: {family: empirical, quantiles: {q0: 0, q0.5: 31000, q1: 90000}}}
rules:
  - {name: tall, when: {sport: swim}, need: {height: 150..}}
rake:
  - {attribute: sport, weights: {run: 0.6, swim: 0.4}}
  - {given: [sport, pets], table: {run | ..2: 0.3, run | 2..: 0.3, swim | ..2: 0.2, swim | 2..: 0.2}}
segments:
  keen: {share: 0.4, attributes: {diet: {weights: {all: 0.2, none: 0.8}}}}
  others: {share: 0.6}
oversample:
  - {where: {sport: run}, times: 3}
correlations:
  - {between: [luck, waits], spearman: 0.4}
people_from: {file: people.csv, columns: {degree: EDU, wage: INC, kids: KIDS}, bands: 20, least_rows: 10}
"""
CHANGES: dict[str, tuple[str, Any]] = {
    "population": ("population", "eurozone"),
    "locales": ("locales", {"en_US": 0.5, "en_GB": 0.5}),
    "attributes.weights": ("attributes.diet.weights", {"all": 0.4, "none": 0.6}),
    "attributes.given": ("attributes.sport.given", "home_type"),
    "attributes.table": (
        "attributes.sport.table",
        {"female": {"run": 0.9, "swim": 0.1}, "male": {"run": 0.5, "swim": 0.5}},
    ),
    "attributes.values": ("attributes.nick.values", ["a", "b"]),
    "attributes.unique": ("attributes.nick.unique", False),
    "attributes.number.family": ("attributes.spread.number.family", "gamma"),
    "attributes.number.step": ("attributes.height.number.step", 2),
    "attributes.number.by": ("attributes.height.number.by", {"female": {"mean": 165}, "male": {"mean": 177}}),
    "attributes.number.low": ("attributes.height.number.low", 165),
    "attributes.number.high": ("attributes.height.number.high", 180),
    "attributes.number.mean": ("attributes.pets.number.mean", 3),
    "attributes.number.sd": ("attributes.height.number.sd", 12),
    "attributes.number.median": ("attributes.spread.number.median", 25),
    "attributes.number.spread": ("attributes.spread.number.spread", 0.9),
    "attributes.number.a": ("attributes.luck.number.a", 3),
    "attributes.number.b": ("attributes.luck.number.b", 2),
    "attributes.number.shape": ("attributes.waits.number.shape", 3),
    "attributes.number.scale": ("attributes.waits.number.scale", 2),
    "attributes.number.quantiles": ("attributes.paid.number.quantiles", {"q0": 0, "q0.9": 31000, "q1": 90000}),
    "rules.name": ("rules.0.name", ""),
    "rules.when": ("rules.0.when", {"sport": "run"}),
    "rules.need": ("rules.0.need", {"height": "170.."}),
    "rake.attribute": ("rake.0.attribute", "sex"),
    "rake.weights": ("rake.0.weights", {"run": 0.55, "swim": 0.45}),
    "rake.given": ("rake.1.given", ["pets", "sport"]),
    "rake.table": ("rake.1.table", {"run | ..2": 0.5, "run | 2..": 0.1, "swim | ..2": 0.1, "swim | 2..": 0.3}),
    "segments.share": ("segments.keen.share", 0.5),
    "segments.attributes": ("segments.keen.attributes", {"diet": {"weights": {"all": 0.1, "none": 0.9}}}),
    "oversample.where": ("oversample.0.where", {"sport": "swim"}),
    "oversample.times": ("oversample.0.times", 5),
    "correlations.between": ("correlations.0.between", ["luck", "paid"]),
    "correlations.spearman": ("correlations.0.spearman", -0.4),
    "people_from.file": ("people_from.file", "others.csv"),
    "people_from.columns": ("people_from.columns", {"degree": "EDU", "wage": "INC"}),
    "people_from.bands": ("people_from.bands", 5),
    "people_from.least_rows": ("people_from.least_rows", 200),
    "people_from.learnt": ("people_from.learnt", {}),
}
"""Key to the place at which it is changed, and the new value."""
USERS = 60


def keys(slot: Slot | None, above: tuple[str, ...] = ()) -> Iterator[str]:
    """Every key of a section, names of the researcher's own and places in lists left out."""
    assert slot is not None
    models = [part for part in getattr(slot.annotation, "__args__", ()) if isinstance(part, type)]
    members = [part for part in models if issubclass(part, BaseModel)]
    if members and not slot.fields and not isinstance(slot.annotation, type) and dict not in models:
        for member in members:
            yield from keys(Slot(member), above)
        return
    below = inside(slot, "") if not slot.fields else None
    if below is not None and (below.fields or getattr(below.annotation, "__args__", ())) and not slot.is_shares:
        yield from keys(below, above)
        return
    if not slot.fields:
        yield ".".join(above)
        return
    for name in slot.fields:
        below = inside(slot, name)
        is_leaf = name in ("by", "learnt") or (above[-1:] == ("segments",) and name == "attributes")
        yield from [".".join((*above, name))] if is_leaf else keys(below, (*above, name))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(population(1500), tmp_path_factory.mktemp("people"))


def made(folder: Path, personas: Any) -> Any:
    """The people of a config, or the error that tells what is wrong with it."""
    given = {"extends": "smoke", "data": {"users": USERS, "domains": ["food"], "personas": personas}}
    path = folder / "own.yaml"
    path.write_text(json.dumps(given))  # which is YAML
    try:
        data = load_config(path).data
        tables = people_of(Context(data, Draws(data.seed, "personas"), Shard(0, USERS)))
    except InputError as error:
        return str(error)
    return {name: table.to_pydict() for name, table in tables.items()}


def base(key: str) -> Any:
    """What the key is a part of; correlations are solved and files read only where it is about them."""
    slow = ("correlations", "people_from")
    return {
        name: part
        for name, part in YAML(typ="safe", pure=True).load(BASE).items()
        if name not in slow or key.startswith(name)
    }


def changed(key: str) -> Any:
    personas = base(key)
    place, value = CHANGES[key]
    part = personas
    *way, last = place.split(".")
    for step in way:
        part = part[int(step) if isinstance(part, list) else step]
    part[int(last) if isinstance(part, list) else last] = value
    return personas


def test_every_key_is_walked() -> None:
    assert set(keys(Slot(PersonasConfig))) == set(CHANGES)


@pytest.fixture(scope="module")
def before(folder: Path) -> dict[str, Any]:
    return {key: made(folder, base(key)) for key in ("", "correlations", "people_from")}


@pytest.mark.parametrize("key", CHANGES)
def test_changing_a_key_changes_the_people_or_raises_an_error(folder: Path, before: dict[str, Any], key: str) -> None:
    unchanged = before[key.split(".")[0] if key.split(".")[0] in before else ""]
    assert isinstance(unchanged, dict), "the base is a population"
    after = made(folder, changed(key))
    assert after != unchanged
    if isinstance(after, str):
        assert CHANGES[key][0].split(".")[0] in after, "the error names what was changed"
