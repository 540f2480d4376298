"""What attributes that are learnt from a file of people must agree on with the rest of a config."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from schemas.config.people import SEGMENT, WORDS, Disagreement, map_at
from schemas.config.personas import BUILT_IN, FOLLOWS
from schemas.config.pieces import selectors_of
from schemas.explain import Place
from schemas.tables.sealed import PERSONAS


def learnt_disagreements(data: Mapping[str, Any]) -> Iterator[Disagreement]:
    """Every rule about attributes of a file of people that is broken."""
    personas = map_at(data, "personas")
    yield from _twice(personas)
    yield from _words(personas)
    yield from _cuts(personas, selectors_of(personas))


def _twice(personas: Mapping[str, Any]) -> Iterator[Disagreement]:
    """An attribute of the file is said nowhere else, and is no column that the build fills."""
    for name in map_at(personas, "people_from", "columns"):
        place: Place = ("personas", "people_from", "columns", name)
        if name in FOLLOWS or name == SEGMENT or (name in PERSONAS.columns and name not in BUILT_IN):
            fix = f"name the column `{FOLLOWS[name]}`" if name in FOLLOWS else "use another name"
            yield Disagreement(place, f"`{name}` cannot be learnt from a file", fix)
        places = [("attributes",), *(("segments", segment, "attributes") for segment in map_at(personas, "segments"))]
        for path in places:
            if name in map_at(personas, *path):
                rule = f"`{name}` is learnt from the file already"
                yield Disagreement(("personas", *path, name), rule, "remove it here, or from people_from.columns")


def _words(personas: Mapping[str, Any]) -> Iterator[Disagreement]:
    """A column of text is not learnt from numbers."""
    for name, part in map_at(personas, "people_from", "learnt").items():
        if name in WORDS and map_at(part, "numbers"):
            rule = f"`{name}` is words, and its column holds numbers"
            yield Disagreement(("personas", "people_from", "columns", name), rule, "write words into the file")


def _cuts(personas: Mapping[str, Any], selectors: Mapping[str, set[str]]) -> Iterator[Disagreement]:
    """Numbers of a file are learnt in bands that end wherever the config speaks of them; later they cannot be cut."""
    for name, part in map_at(personas, "people_from", "learnt").items():
        if map_at(part, "numbers") and (lacking := sorted(selectors.get(name, set()) - set(part.get("cut_at") or []))):
            told = ", ".join(f"`{value}`" for value in lacking)
            rule = f"`{name}` was learnt without a cut at {told}, of which the config speaks now"
            fix = "put the file of people beside the config and take `learnt` away"
            yield Disagreement(("personas", "people_from", "learnt", name), rule, fix)
