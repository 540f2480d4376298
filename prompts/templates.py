"""The notation of phrases: ``[a|b|]`` is one of the alternatives, ``{name}`` is an input."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r"\[(?P<choice>[^\[\]{}]*)\]|\{(?P<slot>[a-z_]+)\}|(?P<literal>[^\[\]{}|]+)")


@dataclass(frozen=True)
class Piece:
    """A stretch of a template: an input by name, or one of some wordings."""

    slot: str | None
    choices: tuple[str, ...] = ()


def pieces_of(template: str) -> list[Piece]:
    """The stretches of a template, in order. Raises ValueError where a bracket is open, nested or alone."""
    pieces = []
    at = 0
    while at < len(template):
        token = _TOKEN.match(template, at)
        if token is None:
            raise ValueError(f"`{template[at : at + 12]}` is no part of a template")
        if token["slot"] is not None:
            pieces.append(Piece(token["slot"]))
        elif token["choice"] is not None:
            choices = tuple(token["choice"].split("|"))
            if len(set(choices)) < max(2, len(choices)):
                raise ValueError(f"`{token[0]}` needs two different alternatives or more")
            pieces.append(Piece(None, choices))
        else:
            pieces.append(Piece(None, (token["literal"],)))
        at = token.end()
    return pieces


def slots_of(template: str) -> set[str]:
    """The inputs that a template uses."""
    return {piece.slot for piece in pieces_of(template) if piece.slot is not None}


def variants_of(template: str) -> Iterator[str]:
    """Every wording of a template, its inputs left as they are."""
    options = [(f"{{{piece.slot}}}",) if piece.slot else piece.choices for piece in pieces_of(template)]
    return ("".join(chosen) for chosen in itertools.product(*options))
