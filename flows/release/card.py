"""The documents of a release: the card that people and `datasets` read, the package description, the changelog."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flows.common.config import show
from flows.common.files import read_json, write_json, write_text
from flows.common.splits import CATALOGUE
from flows.release.changelog import changelog, read_previous
from flows.release.datapackage import datapackage
from flows.release.manifest import MANIFEST
from flows.release.rates import KindRate, disturbance_rates
from schemas.config import Config, ExecutionConfig
from schemas.config.currency import locales_of
from schemas.tables import Field, Table

DEFAULT_TABLE = "events"
TEMPLATE = "card.md.jinja"
_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
    (1_000_000_000, "100M<n<1B"),
    (10_000_000_000, "1B<n<10B"),
)


def write_documents(
    staging: Path,
    config: Config,
    manifest: Mapping[str, Any],
    files: Mapping[str, Any],
    tables: Mapping[str, Table],
    previous: Path | None,
) -> None:
    """README.md, datapackage.json and CHANGELOG.md in the staged folder. ``previous`` is the version before."""
    write_text(staging / "README.md", card(staging, config, manifest, files, tables))
    write_json(staging / "datapackage.json", datapackage(manifest, files, tables))
    before = read_json(previous / MANIFEST) if previous else None
    earlier = read_previous(previous) if previous else None
    write_text(staging / "CHANGELOG.md", changelog(manifest, before, earlier))


def card(
    staging: Path, config: Config, manifest: Mapping[str, Any], files: Mapping[str, Any], tables: Mapping[str, Table]
) -> str:
    """The text of README.md: front matter for `datasets`, then what a reader needs. It reads no clock."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["thousands"] = lambda number: f"{number:,}"
    environment.filters["cell"] = _cell
    described = files["tables"]
    splits = split_order(config)
    return environment.get_template(TEMPLATE).render(
        manifest=manifest,
        config=config,
        config_yaml=config_yaml(config),
        front=front_matter(config, manifest, files),
        counts={name: facts["rows"] for name, facts in described.items()},
        tables=[_table_facts(tables[name], described[name], splits) for name in sorted(tables)],
        gates=manifest["gates"],
        rates=[_rate_cells(rate) for rate in disturbance_rates(staging, files, config.data)],
        first_split=next(split for split in splits if split in described[DEFAULT_TABLE]["splits"]),
    )


def front_matter(config: Config, manifest: Mapping[str, Any], files: Mapping[str, Any]) -> str:
    """The YAML that `datasets` loads by: one config for each table that has rows, its files by split, one default."""
    described = files["tables"]
    offered = [name for name in sorted(described) if described[name]["rows"]]
    people = config.data.personas.model_dump(mode="json")
    return _yaml(
        {
            "license": "cc-by-4.0",
            "pretty_name": f"Habitus {manifest['name']} {manifest['version']}",
            "language": sorted({locale.split("_")[0] for locale in locales_of(people)}),
            "tags": ["synthetic", "personalization", "agents", "user-modeling", "tool-use"],
            "size_categories": [size_category(sum(facts["rows"] for facts in described.values()))],
            "configs": [_load_config(name, files, split_order(config)) for name in offered],
        }
    )


def size_category(rows: int) -> str:
    """The size class of the Hugging Face Hub."""
    return next((label for limit, label in _SIZES if rows < limit), "10B<n<100B")


def split_order(config: Config) -> list[str]:
    """All splits that a table can have, in the order of the config."""
    return [*config.data.release.splits, CATALOGUE]


def config_yaml(config: Config) -> str:
    """The config as a file that builds the same data. How this build was run is left out."""
    return show(config.model_copy(update={"execution": ExecutionConfig()})).rstrip("\n")


def _load_config(name: str, files: Mapping[str, Any], splits: list[str]) -> dict[str, Any]:
    paths: dict[str, list[str]] = {split: [] for split in splits}
    for entry in files["files"]:
        if entry["table"] == name:
            paths[entry["split"]].append(entry["path"])
    data_files = [{"split": split, "path": where} for split, where in paths.items() if where]
    described: dict[str, Any] = {"config_name": name, "data_files": data_files}
    return {**described, "default": True} if name == DEFAULT_TABLE else described


def _yaml(value: Any) -> str:
    from ruamel.yaml import YAML

    yaml: Any = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False
    yaml.width = 10_000
    stream = io.StringIO()
    yaml.dump(value, stream)
    return stream.getvalue().rstrip("\n")


def _table_facts(declared: Table, described: Mapping[str, Any], splits: list[str]) -> dict[str, Any]:
    rows, by_split = described["rows"], described["splits"]
    return {
        "name": declared.name,
        "layer": declared.layer,
        "doc": declared.doc,
        "key": ", ".join(declared.key),
        "rows": rows,
        "splits": ", ".join(f"{split} {by_split[split]:,}" for split in splits if split in by_split),
        "columns": [
            {
                "name": name,
                "type": str(field.type),
                "unit": field.unit or "",
                "nulls": _share(described["nulls"].get(name), rows),
                "doc": _column_doc(field),
            }
            for name, field in declared.columns.items()
        ],
    }


def _share(nulls: int | None, rows: int) -> str:
    if nulls is None:
        return "never"
    return f"{nulls / rows:.1%}" if rows else "no rows"


def _column_doc(field: Field) -> str:
    return field.doc if field.values is None else f"{field.doc} One of: {', '.join(field.values)}."


def _rate_cells(rate: KindRate) -> dict[str, str]:
    return {
        "kind": f"{rate.family}: {rate.kind}",
        "configured": "" if rate.configured is None else f"{rate.configured:g}",
        "meaning": rate.meaning or "Follows from other kinds.",
        "rows": f"{rate.ledger_rows:,}",
        "realised": "" if rate.realised is None else f"{rate.realised:.4f}",
        "counted": rate.counted or "",
    }


def _cell(value: Any) -> str:
    """The value as one cell of a Markdown table."""
    text = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
    return " ".join(text.split()).replace("|", "\\|")
