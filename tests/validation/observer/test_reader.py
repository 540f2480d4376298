from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from flows.common.draws import Draws
from flows.disturb.corrupt import corrupt
from flows.language.speak import speak
from prompts.load import load_phrases
from schemas.load import domain_names, load_domain
from schemas.tables.sealed import INJECTIONS
from tests.prompts.talks import DOMAINS, Meaning, every_meaning, log, small_talk, talks
from validation.observer.reader import compiled, read_statements

PHRASES = load_phrases()
MEANT = ("dimension", "value", "stance")


def told(meanings: list[Meaning], typo_rate: float = 0.0) -> tuple[pa.Table, pa.Table]:
    """What was read from the spoken talks, and what was meant."""
    events, truth, statements = talks(meanings)
    events, truth = speak(events, truth, statements, DOMAINS, PHRASES, Draws(3, "language"))
    events, _, _ = corrupt(events, truth, INJECTIONS.empty(), typo_rate, Draws(3, "corrupt"))
    return read_statements(events, DOMAINS, PHRASES), statements


def rows(table: pa.Table) -> list[tuple[str | None, ...]]:
    return list(zip(*(table[name].to_pylist() for name in MEANT), strict=True))


def reading(text: str, domain: str = "food") -> tuple[str | None, ...]:
    events, _ = log(["say"], [domain], text=[text])
    return rows(read_statements(events, DOMAINS, PHRASES))[0]


def test_every_clean_statement_is_read_right() -> None:
    meanings = (every_meaning() * 20)[:2000]
    read, meant = told(meanings)
    assert read.num_rows == 2000
    assert rows(read) == rows(meant)
    same = ["event_id", "user_id", "at", "domain"]
    assert read.select(same).equals(meant.select(same))


@pytest.mark.parametrize("typo_rate", [0.0, 0.01, 0.05])
def test_small_talk_is_read_as_nothing(typo_rate: float) -> None:
    assert set(rows(told(small_talk(1000), typo_rate)[0])) == {(None, None, None)}


@pytest.mark.parametrize(("typo_rate", "reliability"), [(0.01, 0.95), (0.03, 0.85)])
def test_typos_cost_some_readings_and_make_none_wrong(typo_rate: float, reliability: float) -> None:
    read, meant = told((every_meaning() * 40)[:4000], typo_rate)
    pairs = list(zip(rows(read), rows(meant), strict=True))
    assert [(r, m) for r, m in pairs if r not in (m, (None, None, None))] == []
    assert reliability < np.mean([r == m for r, m in pairs]) < 1


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("as far as cuisine goes I usuallt want Thai!!", ("food.cuisine", "thai", "usual")),
        ("i usually want tahi, cuisine-wise", (None, None, None)),
        ("Right now I'm thinking of Lebanrse", ("food.cuisine", "lebanese", "for_now")),
        ("WHEN IT COMES TO CUISINE, I USUALLY GO FOR THAI 😀", ("food.cuisine", "thai", "usual")),
        ("I usually want Thai or Indian", (None, None, None)),
        ("I usually don't want Thai", (None, None, None)),
        ("I usually want Thai, but Indian this week", (None, None, None)),
        ("I usually want Thai this week", (None, None, None)),
        ("I usually want Thai as my main ingredient", (None, None, None)),
        ("When it comes to portion size, I usually go for Thai", (None, None, None)),
        ("Thai is a language", (None, None, None)),
        ("For a few days I'd like 20-minite food", ("food.wait_min", "20", "for_now")),
        ("I'm back to my old cuisine", ("food.cuisine", None, "back_to_usual")),
        ("I'm back to my old cuisine and portion size", (None, None, None)),
        ("I'm back to Thai cuisine", (None, None, None)),
        ("", (None, None, None)),
    ],
)
def test_damaged_and_foreign_sentences_are_read_by_their_words_or_not_at_all(
    text: str, meant: tuple[str | None, ...]
) -> None:
    assert reading(text) == meant


def test_a_word_means_something_in_its_own_domain_only() -> None:
    text = "I usually go for frozen"
    assert reading(text, "groceries") == ("groceries.format", "frozen", "usual")
    assert reading(text, "food") == (None, None, None)
    assert reading("I usually go for Thai", "garden") == (None, None, None)


def test_a_word_that_is_part_of_another_values_word_is_read_from_a_whole_wording_only() -> None:
    food = DOMAINS["food"]
    heat = food.dimensions["heat"]
    mild = heat.values["mild"].model_copy(update={"words": ["hot"]})
    changed = heat.model_copy(update={"values": {**heat.values, "mild": mild}})
    domains = {"food": food.model_copy(update={"dimensions": {**food.dimensions, "heat": changed}})}
    texts = ["I'd usually want vxxy hot", "I'd usually want fiery", "Speaking of spice level, I usually go for hot"]
    events, _ = log(["say"] * 3, ["food"] * 3, text=texts)
    assert read_statements(events, domains, PHRASES)["value"].to_pylist() == [None, "hot", "mild"]


def test_a_missing_text_and_other_actions_are_not_read() -> None:
    text = "When it comes to cuisine, I usually go for Thai"
    events, _ = log(["say", "search", "say"], ["food"] * 3, text=[None, text, text])
    read = read_statements(events, DOMAINS, PHRASES)
    assert read["event_id"].to_pylist() == [events["event_id"][0].as_py(), events["event_id"][2].as_py()]
    assert read["value"].to_pylist() == [None, "thai"]


@pytest.mark.parametrize("name", domain_names())
def test_every_declared_domain_can_be_read_by_words_alone(name: str) -> None:
    domain = load_domain(name)
    reader = compiled(domain, PHRASES)
    for dimension, spec in domain.dimensions.items():
        for value, said in spec.values.items():
            text = f"i usually want {said.words[0].lower()}"
            patterns = [pattern for pattern in reader.named_value if pattern is not None]
            found = [pc.match_substring_regex(pa.array([text]), pattern)[0].as_py() for pattern in patterns]
            assert sum(found) == 1, f"{name}.{dimension}: `{said.words[0]}` ({value}) is found as {sum(found)} values"


def test_two_dimensions_with_one_noun_are_refused() -> None:
    food = DOMAINS["food"]
    twice = {**food.dimensions, "base": food.dimensions["base"].model_copy(update={"noun": "Cuisine"})}
    with pytest.raises(ValueError, match="share a noun"):
        compiled(food.model_copy(update={"dimensions": twice}), PHRASES)
