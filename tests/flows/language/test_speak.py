from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from flows.common.draws import Draws
from flows.language.speak import LOWER_CASE, speak
from prompts.load import load_phrases, one_of
from tests.prompts.talks import DOMAINS, copies, every_meaning, log, small_talk, talks

PHRASES = load_phrases()
DRAWS = Draws(3, "language")
NO_STATEMENTS = talks([])[2]
WORDS = {
    name: one_of(word for spec in domain.dimensions.values() for v in spec.values.values() for word in v.words)
    for name, domain in DOMAINS.items()
}


def spoken(
    events: pa.Table, truth: pa.Table, statements: pa.Table = NO_STATEMENTS, draws: Draws = DRAWS
) -> tuple[pa.Table, pa.Table]:
    return speak(events, truth, statements, DOMAINS, PHRASES, draws)


def test_a_statement_names_its_value_and_the_noun_of_its_dimension() -> None:
    meanings = every_meaning()
    events, truth, statements = talks(meanings)
    texts = spoken(events, truth, statements)[0]["text"].to_pylist()
    for text, (domain, dimension, value, _) in zip(texts, meanings, strict=True):
        assert dimension is not None
        spec = DOMAINS[domain].dimensions[dimension.split(".")[1]]
        assert spec.noun in text.lower()
        if value is not None:
            assert any(word.lower() in text.lower() for word in spec.values[value].words)


def test_small_talk_searches_replies_and_reviews_name_no_value() -> None:
    names = ["food", "groceries"] * 300
    lines = [small_talk(600), None, None, None]
    for action, meanings in zip(("say", "search", "reply", "review"), lines, strict=True):
        if meanings is not None:
            events, truth, statements = talks(meanings)
        else:
            rating = [1 + place % 5 if action == "review" else None for place in range(600)]
            (events, truth), statements = log([action] * 600, names, rating=rating), NO_STATEMENTS
        made = spoken(events, truth, statements)[0]
        assert made["text"].null_count == 0
        assert [t for t, d in zip(made["text"].to_pylist(), names, strict=True) if WORDS[d].search(t)] == []


def test_lines_that_nobody_types_stay_without_words_and_keep_all_else() -> None:
    sources = ["self", "self", "notification", "self"]
    events, truth = log(["view", "order", "search", "search"], ["food"] * 4, source=sources)
    made, told = spoken(events, truth)
    assert [text is None for text in made["text"].to_pylist()] == [True, True, True, False]
    assert told["speaker"].to_pylist() == [None, None, None, "embedded"]
    assert made.drop_columns(["text"]).equals(events.drop_columns(["text"]))
    assert told.drop_columns(["speaker"]).equals(truth.drop_columns(["speaker"]))


def test_a_copy_of_a_line_reads_like_its_original_and_needs_no_statement() -> None:
    events, truth, statements = talks([*every_meaning(), *small_talk(20)])
    copied = copies(events.slice(events.num_rows - 60))
    made = spoken(pa.concat_tables([events, copied]), truth, statements)[0]
    assert made["text"].to_pylist()[-60:] == made["text"].to_pylist()[-120:-60]


def test_a_say_without_a_meaning_is_refused() -> None:
    events, truth, statements = talks(small_talk(3))
    with pytest.raises(ValueError, match="1 `say` lines have no row in `statements`"):
        spoken(events, truth, statements.slice(1))


def test_a_meaning_that_no_domain_declares_is_refused() -> None:
    with pytest.raises(ValueError, match=r"food.cuisine = martian"):
        spoken(*talks([("food", "food.cuisine", "martian", "usual")]))


def test_a_review_without_stars_is_refused() -> None:
    with pytest.raises(ValueError, match="1 reviews have no stars"):
        spoken(*log(["review", "review"], ["food"] * 2, rating=[4, None]))


def test_words_depend_on_the_line_alone() -> None:
    events, truth, statements = talks([*every_meaning(), *small_talk(50)])
    whole = spoken(events, truth, statements)[0]
    odd = pa.array(np.arange(events.num_rows)[::-2])
    part = spoken(events.take(odd), truth.take(odd), statements)[0]
    assert part["text"].to_pylist() == whole["text"].take(odd).to_pylist()
    other = spoken(events, truth, statements, Draws(4, "language"))[0]
    assert pc.mean(pc.equal(other["text"], whole["text"]).cast(pa.float64())).as_py() < 0.02


def test_a_style_belongs_to_the_person() -> None:
    events, truth, statements = talks(small_talk(800))
    made = spoken(events, truth, statements)[0]
    lower = pc.equal(made["text"], pc.utf8_lower(made["text"])).to_numpy(zero_copy_only=False).reshape(20, 40)
    assert (lower.all(axis=0) | (lower.mean(axis=0) < 0.2)).all()
    assert abs(lower.all(axis=0).mean() - LOWER_CASE) < 0.25


def test_texts_are_varied() -> None:
    usual = [m for m in every_meaning() if m[3] == "usual"] * 12
    events, truth, statements = talks([*usual, *small_talk(len(usual))])
    texts = spoken(events, truth, statements)[0]["text"].to_pylist()
    openings = [" ".join(text.lower().split()[:3]) for text in texts]
    commonest = sorted((openings.count(opening) for opening in set(openings)), reverse=True)[:10]
    assert len(set(texts)) >= 0.98 * len(texts)
    assert sum(commonest) <= 0.12 * len(texts)


def test_an_empty_log_stays_empty() -> None:
    events, truth, statements = talks([])
    made, told = spoken(events, truth, statements)
    assert made.num_rows == told.num_rows == 0
    assert made.schema == events.schema
