"""Domains as a config shapes them: its effects stand beside the tilts of the domain files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schemas.config.dispositions import Effect
from schemas.domain import DimensionSpec, Domain, RateTilt, Tilt
from schemas.explain import Place, did_you_mean


def shaped(domains: Mapping[str, Domain], effects: Sequence[Effect]) -> dict[str, Domain]:
    """The domains with the effects after their own tilts, in the order of the config."""
    return {name: _with_effects(domain, effects) for name, domain in domains.items()}


def _with_effects(domain: Domain, effects: Sequence[Effect]) -> Domain:
    rates = [
        RateTilt(attribute=one.attribute, rate=one.rate, basis=one.basis)
        for one in effects
        if one.domain == domain.name and one.rate is not None
    ]
    dimensions = {name: _with_tilts(spec, f"{domain.name}.{name}", effects) for name, spec in domain.dimensions.items()}
    tilts = [*domain.participation.tilts, *rates]
    participation = domain.participation.model_copy(update={"tilts": tilts})
    return domain.model_copy(update={"dimensions": dimensions, "participation": participation})


def _with_tilts(spec: DimensionSpec, full: str, effects: Sequence[Effect]) -> DimensionSpec:
    own = [
        Tilt(attribute=one.attribute, multiply=one.multiply, basis=one.basis)
        for one in effects
        if one.dimension == full and one.multiply is not None
    ]
    return spec.model_copy(update={"tilts": [*spec.tilts, *own]})


def effect_problems(data: Mapping[str, Any], domains: Mapping[str, Domain]) -> Iterator[tuple[Place, str, str]]:
    """Tastes and values that effects of a config name and its domains do not have: place, rule and fix.

    ``data`` is the plain map of the config. Parts of the wrong shape are passed over.
    """
    dispositions = data.get("dispositions")
    effects = dispositions.get("effects") if isinstance(dispositions, dict) else None
    values = {full: names for domain in domains.values() for full, names in domain.value_names().items()}
    for index, effect in enumerate(effects if isinstance(effects, list) else []):
        full = effect.get("dimension") if isinstance(effect, dict) else None
        if not isinstance(full, str):
            continue
        here: Place = ("dispositions", "effects", index)
        if full not in values:
            yield (*here, "dimension"), *_unknown_taste(full, values, domains)
            continue
        rows = effect.get("multiply")
        for row, factors in rows.items() if isinstance(rows, dict) else []:
            for value in factors if isinstance(factors, dict) else []:
                if value not in values[full]:
                    rule = f"`{full}` has no value `{value}`"
                    fix = did_you_mean(str(value), values[full], f"its values are {', '.join(values[full])}")
                    yield (*here, "multiply", row, value), rule, fix


def _unknown_taste(full: str, values: Mapping[str, Any], domains: Mapping[str, Domain]) -> tuple[str, str]:
    domain, dot, _ = full.partition(".")
    if not dot:
        same = [name for name in values if name.partition(".")[2] == full]
        fix = f"write {' or '.join(same)}" if same else did_you_mean(full, values, "write domain.dimension")
        return f"`{full}` is no full name of a taste", fix
    if domain not in domains:
        fix = did_you_mean(full, values, f"add `{domain}` to `data.domains`")
        return f"`{domain}` is not among the domains of this config", fix
    return f"there is no taste `{full}`", did_you_mean(full, values)
