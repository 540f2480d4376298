"""Claims about the catalogue."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from flows.catalogue.generate import Catalogue, catalogue, popularity
from flows.common.draws import Draws
from schemas.domain import Domain
from schemas.load import load_domains
from schemas.market import load_market
from tests.flows.catalogue.shelves import Shelf

DRAWS = Draws(7, "catalogue")
US = load_market("us")


@pytest.fixture(scope="module")
def domains() -> dict[str, Domain]:
    return load_domains(["food", "groceries"])


@pytest.fixture(scope="module")
def made(domains: Mapping[str, Domain]) -> Catalogue:
    return catalogue(domains, US, DRAWS)


def where(table: pa.Table, column: str, value: object) -> pa.Table:
    return table.filter(pc.equal(table[column], value))


def changed(domain: Domain, **parts: object) -> Domain:
    return domain.model_copy(update={"catalogue": domain.catalogue.model_copy(update=parts)})


def test_there_is_one_item_for_every_category_and_combination_of_values(shelf: Shelf) -> None:
    grid = shelf.grid()
    wanted = len(shelf.domain.catalogue.categories)
    for spec in shelf.domain.dimensions.values():
        wanted *= len(spec.values)
    assert len(grid) == len(np.unique(grid, axis=0)) == wanted == shelf.domain.item_count()


def test_rows_are_in_the_order_of_their_keys(made: Catalogue) -> None:
    keys = (["item_id"], ["item_id", "dimension"], ["tool_id"])
    for table, key in zip(made, keys, strict=True):
        rows = list(zip(*(table[name].to_pylist() for name in key), strict=True))
        assert rows == sorted(set(rows))


def test_distractors_are_attributes_whose_values_are_equally_frequent(shelf: Shelf) -> None:
    for name, spec in shelf.domain.distractors.items():
        counts = np.bincount(shelf.codes(name), minlength=len(spec.words))
        assert counts.max() < 1.25 * counts.min(), name


def test_every_noun_of_a_category_is_used_about_equally_often(shelf: Shelf) -> None:
    for category, spec in shelf.domain.catalogue.categories.items():
        titles = [title.casefold() for title in where(shelf.items, "category", category)["title"].to_pylist()]
        hits = np.array([[noun.casefold() in title for noun in spec.nouns] for title in titles])
        longer = [[noun != other and noun in other for other in spec.nouns] for noun in spec.nouns]
        # `bowl` stands in `rice bowl` too: only the longest that fits is meant.
        meant = hits & ~np.array([[hits[row][line].any() for line in longer] for row in range(len(titles))])
        assert (meant.sum(axis=1) >= 1).all(), category
        counts = meant.sum(axis=0)
        assert counts.max() < 1.4 * counts.min(), (category, spec.nouns, counts)


def test_hours_and_ages_are_those_of_the_category(shelf: Shelf) -> None:
    for category, spec in shelf.domain.catalogue.categories.items():
        rows = where(shelf.items, "category", category)
        facts = {(row["opens_hour"], row["closes_hour"], row["min_age"]) for row in rows.to_pylist()}
        assert facts == {(spec.opens, spec.closes, spec.min_age)}


def test_an_id_is_a_function_of_the_seed_and_of_the_item(domains: Mapping[str, Domain], made: Catalogue) -> None:
    assert all(re.fullmatch("i-[0-9a-hjkmnp-tv-z]{10}", item) for item in made.items["item_id"].to_pylist())
    other = catalogue(domains, US, Draws(8, "catalogue"))
    assert not set(other.items["item_id"].to_pylist()) & set(made.items["item_id"].to_pylist())
    golden = where(made.items, "item_id", GOLDEN["item_id"]).to_pylist()
    assert golden == [GOLDEN]


GOLDEN = {
    "item_id": "i-0037q2yt9d",
    "domain": "food",
    "category": "wraps",
    "title": "Punjabi roll with grilled chicken",
    "description": "Delivery: a sub-half-hour affair. Seasoning: medium-hot. You get it packed in a tin, from a cook of "
    "thirty years, with fruit to follow. Price level: fairly priced. Serving: small-plate.",
    "price_cents": 905,
    "currency": "USD",
    "owner_user_id": None,
    "min_age": None,
    "opens_hour": 9,
    "closes_hour": 24,
}


def test_the_order_of_domains_dimensions_and_values_in_the_files_changes_nothing(
    domains: Mapping[str, Domain], made: Catalogue
) -> None:
    food = domains["food"]
    turned = food.model_copy(
        update={
            "dimensions": {
                name: spec.model_copy(update={"values": dict(reversed(spec.values.items()))})
                for name, spec in reversed(food.dimensions.items())
            },
            "distractors": dict(reversed(food.distractors.items())),
        }
    )
    again = catalogue({"groceries": domains["groceries"], "food": turned}, US, DRAWS)
    assert again.item_attributes.equals(made.item_attributes)
    assert again.tools.equals(made.tools)
    assert again.items.equals(made.items)


def test_a_new_category_or_domain_leaves_every_other_item_as_it_was(
    domains: Mapping[str, Domain], made: Catalogue
) -> None:
    shelves = domains["food"].catalogue.categories
    sweet = shelves["plates"].model_copy(update={"nouns": ["tart"], "base_price_cents": 800})
    grown = catalogue({"food": changed(domains["food"], categories={"sweet": sweet, **shelves})}, US, DRAWS)
    kept = grown.items.filter(pc.not_equal(grown.items["category"], "sweet"))
    assert kept.num_rows < grown.items.num_rows
    assert kept.equals(where(made.items, "domain", "food"))


def test_a_changed_share_of_contrasts_moves_no_id_no_title_and_no_price(
    domains: Mapping[str, Domain], made: Catalogue
) -> None:
    plain = catalogue({"food": changed(domains["food"], contrast_share=0.0)}, US, DRAWS).items
    before = where(made.items, "domain", "food")
    same = [name for name in before.column_names if plain[name].equals(before[name])]
    assert [name for name in before.column_names if name not in same] == ["description"]


def test_tools_carry_a_schema_of_their_arguments(domains: Mapping[str, Domain], made: Catalogue) -> None:
    row = next(row for row in made.tools.to_pylist() if row["name"] == "food_place_order")
    schema = json.loads(row["parameters"])
    assert schema["required"] == ["item_id"]
    assert schema["properties"]["quantity"]["maximum"] == 10
    assert schema["additionalProperties"] is False
    assert made.tools["tool_id"].to_pylist() == sorted(tool.name for one in domains.values() for tool in one.tools)


def test_a_tool_that_cannot_work_stops_the_build_with_every_reason(domains: Mapping[str, Domain]) -> None:
    broken = domains["food"].tools[2].model_copy(update={"requires": [], "effects": ["charge_balance"]})
    spoilt = domains["food"].model_copy(update={"tools": [broken]})
    with pytest.raises(ValueError, match=r"domain food: .*`charge_balance` must come after one of"):
        catalogue({"food": spoilt}, US, DRAWS)


def test_popularity_is_zipf_over_a_rank_that_no_order_changes(domains: Mapping[str, Domain], made: Catalogue) -> None:
    food = domains["food"]
    ids = where(made.items, "domain", "food")["item_id"].to_pylist()
    weights = popularity(food, ids, DRAWS)
    exponent = food.catalogue.popularity_exponent
    assert np.allclose(np.sort(weights)[::-1], np.round(np.arange(1, len(ids) + 1) ** -exponent, 6))
    assert (popularity(food, ids[::-1], DRAWS)[::-1] == weights).all()
    assert (popularity(food, ids, Draws(8, "catalogue")) != weights).any()
    assert abs(np.corrcoef(weights, np.arange(len(ids)))[0, 1]) < 0.1
