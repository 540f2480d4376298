from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from flows.common.draws import Draws
from flows.language.ask import word_requests
from prompts.load import load_phrases, one_of
from tests.prompts.talks import DOMAINS

PHRASES = load_phrases()
DRAWS = Draws(3, "language")
Rows = Sequence[tuple[str, str, str, str | None]]
"""Group, family, domain and dimension."""


def tasks(rows: Rows) -> pa.Table:
    """Tasks of group, family, domain and dimension."""
    names = ("group_id", "family", "domain", "dimension")
    columns = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(names)}
    return pa.table({"task_id": [f"t{place}" for place in range(len(rows))], **columns})


def worded(rows: Rows) -> list[str]:
    return list(word_requests(tasks(rows), DOMAINS, PHRASES, DRAWS)["request"].to_pylist())


def test_all_tasks_of_a_group_read_the_same_whatever_the_dimension_of_an_act() -> None:
    rows = [(f"g{place % 30}", "act", "food", f"food.d{place}") for place in range(120)]
    texts = worded(rows)
    assert texts == texts[:30] * 4
    assert len(set(texts)) >= 8


def test_a_know_names_the_noun_of_its_dimension_and_no_value() -> None:
    rows = [
        (f"{name}{place}", "know", name, f"{name}.{key}")
        for name, domain in DOMAINS.items()
        for key in domain.dimensions
        for place in range(20)
    ]
    for (_, _, name, dimension), text in zip(rows, worded(rows), strict=True):
        assert dimension is not None
        spec = DOMAINS[name].dimensions[dimension.split(".")[1]]
        assert spec.noun in text
        words = one_of(word for d in DOMAINS[name].dimensions.values() for v in d.values.values() for word in v.words)
        assert not words.search(text)


def test_a_domain_without_requests_of_its_own_is_worded_by_those_for_any() -> None:
    tenth = {"garden": DOMAINS["food"].model_copy(update={"name": "garden"})}
    made = word_requests(tasks([("g", "act", "garden", None)]), tenth, PHRASES, DRAWS)
    assert made["request"][0].as_py() in PHRASES.request.act["any"].templates


def test_the_request_takes_the_place_of_one_that_is_there() -> None:
    rows = tasks([("g", "act", "food", None)]).append_column("request", pa.array(["?"]))
    made = word_requests(rows, DOMAINS, PHRASES, DRAWS)
    assert made.column_names == rows.column_names and made["request"][0].as_py() != "?"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("g", "profile", "food", None)], r"no words for \['profile'\]"),
        ([("g", "act", "garden", None)], r"no words for \['garden'\]"),
        ([("g", "know", "food", "food.nothing")], "task t0 asks about a dimension"),
        ([("g", "act", "food", None), ("g", "act", "groceries", None)], "1 groups hold tasks of several domains.* g"),
    ],
)
def test_tasks_that_cannot_be_worded_are_refused(rows: Rows, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        worded(rows)


def test_no_tasks_give_no_requests() -> None:
    assert worded([]) == []
