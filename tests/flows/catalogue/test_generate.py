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

DRAWS = Draws(7, "catalogue")


@pytest.fixture(scope="module")
def domains() -> dict[str, Domain]:
    return load_domains(["food", "groceries"])


@pytest.fixture(scope="module")
def made(domains: Mapping[str, Domain]) -> Catalogue:
    return catalogue(domains, DRAWS)


def attributes_of(made: Catalogue) -> dict[str, dict[str, str]]:
    out: dict[str, dict[str, str]] = {}
    for row in made.item_attributes.to_pylist():
        out.setdefault(row["item_id"], {})[row["dimension"]] = row["value"]
    return out


def where(table: pa.Table, column: str, value: object) -> pa.Table:
    return table.filter(pc.equal(table[column], value))


def changed(domain: Domain, **parts: object) -> Domain:
    return domain.model_copy(update={"catalogue": domain.catalogue.model_copy(update=parts)})


def test_there_is_one_item_for_every_category_and_combination_of_values(
    domains: Mapping[str, Domain], made: Catalogue
) -> None:
    attributes = attributes_of(made)
    for domain in domains.values():
        wanted = len(domain.catalogue.categories)
        for spec in domain.dimensions.values():
            wanted *= len(spec.values)
        own = [row for row in made.items.to_pylist() if row["domain"] == domain.name]
        combinations = {
            (row["category"], *(attributes[row["item_id"]][name] for name in domain.dimension_ids())) for row in own
        }
        assert len(own) == len(combinations) == wanted


def test_rows_are_in_the_order_of_their_keys(made: Catalogue) -> None:
    keys = (["item_id"], ["item_id", "dimension"], ["tool_id"])
    for table, key in zip(made, keys, strict=True):
        rows = list(zip(*(table[name].to_pylist() for name in key), strict=True))
        assert rows == sorted(set(rows))


def test_distractors_are_attributes_whose_values_are_equally_frequent(
    domains: Mapping[str, Domain], made: Catalogue
) -> None:
    for domain in domains.values():
        for name, spec in domain.distractors.items():
            rows = where(made.item_attributes, "dimension", f"{domain.name}.{name}")
            counts = [entry["counts"] for entry in rows["value"].combine_chunks().value_counts().to_pylist()]
            assert len(counts) == len(spec.words)
            assert max(counts) < 1.2 * min(counts)


def test_a_title_names_exactly_the_values_of_its_item_and_a_description_none(
    domains: Mapping[str, Domain], made: Catalogue
) -> None:
    attributes = attributes_of(made)
    for domain in domains.values():
        spoken = {
            word.casefold(): (f"{domain.name}.{dimension}", value)
            for dimension, spec in domain.dimensions.items()
            for value, value_spec in spec.values.items()
            for word in value_spec.words
        }
        pattern = re.compile(rf"(?=\b({'|'.join(map(re.escape, spoken))})\b)")  # looks ahead, so that words may overlap
        for row in where(made.items, "domain", domain.name).to_pylist():
            read = [spoken[word] for word in pattern.findall(row["title"].casefold())]
            own = attributes[row["item_id"]]
            assert sorted(read) == sorted((name, own[name]) for name in domain.dimension_ids()), row["title"]
            assert not pattern.search(row["description"].casefold()), row["description"]


def test_titles_tell_items_apart_and_begin_with_a_capital(made: Catalogue) -> None:
    for column in ("title", "description"):
        for text in made.items[column].to_pylist():
            assert text[0] == text[0].upper()
            assert "{" not in text
            assert "  " not in text
    pairs = list(zip(made.items["domain"].to_pylist(), made.items["title"].to_pylist(), strict=True))
    assert len(set(pairs)) == len(pairs)


def test_a_description_says_the_distractors_of_its_item(domains: Mapping[str, Domain], made: Catalogue) -> None:
    attributes = attributes_of(made)
    for row in made.items.slice(0, 300).to_pylist():
        for name, spec in domains[row["domain"]].distractors.items():
            phrase = spec.words[attributes[row["item_id"]][f"{row['domain']}.{name}"]]
            assert phrase.casefold() in row["description"].casefold()


def test_every_noun_of_a_category_is_used_about_equally_often(domains: Mapping[str, Domain], made: Catalogue) -> None:
    for category, nouns in domains["groceries"].catalogue.categories.items():
        titles = where(made.items, "category", category)["title"].to_pylist()
        counts = [sum(f" {noun}," in title for title in titles) for noun in nouns]
        assert sum(counts) == len(titles)
        assert max(counts) < 1.3 * min(counts)


def test_prices_go_in_steps_of_five_cents_and_follow_the_factors(made: Catalogue) -> None:
    price = made.items["price_cents"].to_numpy()
    assert (price % 5 == 0).all()
    assert price.min() > 0
    attributes = attributes_of(made)
    level = np.array([attributes[item].get("food.price_level", "") for item in made.items["item_id"].to_pylist()])
    ratio = np.log(price[level == "upscale"]).mean() - np.log(price[level == "midrange"]).mean()
    assert abs(ratio - np.log(1.9)) < 0.02
    spread = np.log(price[level == "budget"] * 1.0)
    assert 0.12 < spread.std() < 0.35


def test_an_id_is_a_function_of_the_seed_and_of_the_item(domains: Mapping[str, Domain], made: Catalogue) -> None:
    assert all(re.fullmatch("i-[0-9a-hjkmnp-tv-z]{10}", item) for item in made.items["item_id"].to_pylist())
    other = catalogue(domains, Draws(8, "catalogue"))
    assert not set(other.items["item_id"].to_pylist()) & set(made.items["item_id"].to_pylist())
    golden = where(made.items, "item_id", GOLDEN["item_id"]).to_pylist()
    assert golden == [GOLDEN]


GOLDEN = {
    "item_id": "i-004z35ya6q",
    "domain": "groceries",
    "category": "meals",
    "title": "Family-pack unsweetened ravioli, fresh, local, big-name, 5g-protein",
    "description": "Ravioli made in a harbour kitchen, in a plain sleeve, with a serving leaflet.",
    "price_cents": 1480,
    "currency": "USD",
    "owner_user_id": None,
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
            }
        }
    )
    again = catalogue({"groceries": domains["groceries"], "food": turned}, DRAWS)
    assert again.item_attributes.equals(made.item_attributes)
    assert again.tools.equals(made.tools)
    assert again.items.equals(made.items)


def test_a_new_category_or_domain_leaves_every_other_item_as_it_was(
    domains: Mapping[str, Domain], made: Catalogue
) -> None:
    shop = domains["food"].catalogue
    more = changed(
        domains["food"],
        categories={"sweet": ["tart"], **shop.categories},
        base_price_cents={"sweet": 800, **shop.base_price_cents},
    )
    grown = catalogue({"food": more}, DRAWS)
    kept = where(grown.items, "category", "main")
    assert kept.equals(where(made.items, "domain", "food"))


def test_a_domain_without_distractors_and_with_a_plain_description_works(domains: Mapping[str, Domain]) -> None:
    bare = changed(domains["food"].model_copy(update={"distractors": {}}), descriptions=["as it comes", "{title}."])
    made = catalogue({"food": bare}, DRAWS)
    rows = made.items.to_pylist()
    assert {row["description"] == "As it comes" for row in rows} == {True, False}
    assert all(row["description"] in ("As it comes", f"{row['title']}.") for row in rows)
    assert made.item_attributes.num_rows == made.items.num_rows * len(bare.dimensions)


def test_tools_carry_a_schema_of_their_arguments(made: Catalogue) -> None:
    row = next(row for row in made.tools.to_pylist() if row["name"] == "groceries_add_to_cart")
    schema = json.loads(row["parameters"])
    assert schema["required"] == ["item_id"]
    assert schema["properties"]["quantity"]["maximum"] == 10
    assert schema["additionalProperties"] is False
    assert made.tools.num_rows == 12


def test_a_tool_that_cannot_work_stops_the_build_with_every_reason(domains: Mapping[str, Domain]) -> None:
    broken = domains["food"].tools[2].model_copy(update={"requires": [], "effects": ["charge_balance"]})
    spoilt = domains["food"].model_copy(update={"tools": [broken]})
    with pytest.raises(ValueError, match=r"domain food: .*`charge_balance` must come after one of"):
        catalogue({"food": spoilt}, DRAWS)


def test_popularity_is_zipf_over_a_rank_that_no_order_changes(domains: Mapping[str, Domain], made: Catalogue) -> None:
    food = domains["food"]
    ids = where(made.items, "domain", "food")["item_id"].to_pylist()
    weights = popularity(food, ids, DRAWS)
    assert np.allclose(np.sort(weights)[::-1], np.round(np.arange(1, len(ids) + 1) ** -0.5, 6))
    assert (popularity(food, ids[::-1], DRAWS)[::-1] == weights).all()
    assert (popularity(food, ids, Draws(8, "catalogue")) != weights).any()
    assert abs(np.corrcoef(weights, np.arange(len(ids)))[0, 1]) < 0.1
