"""Claims about the compact view of the catalogue."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from flows.catalogue.generate import Catalogue, catalogue
from flows.common.draws import Draws
from schemas.behaviour.catalogue_index import catalogue_index, coded_items, read_index
from schemas.domain import Domain
from schemas.load import load_domains
from schemas.market import load_market


@pytest.fixture(scope="module")
def domains() -> dict[str, Domain]:
    return load_domains(["food", "groceries"])


@pytest.fixture(scope="module")
def made(domains: dict[str, Domain]) -> Catalogue:
    return catalogue(domains, load_market("us"), Draws(7, "catalogue"))


def test_codes_say_what_the_tables_say(domains: dict[str, Domain], made: Catalogue) -> None:
    food = domains["food"]
    index = catalogue_index(food, made.items, made.item_attributes)
    assert index.values.dtype == np.int8
    assert index.values.shape == (len(index.item_ids), len(food.dimensions))
    values = {(r["item_id"], r["dimension"]): r["value"] for r in made.item_attributes.to_pylist()}
    items = {row["item_id"]: row for row in made.items.to_pylist()}
    levels = [list(spec.values) for spec in food.dimensions.values()]
    for row in range(0, len(index.item_ids), 37):
        item = index.item_ids[row]
        for place, dimension in enumerate(food.dimension_ids()):
            assert levels[place][index.values[row, place]] == values[item, dimension]
        assert list(food.catalogue.categories)[index.category[row]] == items[item]["category"]
        assert index.price_cents[row] == items[item]["price_cents"]
    assert index.item_ids == sorted(item for item, row in items.items() if row["domain"] == "food")


def test_ids_find_their_rows_and_strangers_find_none(domains: dict[str, Domain], made: Catalogue) -> None:
    index = catalogue_index(domains["food"], made.items, made.item_attributes)
    some = [index.item_ids[5], None, "i-nothing000", index.item_ids[0], index.item_ids[5]]
    assert index.code_of(some).tolist() == [5, -1, -1, 0, 5]
    assert index.code_of(pa.chunked_array([some[:2], some[2:]], pa.string())).tolist() == [5, -1, -1, 0, 5]
    assert index.code_of(pa.array(index.item_ids)).tolist() == list(range(len(index.item_ids)))
    assert index.code_of([]).tolist() == []


def test_the_order_of_the_rows_of_the_tables_is_of_no_account(domains: dict[str, Domain], made: Catalogue) -> None:
    one = catalogue_index(domains["groceries"], made.items, made.item_attributes)
    back = pa.array(np.arange(made.item_attributes.num_rows)[::-1])
    two = catalogue_index(domains["groceries"], made.items.sort_by("title"), made.item_attributes.take(back))
    assert one.item_ids == two.item_ids
    assert (one.values == two.values).all()
    assert (one.price_cents == two.price_cents).all()


def test_what_belongs_to_a_user_is_left_out(domains: dict[str, Domain], made: Catalogue) -> None:
    own = made.items.slice(0, 1).to_pylist()[0] | {
        "item_id": "u000000-b0",
        "domain": "food",
        "category": "address",
        "owner_user_id": "u000000",
    }
    released = pa.concat_tables([made.items, pa.Table.from_pylist([own], schema=made.items.schema)])
    index = catalogue_index(domains["food"], released, made.item_attributes)
    assert index.item_ids == catalogue_index(domains["food"], made.items, made.item_attributes).item_ids


def test_a_catalogue_that_does_not_fit_its_domain_is_refused_with_every_reason(
    domains: dict[str, Domain], made: Catalogue
) -> None:
    attributes = made.item_attributes.to_pylist()
    lost = next(i for i, row in enumerate(attributes) if row["dimension"] == "food.heat")
    odd = next(i for i, row in enumerate(attributes) if row["dimension"] == "food.base")
    attributes[odd]["value"] = "seitan"
    del attributes[lost]
    with pytest.raises(ValueError, match=r"1 items lack food.heat, such as i-.*food.base knows no \['seitan'\]"):
        catalogue_index(domains["food"], made.items, pa.Table.from_pylist(attributes))


def test_the_index_comes_back_from_its_table_as_it_was(domains: dict[str, Domain], made: Catalogue) -> None:
    wholes = [catalogue_index(domain, made.items, made.item_attributes) for domain in domains.values()]
    coded = pa.concat_tables([coded_items(one) for one in wholes]).sort_by("item_id")
    for whole in wholes:
        back = read_index(domains[whole.domain], coded)
        for field in dataclasses.fields(whole):
            one, other = getattr(whole, field.name), getattr(back, field.name)
            assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other, field.name
            assert type(one) is type(other) and getattr(one, "dtype", None) == getattr(other, "dtype", None)
