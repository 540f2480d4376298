"""What there is to say of every key of a declared model: its type, range and default in words."""

from __future__ import annotations

import copy
import inspect
import json
import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from schemas.explain import Slot, inside, members

NAMES: Mapping[Any, str] = {
    int: "whole number",
    float: "number",
    str: "text",
    bool: "true or false",
    datetime: "time with offset",
}


def first_line(thing: Any) -> str:
    """The first paragraph of a docstring, whole; of a section that is one of several, of each of them."""
    if parts := members(thing):
        return " ".join(dict.fromkeys(first_line(part) for part in parts))
    return (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")


def is_section(slot: Slot) -> bool:
    """Whether a model is wanted, or one of several that are told apart by a key."""
    return bool(slot.fields or members(slot.annotation))


def sections(model: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every section with its path and its model, or the union of its models, parents first; `<name>` stands for the keys
    of a map of sections, `<number>` for places in a list of them."""
    yield path, model
    for name in declarations(model):
        slot = inside(Slot(model), name)
        here = f"{path}.{name}" if path else name
        if slot is not None and get_origin(slot.annotation) in (dict, list):
            step = "<name>" if get_origin(slot.annotation) is dict else "<number>"
            slot, here = inside(slot, 0), f"{here}.{step}"
        if slot is not None and is_section(slot):
            yield from sections(slot.annotation, here)


def keys_of(model: Any, path: str) -> Iterator[tuple[str, Slot, FieldInfo]]:
    """Dotted name, what is wanted, and declaration of every key of a section, sections in it included. Where a section is
    one of several models, the declaration tells which of them have the key, unless all have."""
    for name, field in declarations(model).items():
        slot = inside(Slot(model), name)
        assert slot is not None
        yield f"{path}.{name}" if path else name, slot, field


def declarations(model: Any) -> dict[str, FieldInfo]:
    """The fields of a model; or those of all models of a union, first the one that tells them apart."""
    if not (parts := members(model)):
        fields: dict[str, FieldInfo] = model.model_fields
        return fields
    having: dict[str, list[type[BaseModel]]] = {}
    for part in parts:
        for name in part.model_fields:
            having.setdefault(name, []).append(part)
    first = sorted(having, key=lambda name: get_origin(having[name][0].model_fields[name].annotation) is not Literal)
    return {name: _merged(name, having[name], parts) for name in first}


def _merged(name: str, having: Sequence[type[BaseModel]], parts: Sequence[type[BaseModel]]) -> FieldInfo:
    """One declaration for a key that several models of a union have."""
    by_text: dict[str, list[str]] = {}
    for part in having:
        by_text.setdefault(part.model_fields[name].description or "", []).append(_tag_of(part))
    field = copy.copy(having[0].model_fields[name])
    if len(having) < len(parts) or len(by_text) > 1:
        field.description = " ".join(f"{', '.join(tags)}: {text}" for text, tags in by_text.items())
    return field


def _tag_of(model: type[BaseModel]) -> str:
    """What a model of a union is called: the word that tells it apart, or else its `TAG`."""
    kinds = (field.annotation for field in model.model_fields.values())
    word = next((get_args(kind)[0] for kind in kinds if get_origin(kind) is Literal), None)
    return f"`{word or getattr(model, 'TAG', model.__name__)}`"


def value_text(slot: Slot) -> str:
    """What kind of value is wanted."""
    kind = slot.annotation
    if is_section(slot):
        return "section"
    if get_origin(kind) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(kind))
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(value_text(Slot(part)) for part in get_args(kind)))
    if get_origin(kind) is Annotated:
        return value_text(Slot(get_args(kind)[0]))
    if get_origin(kind) is list:
        part = inside(slot, 0)
        return f"list of {_of_many(part)}" if part else "list"
    if get_origin(kind) is dict:
        part = inside(slot, "")
        numbers = "factors" if is_factors(slot) else "shares" if is_shared_out(slot) else "numbers"
        return f"map of {numbers}" if part is not None and part.annotation is float else f"map of {_of_many(part)}"
    return NAMES.get(kind, "any value")


def _of_many(part: Slot | None) -> str:
    """What a list or map holds, as one says of many."""
    text = value_text(part) if part is not None else "values"
    if text == "section" or text.startswith(("map of ", "list of ")):
        head, _, rest = text.partition(" ")
        return f"{head}s {rest}".strip()
    return "values" if text == "any value" else text


def range_text(slot: Slot) -> str:
    """What limits the value; empty where nothing does."""
    words = {"ge": "from", "gt": "above", "le": "to", "lt": "below", "pattern": "like"}
    lengths = {"min_length": "at least", "max_length": "at most"}
    found = [
        f"{word} {f'`{bound}`' if name == 'pattern' else f'{bound:,}' if isinstance(bound, int) else bound}"
        f"{_counted(slot, bound) if name in lengths else ''}"
        for limit in slot.limits
        for name, word in (words | lengths).items()
        if (bound := getattr(limit, name, None)) is not None
    ]
    if slot.is_shares:
        found = ["each above 0"] if is_factors(slot) else ["sums to 1"] if is_shared_out(slot) else []
    return ", ".join(found)


def _counted(slot: Slot, bound: int) -> str:
    """What a length counts."""
    one, many = (" character", " characters") if slot.annotation is str else (" entry", " entries")
    return one if bound == 1 else many


def is_factors(slot: Slot) -> bool:
    """Whether a map to numbers, or a map of such maps, holds factors: they are above 0, and have no sum."""
    part = inside(slot, "")
    if part is None or get_origin(slot.annotation) is not dict:
        return False
    return is_factors(part) or any(getattr(limit, "gt", None) == 0 for limit in part.limits)


def is_shared_out(slot: Slot) -> bool:
    """Whether a map to numbers, or a map of such maps, holds shares: they can be 0, and sum to 1."""
    part = inside(slot, "") if get_origin(slot.annotation) is dict else None
    return part is not None and (is_shared_out(part) or any(getattr(limit, "ge", None) == 0 for limit in part.limits))


def default_text(field: FieldInfo) -> str:
    """What holds where the key is not given."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    return "not set" if value is None else f"`{json.dumps(value, default=str)}`"
