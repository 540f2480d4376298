"""Links between domains: tastes that depend on tastes elsewhere, in an order in which they can be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from schemas.domain import Domain, Tilt


def tilts_by_taste(domains: Mapping[str, Domain]) -> dict[str, list[Tilt]]:
    """Full name of a dimension to its tilts by dimensions of these domains; links to other domains do not count."""
    return {
        full: [tilt for tilt in spec.tilts if tilt.dimension is not None and tilt.dimension.split(".")[0] in domains]
        for domain in domains.values()
        for full, spec in zip(domain.dimension_ids(), domain.dimensions.values(), strict=True)
    }


def drawing_order(domains: Mapping[str, Domain]) -> list[str]:
    """Full names of all dimensions, those before that others depend on. Raises ``CycleError`` if there is a circle."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for full, tilts in tilts_by_taste(domains).items():
        sorter.add(full, *(tilt.dimension for tilt in tilts if tilt.dimension is not None))
    return list(sorter.static_order())


def link_problems(domains: Mapping[str, Domain]) -> dict[str, list[tuple[str, str]]]:
    """Domain to rules that its links break, each with its fix."""
    values = {full: names for domain in domains.values() for full, names in domain.value_names().items()}
    found: dict[str, list[tuple[str, str]]] = {}
    for full, tilts in tilts_by_taste(domains).items():
        own = found.setdefault(full.split(".")[0], [])
        for tilt in tilts:
            if tilt.dimension not in values:
                own.append(
                    (f"{full} is tilted by `{tilt.dimension}`, which does not exist", "name a dimension there is")
                )
                continue
            strange = [value for value in tilt.multiply if value not in values[tilt.dimension]]
            if strange:
                rule = f"{full} is tilted by {tilt.dimension} of {strange}, which are no values of it"
                own.append((rule, f"values are {values[tilt.dimension]}"))
    if not any(found.values()):
        try:
            drawing_order(domains)
        except CycleError as error:
            circle = " on ".join(f"`{name}`" for name in error.args[1])
            first = str(error.args[1][0]).split(".")[0]
            found[first].append((f"tastes depend in a circle: {circle}", "take one of the tilts away"))
    return found
