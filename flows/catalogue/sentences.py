"""Templates cut into pieces that are said as they are: every word in every place, with the right article."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import Formatter
from typing import NamedTuple

import numpy as np

from flows.catalogue.words import I32
from flows.common.draws import I64

_ARTICLE = re.compile(r"\b([Aa])n? $")
_CAPITALS = re.compile(r"[A-Z]+(?![a-z])")
_LETTERS_SAID_WITH_A_VOWEL = "AEFHILMNORSX"
_AN_BEFORE = re.compile(r"hour|honest|hono|heir|herb|8|11(?!\d)|18(?!\d)")
_A_BEFORE = re.compile(r"one\b|once|uni(?!n|m)|use|usu|util|utop|eu|ukulele|ewe")
"""Words that begin with a vowel letter and the sound of a consonant. `uninteresting` and `unimportant` do not."""


class Pieces(NamedTuple):
    """Templates as codes of pieces: piece ``start[t, slot]`` plus the code of the word of field ``field[t, slot]``."""

    start: I32
    """(templates + 1, slots) place in the vocabulary. The last template says nothing."""
    field: I64
    """(templates + 1, slots) number of the field; past the last field where a piece has none."""

    def of(self, template: I64, words: I32) -> I32:
        """(n, slots) places in the vocabulary. ``words`` (n, fields + 1) are codes, the last column 0."""
        return np.asarray(self.start[template] + np.take_along_axis(words, self.field[template], axis=1))

    @property
    def silence(self) -> int:
        """The template that says nothing."""
        return len(self.start) - 1


def cut(templates: Sequence[str], words: Mapping[str, Sequence[str]], vocabulary: list[str], gap: str = "") -> Pieces:
    """The templates over the fields of ``words``, in their order. Their pieces are put at the end of ``vocabulary``.

    A template begins with ``gap`` and a capital. The first entry of the vocabulary must be the empty text.
    """
    parts = [_parts(template) for template in templates]
    shape = (len(templates) + 1, max(map(len, parts), default=1))
    start, field = np.zeros(shape, np.int32), np.full(shape, len(words))
    for number, template in enumerate(parts):
        for slot, (literal, name, tail) in enumerate(template):
            said = [literal] if name is None else followed(literal, words[name], tail)
            if slot == 0:
                said = [gap + capitalised(text) for text in said]
            start[number, slot] = len(vocabulary)
            field[number, slot] = len(words) if name is None else list(words).index(name)
            vocabulary += said
    return Pieces(start, field)


def _parts(template: str) -> list[tuple[str, str | None, str]]:
    """Each field with the stretch before it, and the last one also with the stretch behind."""
    parts = [(literal, name, "") for literal, name, _, _ in Formatter().parse(template)]
    if len(parts) > 1 and parts[-1][1] is None:
        tail = parts.pop()[0]
        parts[-1] = (parts[-1][0], parts[-1][1], tail)
    return parts


def followed(literal: str, words: Sequence[str], tail: str = "") -> list[str]:
    """A stretch of a template with each of the words that can follow, and `a` or `an` as the word wants it."""
    article = _ARTICLE.search(literal)
    if article is None:
        return [f"{literal}{word}{tail}" for word in words]
    before = literal[: article.start()] + article[1]
    return [f"{before}{'n' if wants_an(word) else ''} {word}{tail}" for word in words]


def wants_an(word: str) -> bool:
    """Whether one says `an` before it: by its first letter, but for known words, numbers and letters said by name."""
    capitals = _CAPITALS.match(word)
    if capitals is not None:
        return capitals[0][0] in _LETTERS_SAID_WITH_A_VOWEL
    plain = word.casefold()
    if _AN_BEFORE.match(plain):
        return True
    return plain[:1] in tuple("aeiou") and not _A_BEFORE.match(plain)


def capitalised(text: str) -> str:
    """With its first letter in upper case and the others as they are: `Tokyo-style` keeps its own."""
    return text[:1].upper() + text[1:]
