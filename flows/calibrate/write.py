"""Writes what was fitted into a domain file: only that changes, letter by letter; comments and order stay.

The text is cut where the values stand, and new values are put in their place; then the file is read again, to be sure that
it says what it should.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node

from flows.calibrate.fit import Fit
from schemas.behaviour.volume import records_per_day
from schemas.domain import Domain
from schemas.source import check, read_text

WIDTH = 116


class Edit(NamedTuple):
    """A piece of the text, from and up to a place in it, and what comes there instead."""

    begin: int
    end: int
    text: str


def changed(domain: Domain, name: str, fit: Fit, metrics: frozenset[str]) -> Domain:
    """The domain with the fitted activity in its place, and the lines a day that come of it.

    Gates of ``metrics`` that are held against another reference are gone: people are no longer meant to be like those.
    """
    gates = {
        metric: listed
        for metric, listed in domain.gates.items()
        if metric not in metrics or all(one.reference == fit.activity.reference for one in listed)
    }
    activities = {**domain.activities, name: fit.activity}
    with_it = domain.model_copy(update={"activities": activities, "gates": gates})
    return with_it.model_copy(update={"records_per_day": round(records_per_day(with_it), 2)})


def rewritten(text: str, domain: Domain, name: str, fit: Fit, metrics: frozenset[str]) -> str:
    """The text of the domain's file, saying what :func:`changed` says.

    Raises ValueError if it then says anything else, which would be a fault of this function.
    """
    new = changed(domain, name, fit, metrics)
    plain = fit.activity.model_dump(mode="json", exclude_none=True)
    root = YAML(typ="safe", pure=True).compose(text)
    wanted: dict[str, Any] = {"reference": plain["reference"]}
    wanted |= {key: plain.get(key) for key in ("hours_of", "profile")}
    if fit.has_rhythm:
        wanted |= {key: plain[key] for key in ("per_week", "per_week_basis", "rhythm")}
    if fit.has_habit:
        wanted["habit"] = plain["habit"]
    edits: list[Edit] = []
    if new.records_per_day != domain.records_per_day:
        edits = [Edit(*_span(text, _at(root, "records_per_day")), str(new.records_per_day))]
    edits += _edits(text, _at(root, "activities", name), wanted)
    edits += _gates(text, root, set(domain.gates) - set(new.gates))
    for edit in sorted(edits, reverse=True):
        text = text[: edit.begin] + edit.text + text[edit.end :]
    said = check(Domain, read_text(text, "the calibrated file"))
    if said.model_dump(mode="json") != new.model_dump(mode="json"):
        raise ValueError("the calibrated file does not say what was fitted")
    return text


def _at(node: Node, *path: str) -> Node:
    for step in path:
        node = next(value for key, value in node.value if key.value == step)
    return node


def _edits(text: str, activity: Node, wanted: Mapping[str, Any]) -> Iterator[Edit]:
    """What differs of an activity: values in their place, new keys at its end, keys that are gone with their lines."""
    there = {key.value: (key, value) for key, value in activity.value}
    indent = activity.value[0][0].start_mark.column
    added = ""
    for key, value in wanted.items():
        if value is None:
            if key in there:
                begin = _line_start(text, there[key][0].start_mark.index)
                yield Edit(begin, _line_end(text, _span(text, there[key][1])[1]), "")
        elif key in there:
            if _plain(text, there[key][1]) != value:
                begin, end = _span(text, there[key][1])
                yield Edit(there[key][0].end_mark.index, end, ":" + _written(key, value, indent))
        else:
            added += f"{' ' * indent}{key}:{_written(key, value, indent)}\n"
    if added:
        end = _line_end(text, max(_span(text, value)[1] for _, value in activity.value))
        yield Edit(end, end, added)


def _plain(text: str, node: Node) -> Any:
    """The value of a node as the project reads it."""
    return read_text(" " * node.start_mark.column + text[node.start_mark.index : node.end_mark.index], "a value").value


def _span(text: str, node: Node) -> tuple[int, int]:
    """From where to where a value stands, without blanks and comments that follow it."""
    if isinstance(node, MappingNode) and not node.flow_style and node.value:
        return node.start_mark.index, _span(text, node.value[-1][1])[1]
    if not isinstance(node, MappingNode) and isinstance(node.value, list) and not node.flow_style and node.value:
        return node.start_mark.index, _span(text, node.value[-1])[1]
    begin, end = node.start_mark.index, node.end_mark.index
    while end > begin and text[end - 1] in " \n":
        end -= 1
    return begin, end


def _line_start(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end + 1


def _written(key: str, value: Any, indent: int) -> str:
    """The value after its key and colon: short ones on the line, maps and long texts below it."""
    if isinstance(value, str):
        is_plain = read_text(value, "a text").value == value and not set(value) & set(":#\n")
        return f" {value if is_plain else json.dumps(value, ensure_ascii=False)}"
    if not isinstance(value, dict):
        return f" {_flow(value)}"
    whole = _flow(value)
    if len(whole) + indent + len(key) + 2 <= WIDTH:
        return f" {whole}"
    lines, here = [], ""
    for piece in _pieces(whole):
        if here and indent + 2 + len(here) + len(piece) > WIDTH:
            lines.append(here.rstrip())
            here = " "
        here += piece
    lines.append(here.rstrip())
    return "".join(f"\n{' ' * (indent + 2)}{line}" for line in lines)


def _pieces(flow: str) -> list[str]:
    """A map or list on one line, cut after its commas; those within quotes are text."""
    found, begin, is_quoted = [], 0, False
    for place, letter in enumerate(flow):
        if letter == '"' and flow[place - 1] != "\\":
            is_quoted = not is_quoted
        elif letter == " " and flow[place - 1] == "," and not is_quoted:
            found.append(flow[begin : place + 1])
            begin = place + 1
    return [*found, flow[begin:]]


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)}: {_flow(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(part) for part in value) + "]"
    return _text(value) if isinstance(value, str) else json.dumps(value)


def _text(value: str) -> str:
    """Text as it is, or in quotes where it could be taken for something else."""
    is_plain = read_text(f"[{value}]", "a text").value == [value] and not set(value) & set(":#{}[]\"'\n")
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def _gates(text: str, root: Node, gone: set[str]) -> Iterator[Edit]:
    """Takes out gates, with their lines."""
    gates = next((value for key, value in root.value if key.value == "gates"), None)
    if gates is None or not gone:
        return
    if gates.flow_style or len(gone) == len(gates.value):
        kept = {key.value: _plain(text, value) for key, value in gates.value if key.value not in gone}
        yield Edit(*_span(text, gates), _flow(kept))
        return
    for key, value in gates.value:
        if key.value in gone:
            yield Edit(_line_start(text, key.start_mark.index), _line_end(text, _span(text, value)[1]), "")
