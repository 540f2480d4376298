"""``habitus domains``: list, show and check the areas of life."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from flows.cli.console import terminal
from flows.cli.releases import aligned
from schemas.behaviour.volume import records_per_day
from schemas.domain import Domain
from schemas.load import domain_names, load_domain, load_domains
from schemas.source import read_yaml
from validation.structure.domain_file import check_domain

HEADINGS = ("domain", "items", "dimensions", "tools", "a day", "key action", "about")


def list_domains(as_json: bool) -> int:
    """0. Prints every built-in domain with its size."""
    console = terminal()
    domains = load_domains(domain_names())
    facts = [_facts(domain) for domain in domains.values()]
    if as_json:
        console.json(facts)
        return 0
    rows = [
        (
            str(fact["domain"]),
            f"{fact['items']:,}",
            str(len(fact["dimensions"])),
            str(len(fact["tools"])),
            f"{fact['records_per_day']:.2f}",
            str(fact["key_action"]),
            str(fact["title"]),
        )
        for fact in facts
    ]
    for line in aligned([HEADINGS, *rows], counts=(1, 2, 3, 4)):
        console.result(line)
    total = sum(fact["records_per_day"] for fact in facts)
    console.progress(f"{total:.1f} lines a person and day in all; `habitus domains show NAME` tells more")
    return 0


def _facts(domain: Domain) -> dict[str, Any]:
    return {
        "domain": domain.name,
        "title": domain.title,
        "items": domain.item_count(),
        "dimensions": {name: list(spec.values) for name, spec in domain.dimensions.items()},
        "activities": {name: activity.mechanism for name, activity in domain.activities.items()},
        "tools": [tool.name for tool in domain.tools],
        "records_per_day": round(records_per_day(domain), 3),
        "key_action": domain.key_action,
    }


def show(name: str, as_json: bool) -> int:
    """0. Prints what a built-in domain is made of. Raises SourceError if there is none of that name."""
    console = terminal()
    domain = load_domain(name)
    if as_json:
        console.json(domain.model_dump(mode="json"))
        return 0
    for line in _told(domain):
        console.result(line)
    return 0


def _told(domain: Domain) -> list[str]:
    shop = domain.catalogue
    lines = [
        f"{domain.name}: {domain.title}",
        f"apps: {', '.join(app.name for app in domain.apps)}",
        "",
        "what people do:",
    ]
    for name, activity in domain.activities.items():
        lines.append(f"  {name}: {activity.mechanism}, rhythm of {activity.reference}")
    lines += [
        f"  {records_per_day(domain):.2f} lines a person and day; key action {domain.key_action}",
        "",
        "dimensions:",
    ]
    for name, spec in domain.dimensions.items():
        marks = ", sensitive" if spec.sensitive else ""
        values = ", ".join(f"{value} {value_spec.share:.0%}" for value, value_spec in spec.values.items())
        lines.append(f"  {name} ({spec.kind}, {spec.clock}{marks}): {values}")
        lines += [f"    by {tilt.attribute or tilt.dimension} ({tilt.basis})" for tilt in spec.tilts]
    lines += ["", f"catalogue: {domain.item_count():,} items, paid for by {shop.price_for}"]
    for name, category in shop.categories.items():
        limits = [f"from {category.opens} to {category.closes} h"] if category.opens is not None else []
        limits += [f"from age {category.min_age}"] if category.min_age is not None else []
        lines.append(f"  {name}: {', '.join(category.nouns)}" + (f" ({', '.join(limits)})" if limits else ""))
    if domain.personal:
        lines += ["", f"people's own: {', '.join(domain.personal)}"]
    lines += ["", "tools:"]
    lines += [f"  {tool.name} ({tool.verb} {tool.target}): {tool.description}" for tool in domain.tools]
    return lines


def check(file: Path, as_json: bool) -> int:
    """0 and `ok` with warnings, or 2 and every violation, each with file and line."""
    console = terminal()
    result = check_domain(read_yaml(file), load_domains(domain_names()))
    is_ok = result.domain is not None
    if as_json:
        told = {name: [dataclasses.asdict(one) for one in getattr(result, name)] for name in ("violations", "warnings")}
        console.result(json.dumps({"ok": is_ok, **told}, indent=1, ensure_ascii=False))
        return 0 if is_ok else 2
    for violation in result.violations:
        console.error(str(violation))
    for warning in result.warnings:
        console.progress(f"warning: {warning}", "yellow")
    if result.domain is None:
        return 2
    facts = _facts(result.domain)
    size = f"{facts['items']:,} items, {len(facts['dimensions'])} dimensions, {len(facts['tools'])} tools"
    console.result(f"ok: {result.domain.name}, {size}, {facts['records_per_day']:.2f} lines a person and day")
    console.progress(f"build with it: habitus build smoke --set data.domains.{result.domain.name}={file}")
    return 0
