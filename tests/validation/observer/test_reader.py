from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from flows.common.draws import Draws
from flows.disturb.corrupt import corrupt
from flows.language.speak import speak
from prompts.load import load_phrases
from schemas.domain import Domain
from schemas.load import domain_names, load_domain, load_domains
from schemas.tables.sealed import INJECTIONS
from tests.prompts.talks import DOMAINS, Meaning, every_meaning, log, small_talk, talks
from validation.observer.reader import compiled, read_statements

PHRASES = load_phrases()
MEANT = ("dimension", "value", "stance")
NOTHING = (None, None, None)


def told(
    meanings: list[Meaning], domains: Mapping[str, Domain] = DOMAINS, typo_rate: float = 0.0
) -> tuple[pa.Table, pa.Table]:
    """What was read from the spoken talks, and what was meant."""
    events, truth, statements = talks(meanings)
    events, truth = speak(events, truth, statements, domains, PHRASES, Draws(3, "language"))
    events, _, _ = corrupt(events, truth, INJECTIONS.empty(), typo_rate, Draws(3, "corrupt"))
    return read_statements(events, domains, PHRASES), statements


def rows(table: pa.Table) -> list[tuple[str | None, ...]]:
    return list(zip(*(table[name].to_pylist() for name in MEANT), strict=True))


def wrong(read: pa.Table, meant: pa.Table) -> list[tuple[tuple[str | None, ...], tuple[str | None, ...]]]:
    """Readings that are not what was meant, each with what was."""
    return [pair for pair in zip(rows(read), rows(meant), strict=True) if pair[0] != pair[1]]


def reading(text: str, domain: str = "food") -> tuple[str | None, ...]:
    events, _ = log(["say"], [domain], text=[text])
    return rows(read_statements(events, DOMAINS, PHRASES))[0]


@pytest.mark.parametrize("name", domain_names())
def test_every_clean_statement_of_a_domain_is_read_right(name: str) -> None:
    domains = load_domains([name])
    meanings = (every_meaning(domains) * 40)[:2000]
    read, meant = told(meanings, domains)
    assert read.num_rows == 2000
    assert wrong(read, meant) == []
    same = ["event_id", "user_id", "at", "domain"]
    assert read.select(same).equals(meant.select(same))


@pytest.mark.parametrize("typo_rate", [0.0, 0.01, 0.05])
def test_small_talk_is_read_as_nothing(typo_rate: float) -> None:
    domains = load_domains(domain_names())
    assert set(rows(told(small_talk(900, list(domains)), domains, typo_rate)[0])) == {NOTHING}


@pytest.mark.parametrize("name", domain_names())
@pytest.mark.parametrize(("typo_rate", "reliability"), [(0.01, 0.95), (0.03, 0.85)])
def test_typos_cost_some_readings_and_make_none_wrong(name: str, typo_rate: float, reliability: float) -> None:
    domains = load_domains([name])
    read, meant = told((every_meaning(domains) * 40)[:2000], domains, typo_rate)
    assert [(r, m) for r, m in wrong(read, meant) if r != NOTHING] == []
    assert reliability < 1 - len(wrong(read, meant)) / read.num_rows < 1


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
def test_every_word_of_every_value_is_found_as_that_value_alone(name: str) -> None:
    domain = load_domain(name)
    reader = compiled(domain, PHRASES)
    patterns = [pattern or "^nothing goes by this value's words$" for pattern in reader.named_value]
    said = [value.words for spec in domain.dimensions.values() for value in spec.values.values()]
    meant = {word: code for code, words in enumerate(said) for word in words}
    texts = pa.array([f"i usually want {word.lower()}" for word in meant])
    found = np.stack([pc.match_substring_regex(texts, p).to_numpy(zero_copy_only=False) for p in patterns], axis=1)
    read = {word: [reader.values[code] for code in np.flatnonzero(row)] for word, row in zip(meant, found, strict=True)}
    assert read == {word: [reader.values[code]] for word, code in meant.items()}
    words = pa.array([word.lower() for word in meant])
    turns = [reader.negations, *reader.cues.values()]
    assert [words.filter(pc.match_substring_regex(words, p)).to_pylist() for p in turns] == [[], [], [], []]


@pytest.mark.parametrize("name", domain_names())
def test_every_noun_is_found_as_its_dimension_alone_and_names_no_value(name: str) -> None:
    reader = compiled(load_domain(name), PHRASES)
    for place, noun in enumerate(reader.nouns):
        text = pa.array([f"back to my {noun}"])
        patterns = [*reader.named_noun, *reader.named_value]
        found = [at for at, p in enumerate(patterns) if p is not None and pc.match_substring_regex(text, p)[0].as_py()]
        assert found == [place], f"{name}: `{noun}` is not read as itself"


def test_two_dimensions_with_one_noun_are_refused() -> None:
    food = DOMAINS["food"]
    twice = {**food.dimensions, "base": food.dimensions["base"].model_copy(update={"noun": "Cuisine"})}
    with pytest.raises(ValueError, match="share a noun"):
        compiled(food.model_copy(update={"dimensions": twice}), PHRASES)
