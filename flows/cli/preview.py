"""`habitus preview`: some people and a stretch of a life, in a few seconds, without building anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from flows.belongings.flow import BELONGINGS_STAGE
from flows.catalogue.flow import CATALOGUE_STAGE
from flows.cli.cards import cards
from flows.cli.console import terminal
from flows.cli.unfit import notices
from flows.common.config import load_config
from flows.common.draws import Draws
from flows.common.ids import user_numbers
from flows.common.stage import Context, Shard, Stage
from flows.dispositions.flow import DISPOSITIONS_STAGE
from flows.disturb.flow import CORRUPT_STAGE, DISTURB_STAGE
from flows.language.flow import LANGUAGE_STAGE
from flows.personas.flow import PERSONAS_STAGE
from flows.timelines.flow import TIMELINES_STAGE
from schemas.config import Config
from schemas.source import InputError

STAGES = (
    CATALOGUE_STAGE,
    PERSONAS_STAGE,
    BELONGINGS_STAGE,
    DISPOSITIONS_STAGE,
    TIMELINES_STAGE,
    DISTURB_STAGE,
    LANGUAGE_STAGE,
    CORRUPT_STAGE,
)
CARDS = 3
"""People shown by default. The same people as a build of the config would have."""


def preview(
    preset_or_file: str, *, sets: Sequence[str], seed: int | None, users: int | None, user: str | None, weeks: int
) -> int:
    """0. Prints persona cards and one person's days: what an agent would see, and behind it what is true."""
    config = load_config(preset_or_file, sets, seed=seed, users=users)
    rare = notices(config, preset_or_file)
    shown = _shard(config, user)
    tables = _made(config, shown)
    console = terminal()
    for notice in rare:
        console.progress(f"notice: {notice}", "yellow")
    for card in cards(tables):
        console.result(card)
    chosen = user or tables["users"]["user_id"][0].as_py()
    console.result(
        f"\nfrom the log of {chosen}, {weeks} week{'s' if weeks > 1 else ''}; what is wrong with a line stands in brackets\n"
    )
    for line in _days(tables, chosen, config.data.window.start, weeks):
        console.result(line)
    console.result(f"\nnext: `habitus build {preset_or_file}` builds the release, `--dry-run` says first what it takes")
    return 0


def _shard(config: Config, user: str | None) -> Shard:
    """The first people, or the one asked for."""
    if user is None:
        return Shard(0, min(CARDS, config.data.users))
    known = user.startswith("u") and user[1:].isdigit() and int(user[1:]) < config.data.users
    if not known:
        raise InputError(f"user {user!r} is not in this config; users are u000000 to u{config.data.users - 1:06d}")
    number = int(user_numbers(pa.array([user]))[0])
    return Shard(number, number + 1)


def _made(config: Config, shard: Shard) -> dict[str, pa.Table]:
    """The tables of the stages up to words, in memory."""
    tables: dict[str, pa.Table] = {}
    for stage in STAGES:
        tables |= _run(stage, config, shard, tables)
    return tables


def _run(stage: Stage, config: Config, shard: Shard, tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    return dict(stage.run(Context(config.data, Draws(config.data.seed, stage.name), shard), tables))


def _days(tables: dict[str, pa.Table], user: str, start: datetime, weeks: int) -> list[str]:
    """The lines of the log by local day, with words, and the noise of a line in brackets."""
    events = tables["events"].filter(pc.equal(tables["events"]["user_id"], user))
    events = events.filter(pc.less(events["at"], pa.scalar(start + timedelta(weeks=weeks), events["at"].type)))
    kinds = dict(
        zip(tables["event_truth"]["event_id"].to_pylist(), tables["event_truth"]["noise_kind"].to_pylist(), strict=True)
    )
    things = pa.concat_tables([tables[name].select(["item_id", "title"]) for name in ("items", "personal_items")])
    titles = dict(zip(things["item_id"].to_pylist(), things["title"].to_pylist(), strict=True))
    lines, day = [], ""
    for row in events.to_pylist():
        local = row["at"] + timedelta(minutes=row["utc_offset_min"])
        if (today := f"{local:%a %d %b %Y}") != day:
            day = today
            lines.append(day)
        noise = f"[{kinds[row['event_id']]}]" if kinds[row["event_id"]] else ""
        told = "  ".join(part for part in (*_details(row, titles), noise) if part)
        lines.append(f"  {local:%H:%M}  {row['app']:<10} {row['action']:<9} {told}".rstrip())
    return lines or ["  (nothing happened)"]


def _details(row: dict[str, Any], titles: Mapping[str, str]) -> Iterator[str]:
    """What a line says besides when, where and what was done."""
    yield titles.get(row["item_id"], "") if row["item_id"] else ""
    if row["origin_item_id"] is not None:
        yield f"from {titles[row['origin_item_id']]}"
    elif row["starts_at"] is not None:
        yield f"{row['starts_at']:%d %b %Y} to {row['ends_at']:%d %b %Y}"
    if row["series"] is not None:
        yield f"{sum(row['series']):,} in {len(row['series'])} hours"
    if row["text"]:
        yield f"“{row['text']}”"
    if row["rating"]:
        yield f"{row['rating']} stars"
    if row["price_cents"]:
        yield f"{row['price_cents'] / 100:.2f} {row['currency']}"
