"""Rule and fix, in plain words, for every error that a model of `schemas` can raise."""

from __future__ import annotations

import difflib
import json
import math
import re
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

Place = tuple[str | int, ...]
"""Keys and list indices from the top of a file down to a value."""
NAME_PATTERN = "^[a-z][a-z0-9_]*$"


class Explained(NamedTuple):
    """One error of a model."""

    place: Place
    rule: str
    fix: str


@dataclass(frozen=True)
class Slot:
    """What a model wants at one place: the type without its wrappings, and what limits it."""

    annotation: Any
    limits: tuple[Any, ...] = ()

    @property
    def fields(self) -> dict[str, FieldInfo]:
        """Fields, where a model is wanted."""
        return self.annotation.model_fields if _is_model(self.annotation) else {}

    @property
    def is_shares(self) -> bool:
        """Whether a map to numbers, or a map of such maps, is wanted: something that has meaning as a whole only."""
        part = inside(self, "") if get_origin(self.annotation) is dict else None
        return part is not None and (part.annotation is float or part.is_shares)


def explained(model_class: type[BaseModel], error: ValidationError) -> list[Explained]:
    """Every error with its place, rule and fix. A key that is missing only for a misspelling is left out."""
    out: list[Explained] = []
    misspelt: set[Place] = set()
    problems = error.errors(include_url=False)
    for problem in problems:
        if problem["type"] == "extra_forbidden":
            place = _untagged(tuple(problem["loc"]), model_class)
            meant = _meant(place, model_class)
            misspelt.add((*place[:-1], meant or ""))
            out.append(Explained(place, "there is no such key", _extra_fix(place, meant, model_class)))
    for problem in problems:
        place = _untagged(tuple(step for step in problem["loc"] if step != "[key]"), model_class)
        if problem["type"] == "extra_forbidden" or (problem["type"] == "missing" and place in misspelt):
            continue
        rule, fix = _rule_and_fix(problem, model_class, place)
        out.append(Explained(place, f"its key {rule}" if "[key]" in problem["loc"] else rule, fix))
    return out


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """``did you mean `x`?`` for the nearest known word; if none is near, ``otherwise`` or the known words."""
    words = list(known)
    if near := nearest(word, words):
        return f"did you mean `{near}`?"
    return otherwise or f"known are {', '.join(words)}"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like the given one, if one is like it at all."""
    plain = {name.casefold().replace("-", "_"): name for name in known}
    close = difflib.get_close_matches(word.casefold().replace("-", "_"), plain, n=1, cutoff=0.7)
    return plain[close[0]] if close else None


def slot_at(model_class: type[BaseModel], place: Place) -> Slot | None:
    """What the model wants at a place; None where it wants nothing."""
    slot: Slot | None = Slot(model_class)
    for step in place:
        slot = inside(slot, step)
    return slot


def inside(slot: Slot | None, step: str | int) -> Slot | None:
    """What is wanted one step further down."""
    if slot is None:
        return None
    if field := slot.fields.get(str(step)):
        return _bare(field.annotation, tuple(field.metadata))
    arguments = get_args(slot.annotation)
    if models := members(slot.annotation):
        return _any_of([found for model in models if (found := inside(Slot(model), step)) is not None])
    if get_origin(slot.annotation) is dict:
        return _bare(arguments[1])
    if get_origin(slot.annotation) is list:
        return _bare(arguments[0])
    return None


def _bare(annotation: Any, limits: tuple[Any, ...] = ()) -> Slot:
    """The type inside ``Annotated`` and ``| None``."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            for limit in more:
                limits += tuple(limit.metadata) if isinstance(limit, FieldInfo) else (limit,)
        elif get_origin(annotation) in (Union, types.UnionType):
            kept = [part for part in get_args(annotation) if part is not type(None)]
            if len(kept) != 1:
                return Slot(annotation, limits)
            annotation = kept[0]
        else:
            return Slot(annotation, limits)


def _any_of(found: list[Slot]) -> Slot | None:
    """What is wanted by one model or another of a union: all their words, or maps to what any of them has in its maps."""
    kinds = list(dict.fromkeys(slot.annotation for slot in found))
    if len(kinds) > 1 and all(get_origin(kind) is Literal for kind in kinds):
        return Slot(Literal[tuple(word for kind in kinds for word in get_args(kind))])
    if len(kinds) > 1 and all(get_origin(kind) is dict for kind in kinds):
        parts = tuple(_bare(get_args(kind)[1]).annotation for kind in kinds)
        return Slot(dict[str, Union.__getitem__(parts)], found[0].limits)  # type: ignore[misc]
    return found[0] if found else None


def members(annotation: Any) -> list[Any]:
    """The models of a union that is told apart by a field, such as the mechanism of an activity."""
    is_union = get_origin(annotation) in (Union, types.UnionType)
    return [part for part in get_args(annotation) if _is_model(part)] if is_union else []


def _untagged(place: Place, model_class: type[BaseModel]) -> Place:
    """The place without the tags that pydantic puts in where a union of models is told apart by a field."""
    slot: Slot | None = Slot(model_class)
    out: list[str | int] = []
    for step in place:
        if slot is not None and any(_is_tag_of(model, step) for model in members(slot.annotation)):
            continue
        out.append(step)
        slot = inside(slot, step)
    return tuple(out)


def _is_tag_of(model: Any, step: str | int) -> bool:
    tags = (field.annotation for field in model.model_fields.values() if get_origin(field.annotation) is Literal)
    return step not in model.model_fields and any(get_args(tag) == (step,) for tag in tags)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _meant(place: Place, model_class: type[BaseModel]) -> str | None:
    slot = slot_at(model_class, place[:-1])
    key = str(place[-1])
    if slot is None or key in _places_of_fields(model_class):
        return None
    return nearest(key, slot.fields)


def _extra_fix(place: Place, meant: str | None, model_class: type[BaseModel]) -> str:
    if meant:
        return f"did you mean `{meant}`?"
    if elsewhere := _places_of_fields(model_class).get(str(place[-1])):
        return f"did you mean `{elsewhere}`?"
    slot = slot_at(model_class, place[:-1])
    return f"keys here are {', '.join(slot.fields)}" if slot else "remove it"


def _places_of_fields(model_class: type[BaseModel]) -> dict[str, str]:
    """Name of a field to its full dotted name, for fields that can be reached without naming an entry of a map."""
    return {name: dotted for dotted, name in reversed(list(_walk(model_class, "")))}


def _walk(model_class: type[BaseModel], before: str) -> Iterator[tuple[str, str]]:
    inner = []
    for name, field in model_class.model_fields.items():
        yield before + name, name
        slot = _bare(field.annotation)
        if _is_model(slot.annotation):
            inner.append((slot.annotation, f"{before}{name}."))
    for part, start in inner:
        yield from _walk(part, start)


def _rule_and_fix(problem: Any, model_class: type[BaseModel], place: Place) -> tuple[str, str]:
    kind, value, context = problem["type"], problem["input"], problem.get("ctx", {})
    wanted = slot_at(model_class, place) or Slot(None)
    if kind == "broken_rule":
        return context["rule"], context["fix"]
    if kind == "missing":
        return "must be given", _missing_fix(place, model_class)
    if kind == "literal_error":
        choices = [str(choice) for choice in get_args(wanted.annotation)] if _is_literal(wanted) else []
        if len(choices) == 1:
            return f"must be {choices[0]}", f"write {choices[0]}"
        return f"must be one of {', '.join(choices)}", did_you_mean(str(value), choices, "write one of them")
    if kind in ("greater_than_equal", "greater_than", "less_than_equal", "less_than"):
        return f"must be {_range(wanted)}", _range_fix(kind, value, context, wanted)
    if kind == "string_pattern_mismatch":
        return _pattern_rule(context["pattern"]), _pattern_fix(str(value), context["pattern"])
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        name, known = (
            context["discriminator"].strip("'"),
            [tag.strip(" '") for tag in context.get("expected_tags", "").split(",")],
        )
        if kind == "union_tag_not_found":
            return f"must say its `{name}`", f"add `{name}`"
        return f"its `{name}` must be one of {', '.join(known)}", did_you_mean(context["tag"], known)
    if kind in ("too_short", "string_too_short"):
        unit = "characters" if kind == "string_too_short" else "entries"
        return f"must have at least {context['min_length']} {unit}", "add what is missing"
    if kind in ("too_long", "string_too_long"):
        unit = "characters" if kind == "string_too_long" else "entries"
        return f"must have at most {context['max_length']} {unit}", "take some away"
    if kind.startswith("datetime_"):
        example = f"{value}T00:00:00+00:00" if re.fullmatch(r"\d{4}-\d\d-\d\d", str(value)) else None
        return "must be a time with its offset from UTC", f"write {example or 'it like 2025-01-06T00:00:00+00:00'}"
    return _type_rule(kind, value, wanted) or (problem["msg"].replace("Input should", "must"), "")


def _is_literal(slot: Slot) -> bool:
    return get_origin(slot.annotation) is Literal


def _missing_fix(place: Place, model_class: type[BaseModel]) -> str:
    name = str(place[-1])
    parent = slot_at(model_class, place[:-1])
    field = parent.fields.get(name) if parent else None
    about = field.description.split("\n")[0] if field is not None and field.description else ""
    return f"add `{name}`" + (f": {about}" if about else "")


def _bounds(slot: Slot) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for limit in slot.limits:
        for name in ("ge", "gt", "le", "lt"):
            if getattr(limit, name, None) is not None:
                found[name] = getattr(limit, name)
    return found


def _range(slot: Slot) -> str:
    """``0 to 1``, ``above 0``, ``0 or more and below 8`` …"""
    found = _bounds(slot).items()
    bounds = {name: f"{bound:.15g}" if isinstance(bound, float) else str(bound) for name, bound in found}
    if "ge" in bounds and "le" in bounds:
        return f"{bounds['ge']} to {bounds['le']}"
    lower = f"{bounds['ge']} or more" if "ge" in bounds else f"above {bounds['gt']}" if "gt" in bounds else ""
    upper = f"{bounds['le']} or less" if "le" in bounds else f"below {bounds['lt']}" if "lt" in bounds else ""
    return " and ".join(part for part in (lower, upper) if part) or "a number"


def _range_fix(kind: str, value: Any, context: dict[str, Any], slot: Slot) -> str:
    bounds = _bounds(slot)
    if bounds == {"ge": 0, "le": 1} and 1 < value <= 100:
        return f"write {value / 100:.12g} for {value:.12g} %"
    if kind.endswith("equal"):
        return f"the nearest that is allowed is {context['ge' if kind.startswith('greater') else 'le']:.15g}"
    return f"write a number {_range(slot)}"


def _pattern_rule(pattern: str) -> str:
    if pattern == NAME_PATTERN:
        return "must be lower-case letters, digits and underscores, beginning with a letter"
    if re.fullmatch(r"\^\w+\$", pattern):
        return f"must be {pattern[1:-1]}"
    return f"must match `{pattern}`"


def _pattern_fix(value: str, pattern: str) -> str:
    slug = re.sub(r"\W+", "_", value.casefold()).strip("_")
    if re.search(pattern, slug):
        return f"write {slug}"
    return f"write {pattern[1:-1]}" if re.fullmatch(r"\^\w+\$", pattern) else "rename it"


def _type_rule(kind: str, value: Any, slot: Slot) -> tuple[str, str] | None:
    """Rule and fix where the value is of the wrong type."""
    if kind in ("int_type", "int_parsing", "int_from_float", "int_parsing_size"):
        return "must be a whole number", _number_fix(value, whole=True)
    if kind in ("float_type", "float_parsing"):
        return "must be a number", _number_fix(value, whole=False)
    if kind == "finite_number":
        return "must be a finite number", f"write a number, {_range(slot)}" if _bounds(slot) else "write a number"
    if kind == "string_type":
        quoted = json.dumps(_text_of(value))
        return "must be text", f"write {quoted} in quotes" if _is_scalar(value) else "write one word"
    if kind in ("bool_type", "bool_parsing"):
        meant = {"yes": "true", "on": "true", "no": "false", "off": "false", "1": "true", "0": "false"}
        return "must be true or false", f"write {meant.get(str(value).casefold(), 'true or false')}"
    if kind == "list_type":
        return "must be a list", f"write [{_text_of(value)}]" if _is_scalar(value) else "write [first, second]"
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        keys = ", ".join(slot.fields)
        fix = f"its keys are {keys}" if keys else "write `key: value` lines below it"
        return "must be a map of keys to values", fix
    return None


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _text_of(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _number_fix(value: Any, whole: bool) -> str:
    """What to write instead, if the text or number shows what was meant."""
    text = str(value).strip() if not isinstance(value, bool) else ""
    percent = text.endswith("%")
    try:
        number = float(re.sub(r"[_,' %]", "", text))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        return "write a whole number" if whole else "write a number"
    number = number / 100 if percent else number
    if whole and number != int(number):
        return f"write {round(number)}"
    return f"write {int(number) if number == int(number) else number}" + (" without quotes" if text == value else "")
