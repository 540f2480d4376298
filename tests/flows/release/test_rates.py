from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from flows.release.rates import KindRate, disturbance_rates
from schemas.tables import RELEASED, sort_rows
from tests.flows.lives import Lives, changeable
from tests.flows.release.release_fakes import START, fake_config, fake_tables, stage_fake

LETTERS = sum(text.isascii() and text.isalpha() for text in "thai, bitte – 好 ")


def _rates(staging: Path, extra: list[dict[str, Any]]) -> dict[str, KindRate]:
    """The rates of the fake tables with further ledger rows, by kind."""
    tables, declared = fake_tables(6), RELEASED["injections"]
    first = tables["injections"].slice(0, 1).to_pylist()[0]
    rows = [{**first, "injection_id": f"{first['injection_id']}{number}", **row} for number, row in enumerate(extra)]
    ledger = pa.concat_tables(
        [tables["injections"], declared.conform(pa.Table.from_pylist(rows, schema=declared.schema()))]
    )
    said = pa.array(
        [
            "say" if text else action
            for text, action in zip(
                tables["events"]["text"].to_pylist(), tables["events"]["action"].to_pylist(), strict=True
            )
        ]
    )
    events = tables["events"].set_column(tables["events"].column_names.index("action"), "action", said)
    config = fake_config(6)
    files = stage_fake(staging, config, {**tables, "events": events, "injections": sort_rows(ledger, declared)})
    return {rate.kind: rate for rate in disturbance_rates(staging, files, config.data)}


def test_typos_are_counted_by_letter(tmp_path: Path) -> None:
    typos = [{"kind": "corrupt", "parameters": json.dumps({"letters": letters})} for letters in (1, 3)]
    rate = _rates(tmp_path, typos)["corrupt"]
    assert (rate.ledger_rows, rate.configured) == (2, 0.01)
    assert rate.realised == round(4 / (6 * 6 * LETTERS), 6)


def test_a_life_event_that_moves_two_tastes_is_one(tmp_path: Path) -> None:
    move = {"family": "drift", "kind": "abrupt", "policy": "follow_new_value", "onset_at": START, "cause": "new_job"}
    rate = _rates(tmp_path, [{**move, "dimension": d} for d in ("food.cuisine", "food.diet")])["abrupt"]
    assert rate.ledger_rows == 2
    assert rate.realised == round(1 / (6 * 2 * 7 / 365.25), 6)


def test_kinds_stand_in_the_written_order_with_what_the_config_means(tmp_path: Path) -> None:
    rates = _rates(tmp_path, [{"kind": "late"}])
    assert [rate.family for rate in rates.values()] == sorted(
        (rate.family for rate in rates.values()), key=["noise", "drift", "contradiction"].index
    )
    assert rates["duplicate"].realised == round(6 / (144 - 6), 6)
    assert (rates["accidental"].meaning or "").startswith("Share of choices where another option than the intended")
    assert (rates["late"].configured, rates["late"].ledger_rows, rates["late"].realised) == (None, 1, None)
    assert "state_days" not in rates


def test_a_release_without_disturbances_has_rates_of_nothing(tmp_path: Path) -> None:
    tables = {**fake_tables(6), "injections": RELEASED["injections"].empty()}
    config = fake_config(6)
    files = stage_fake(tmp_path, config, tables)
    rates = {rate.kind: rate for rate in disturbance_rates(tmp_path, files, config.data)}
    assert {rate.ledger_rows for rate in rates.values()} == {0}
    assert rates.pop("corrupt").realised is None, "nobody typed a letter"
    assert rates.pop("other_person").realised is None, "nobody shares an account"
    assert {rate.realised for rate in rates.values()} == {0.0}


def test_noise_is_counted_by_what_it_could_change_before_it_did(tmp_path: Path, town: Lives) -> None:
    """Told from the release alone, where accidental takes stand between the true ones."""
    names = ("events", "items", "actors", "injections")
    for name in names:
        pq.write_table(town.tables[name], tmp_path / name)
    files = {
        "files": [{"table": name, "path": name} for name in names],
        "tables": {"events": {"rows": town["events"].height}, "users": {"rows": town.data.users}},
    }
    rates = {rate.kind: rate for rate in disturbance_rates(tmp_path, files, town.data)}
    choices = changeable(town)
    shares = town["actors"].filter(pl.col("relation") != "self", "has_account_access")
    sittings = choices.join(shares, on="user_id", how="semi")["session_id"].n_unique()
    for kind, base in (("accidental", choices.height), ("other_person", sittings)):
        assert rates[kind].ledger_rows > 200
        assert rates[kind].realised == round(rates[kind].ledger_rows / base, 6)
