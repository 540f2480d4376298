"""What the keys of a config must agree on with each other.

The rules are judged on plain maps, so that they are told together with whatever else is wrong. A part of the wrong
shape is passed over: its own error stands already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.config.currency import currency_disagreements
from schemas.config.dispositions import effect_disagreements
from schemas.config.learnt import learnt_disagreements
from schemas.config.people import Disagreement, levels_of, map_at, people_disagreements
from schemas.explain import nearest

__all__ = ["Disagreement", "disagreements", "levels_of", "map_at"]


def disagreements(data: Mapping[str, Any]) -> list[Disagreement]:
    """Every rule between keys that the `data` part breaks."""
    judged = (_domains, people_disagreements, learnt_disagreements, currency_disagreements, effect_disagreements)
    return [found for judge in judged for found in judge(data)]


def _domains(data: Mapping[str, Any]) -> Iterator[Disagreement]:
    domains = data.get("domains")
    if not isinstance(domains, list | dict):
        return
    names = [name for name in domains if isinstance(name, str)]
    for index, name in enumerate(domains if isinstance(domains, list) else []):
        if name in domains[:index]:
            yield Disagreement(("domains", index), "a domain stands once in the list", "remove one of the two")
    for name in map_at(data, "timelines", "domains"):
        if name not in names:
            near = nearest(name, names)
            fix = f"did you mean `{near}`?" if near else f"add `{name}` to `data.domains`"
            yield Disagreement(("timelines", "domains", name), "is not among the domains of this config", fix)
