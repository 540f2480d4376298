from __future__ import annotations

from datetime import datetime, timezone

from flows.catalogue.flow import CATALOGUE_STAGE
from flows.catalogue.generate import catalogue
from flows.common.draws import Draws
from flows.common.stage import WHOLE, Context
from schemas.config import DataConfig
from schemas.load import load_domains


def test_the_stage_makes_the_catalogue_of_the_domains_that_the_config_lists() -> None:
    window = {"start": datetime(2025, 1, 6, tzinfo=timezone.utc), "end": datetime(2025, 2, 3, tzinfo=timezone.utc)}
    data = DataConfig.model_validate({"users": 3, "window": window, "domains": ["groceries"]})
    draws = Draws(data.seed, "catalogue")
    made = CATALOGUE_STAGE.run(Context(data, draws, WHOLE), {})
    assert [table.name for table in CATALOGUE_STAGE.writes] == list(made)
    wanted = catalogue(load_domains(["groceries"]), draws)
    assert all(made[name].equals(table) for name, table in wanted._asdict().items())
