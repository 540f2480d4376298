"""What shops call things and say of them: every word of it drawn for the thing, no wording likelier than another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from flows.catalogue.grid import Grid, pick
from flows.catalogue.sentences import Pieces, cut
from flows.catalogue.words import I32, Words
from flows.common.draws import F64, I64, Draws, key_of, permutation
from schemas.domain import Domain

ORDERS = 8
"""Orders of sentences in a domain's descriptions."""
WORDING = ("word", "other value", "other word", "template", "contrast")
"""What is drawn for each thing and dimension."""


class Texts(NamedTuple):
    """What the things of a domain are called, and what is said of them. Descriptions begin with a space too many."""

    titles: Words
    descriptions: Words


class Said(NamedTuple):
    """A dimension as texts name it. Values count in the order of their names, whatever the order of the file."""

    words: list[str]
    """Of all values, one value after the other."""
    word: I64
    """(n,) code of the word for the thing's own value."""
    other: I64
    """(n,) code of a word for another value."""
    u_template: F64
    """(n,) uniforms for the template."""
    u_contrast: F64
    """(n,) uniforms for whether it is one that names the other value."""


def texts(domain: Domain, grid: Grid, draws: Draws) -> Texts:
    """Titles that name the headline dimensions, and descriptions that tell the others between asides."""
    said = _said(domain, grid, draws)
    return Texts(_titles(domain, grid, said, draws), _descriptions(domain, grid, said, draws))


def _said(domain: Domain, grid: Grid, draws: Draws) -> dict[str, Said]:
    """Every dimension by name, in the order of the names."""
    said = {}
    names = sorted(domain.dimensions)
    keys = np.array([key_of(name, what) for name in names for what in WORDING], np.uint64)
    uniform = draws.uniform("wording", grid.entity, keys[:, None]).reshape(len(names), len(WORDING), -1)
    for name, (u_word, u_value, u_other, u_template, u_contrast) in zip(names, uniform, strict=True):
        values = domain.dimensions[name].values
        in_order = sorted(values)
        rank = np.array([in_order.index(value) for value in values])[
            grid.values[:, list(domain.dimensions).index(name)]
        ]
        count = np.array([len(values[value].words) for value in in_order])
        first = np.cumsum(count) - count
        other = rank + 1 + pick(u_value, len(in_order) - 1)
        other -= len(in_order) * (other >= len(in_order))
        said[name] = Said(
            words=[word for value in in_order for word in values[value].words],
            word=first[rank] + pick(u_word, count[rank]),
            other=first[other] + pick(u_other, count[other]),
            u_template=u_template,
            u_contrast=u_contrast,
        )
    return said


def _titles(domain: Domain, grid: Grid, said: Mapping[str, Said], draws: Draws) -> Words:
    headline = [name for name in said if name in domain.catalogue.headline()]
    vocabulary = [""]
    words = {"noun": _nouns(domain), **{name: said[name].words for name in headline}}
    pieces = cut(domain.catalogue.titles, words, vocabulary)
    template = pick(draws.uniform("title", grid.entity), len(domain.catalogue.titles))
    codes = pieces.of(template, _codes(grid.noun, *(said[name].word for name in headline)))
    return Words(vocabulary, codes)


def _descriptions(domain: Domain, grid: Grid, said: Mapping[str, Said], draws: Draws) -> Words:
    """Sentence after sentence, in one of a few orders. Every sentence brings the space before it."""
    vocabulary, headline = [""], domain.catalogue.headline()
    sentences = {name: _sentence(domain, grid, name, one, name in headline, vocabulary) for name, one in said.items()}
    sentences["asides"] = _aside(domain, grid, vocabulary, draws)
    orders = _orders(domain.name, {name: codes.shape[1] for name, codes in sentences.items()}, draws)
    order = pick(draws.uniform("order of sentences", grid.entity), ORDERS)
    codes = np.take_along_axis(np.concatenate(list(sentences.values()), axis=1), orders[order], axis=1)
    return Words(vocabulary, codes)


def _sentence(domain: Domain, grid: Grid, name: str, said: Said, titled: bool, vocabulary: list[str]) -> I32:
    """(n, slots) codes of the pieces of the sentence on one dimension; silent where the title has said it all."""
    spec = domain.dimensions[name]
    says = [] if titled else spec.says
    words = {"noun": _nouns(domain), "value": said.words, "other": said.words}
    pieces = cut([*says, *spec.contrasts], words, vocabulary, gap=" ")
    plain = np.full(len(grid.entity), pieces.silence) if titled else pick(said.u_template, len(says))
    contrast = len(says) + pick(said.u_template, len(spec.contrasts))
    template = np.where(said.u_contrast < domain.catalogue.contrast_share, contrast, plain)
    return pieces.of(template, _codes(grid.noun, said.word, said.other))


def _aside(domain: Domain, grid: Grid, vocabulary: list[str], draws: Draws) -> I32:
    """(n, slots) codes of the pieces of the sentence that tells three distractors, all three different."""
    names = sorted(domain.distractors)
    places = [list(domain.distractors).index(name) for name in names]
    phrases = [list(domain.distractors[name].words.values()) for name in names]
    first = np.cumsum([0, *map(len, phrases[:-1])])
    phrase_codes = grid.distractors[:, places] + first
    u_a, u_b, u_c, u_template = draws.uniform("aside", grid.entity, np.arange(4, dtype=np.uint64)[:, None])
    a = pick(u_a, len(names))
    b = pick(u_b, len(names) - 1)
    b += b >= a
    c = pick(u_c, len(names) - 2)
    c += c >= np.minimum(a, b)
    c += c >= np.maximum(a, b)
    told = np.take_along_axis(phrase_codes, np.stack([a, b, c], axis=1), axis=1)
    every = [phrase for own in phrases for phrase in own]
    pieces: Pieces = cut(domain.catalogue.asides, dict.fromkeys("abc", every), vocabulary, gap=" ")
    return pieces.of(pick(u_template, len(domain.catalogue.asides)), _codes(*told.T))


def _orders(domain: str, slots: Mapping[str, int], draws: Draws) -> I64:
    """(orders, pieces) places of the pieces of all sentences, sentence by sentence in a drawn order."""
    keys = np.array([key_of(domain, name) for name in slots], np.uint64)
    bits = draws.bits("sentences", keys[None, :], np.arange(ORDERS, dtype=np.uint64)[:, None])
    width = list(slots.values())
    start = np.cumsum(width) - width
    return np.stack(
        [np.concatenate([start[place] + np.arange(width[place]) for place in row]) for row in permutation(bits)]
    )


def _codes(*columns: I64) -> I32:
    """(n, fields + 1) codes of words, with the column of zeros that stands for no field."""
    codes = np.zeros((columns[0].size, len(columns) + 1), np.int32)
    for place, column in enumerate(columns):
        codes[:, place] = column
    return codes


def _nouns(domain: Domain) -> list[str]:
    return [noun for spec in domain.catalogue.categories.values() for noun in spec.nouns]
