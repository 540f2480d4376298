from __future__ import annotations

from datetime import UTC, datetime

from flows.catalogue.flow import CATALOGUE_STAGE
from flows.catalogue.generate import catalogue, popularity
from flows.common.draws import Draws
from flows.common.stage import WHOLE, Context
from schemas.config import DataConfig
from schemas.load import load_domains
from schemas.market import load_market


def test_the_stage_makes_what_it_declares_for_the_domains_that_the_config_lists() -> None:
    window = {"start": datetime(2025, 1, 6, tzinfo=UTC), "end": datetime(2025, 2, 3, tzinfo=UTC)}
    people = {"locales": {"ja_JP": 1.0}}
    data = DataConfig.model_validate(
        {"users": 3, "window": window, "domains": ["groceries"], "market": "japan", "personas": people}
    )
    draws = Draws(data.seed, "catalogue")
    made = CATALOGUE_STAGE.run(Context(data, draws, WHOLE), {})
    assert {table.name for table in CATALOGUE_STAGE.writes} == set(made)
    wanted = catalogue(load_domains(["groceries"]), load_market("japan"), draws)
    assert all(made[name].equals(table) for name, table in wanted._asdict().items())
    assert set(made["items"]["currency"].to_pylist()) == {"JPY"}
    ids = wanted.items["item_id"].to_pylist()
    shown = popularity(load_domains(["groceries"])["groceries"], ids, draws)
    coded = made["coded_items"]
    found = dict(zip(coded["item_id"].to_pylist(), coded["weight"].to_pylist(), strict=True))
    assert found == dict(zip(ids, shown.tolist(), strict=True))
    assert all(made[table.name].schema.equals(table.schema()) for table in CATALOGUE_STAGE.writes)
