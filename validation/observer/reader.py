"""The rule reader: what a `say` claims, read from its text. The inverse of the phrase banks, and of nothing else.

A sentence is read in two ways, the surer first. *By its wording*: a template of the bank, whatever its alternatives,
stands in it letter for letter. *By its words*, where typos spoil the wording: exactly one value of the domain is named,
cues of exactly one stance are there, no negation is, and the noun, if one can be read, is that of the value. There a
word may have one wrong letter, if no other value and no other word of the banks is near enough to be mistaken for it.
All else is read as nothing: a reading that may be wrong is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prompts.load import STANCES, Phrases, Stance
from prompts.templates import pieces_of
from schemas.domain import Domain
from schemas.tables.internal import STATEMENTS

I64 = npt.NDArray[np.int64]

NOTHING = -1
LETTERS_FOR_A_SLIP = 5
"""Shorter words must stand as they are: one letter makes too much of them."""
NEAR = 2
"""Letters in which two words may differ and still be mistaken for each other, when typos hit them."""
_TOKEN = re.compile(r"[\w'-]+")


@dataclass(frozen=True)
class DomainReader:
    """Patterns of one domain. Values count through the dimensions in the order of the domain file."""

    dimensions: list[str]
    nouns: list[str]
    dimension_of: I64
    """(values,) the dimension that each value belongs to."""
    values: list[str]
    value_of_word: dict[str, int]
    wordings: list[tuple[Stance, str]]
    """Stance and pattern, with a group for every input."""
    named_value: list[str | None]
    """Pattern that finds a value by its words; null where none of its words is safe to go by."""
    named_noun: list[str | None]
    cues: dict[Stance, str]
    negations: str


def read_statements(events: pa.Table, domains: Mapping[str, Domain], phrases: Phrases) -> pa.Table:
    """(say lines,) event_id, user_id, at, domain, dimension, value, stance of every `say`, as `statements` has them.

    Dimension, value and stance are null where nothing is read, in domains that are not given too; the end of a state
    names its dimension and no value. ``events`` has the visible columns. Rows keep their order.
    """
    says = events.filter(pc.equal(events["action"], "say")).select(["event_id", "user_id", "at", "domain", "text"])
    size = says.num_rows
    stance, dimension, value = (np.full(size, None, object) for _ in range(3))
    here = says["domain"].to_numpy(zero_copy_only=False)
    for name in sorted(domains):
        rows = np.flatnonzero(here == name)
        if rows.size == 0:
            continue
        reader = compiled(domains[name], phrases)
        texts = pc.utf8_lower(pc.fill_null(says["text"].take(pa.array(rows)).combine_chunks(), ""))
        codes = _read(texts, reader)
        read = rows[codes[:, 0] != NOTHING]
        codes = codes[codes[:, 0] != NOTHING]
        stance[read] = np.array(STANCES, object)[codes[:, 0]]
        dimension[read] = np.array(reader.dimensions, object)[codes[:, 1]]
        value[read] = np.array([*reader.values, None], object)[codes[:, 2]]
    table = says.drop_columns(["text"])
    for column, held in (("dimension", dimension), ("value", value), ("stance", stance)):
        table = table.append_column(column, pa.array(held, pa.string()))
    return STATEMENTS.conform(table)


def compiled(domain: Domain, phrases: Phrases) -> DomainReader:
    """The domain's patterns. Raises ValueError if two dimensions share a noun: no sentence could tell them apart."""
    nouns = [spec.noun.lower() for spec in domain.dimensions.values()]
    if len(set(nouns)) < len(nouns):
        raise ValueError(f"domain {domain.name}: dimensions share a noun among {nouns}; give each its own")
    words = [[word.lower() for word in v.words] for spec in domain.dimensions.values() for v in spec.values.values()]
    sizes = [len(spec.values) for spec in domain.dimensions.values()]
    value_of_word = {word: code for code, listed in enumerate(words) for word in listed}
    say = phrases.say
    banks = [*(say.stance(stance) for stance in STANCES), say.small_talk, say.lead, say.tail]
    spoken = {token for bank in banks for template in bank.templates for token in _literal_tokens(template)}
    groups = {"noun": _any(nouns), "words": _any(value_of_word)}
    return DomainReader(
        dimensions=domain.dimension_ids(),
        nouns=nouns,
        dimension_of=np.repeat(np.arange(len(sizes)), sizes),
        values=[value for spec in domain.dimensions.values() for value in spec.values],
        value_of_word=value_of_word,
        wordings=[(stance, _wording(text, groups)) for stance in STANCES for text in say.stance(stance).templates],
        named_value=_finders(words, spoken | set(nouns)),
        named_noun=_finders([[noun] for noun in nouns], spoken | set(value_of_word)),
        cues={stance: _alone("|".join(_slips(cue.lower()) for cue in say.stance(stance).cues)) for stance in STANCES},
        negations=_alone(_any(word.lower() for word in say.negations)),
    )


def _read(texts: pa.Array, reader: DomainReader) -> I64:
    """(n, 3) stance, dimension and value of each text in lower case; ``NOTHING`` where there is none."""
    codes = np.full((len(texts), 3), NOTHING, np.int64)
    left = np.arange(len(texts))
    for stance, pattern in reader.wordings:
        found = pc.extract_regex(texts.take(pa.array(left)), pattern)
        hit = np.flatnonzero(pc.is_valid(found).to_numpy(zero_copy_only=False))
        groups = found.take(pa.array(hit))
        dimension = _places(groups.field("noun"), reader.nouns)
        value = np.full(hit.size, NOTHING, np.int64)
        agrees = np.ones(hit.size, np.bool_)
        if stance != "back_to_usual":
            value = _places(groups.field("words"), reader.value_of_word)
            agrees = reader.dimension_of[value] == dimension
        found_codes = np.stack([np.full(hit.size, STANCES.index(stance)), dimension, value], axis=1)
        codes[left[hit[agrees]]] = found_codes[agrees]
        left = np.delete(left, hit)
    if left.size:
        codes[left] = _read_by_words(texts.take(pa.array(left)), reader)
    return codes


def _read_by_words(texts: pa.Array, reader: DomainReader) -> I64:
    """(n, 3) stance, dimension and value of texts that are no wording of the banks."""
    size = len(texts)
    cued = np.stack([_has(texts, reader.cues[stance]) for stance in STANCES], axis=1)
    named = np.stack([_has(texts, pattern) for pattern in reader.named_value], axis=1)
    nouned = np.stack([_has(texts, pattern) for pattern in reader.named_noun], axis=1)
    stance, value, dimension = cued.argmax(axis=1), named.argmax(axis=1), nouned.argmax(axis=1)
    is_plain = (cued.sum(axis=1) == 1) & ~_has(texts, reader.negations)
    is_back = is_plain & (stance == STANCES.index("back_to_usual")) & (nouned.sum(axis=1) == 1) & ~named.any(axis=1)
    of_value = reader.dimension_of[value]
    other_noun = nouned.sum(axis=1) > nouned[np.arange(size), of_value]
    is_claim = is_plain & (stance != STANCES.index("back_to_usual")) & (named.sum(axis=1) == 1) & ~other_noun
    codes = np.full((size, 3), NOTHING, np.int64)
    codes[is_back, 0], codes[is_back, 1] = stance[is_back], dimension[is_back]
    codes[is_claim] = np.stack([stance, of_value, value], axis=1)[is_claim]
    return codes


def _places(texts: pa.Array, known: Mapping[str, int] | list[str]) -> I64:
    """What each text stands for: its number in a mapping, or its place in a list."""
    numbers = np.array(list(known.values()) if isinstance(known, Mapping) else range(len(known)), np.int64)
    place: I64 = pc.index_in(texts, value_set=pa.array(list(known), pa.string())).to_numpy().astype(np.int64)
    return numbers[place]


def _has(texts: pa.Array, pattern: str | None) -> npt.NDArray[np.bool_]:
    if pattern is None:
        return np.zeros(len(texts), np.bool_)
    return np.asarray(pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _wording(template: str, groups: Mapping[str, str]) -> str:
    """The pattern of every wording of a template, in lower case."""
    parts = []
    for piece in pieces_of(template):
        if piece.slot is not None:
            parts.append(f"(?P<{piece.slot}>{groups[piece.slot]})")
        else:
            parts.append("(?:" + "|".join(re.escape(choice.lower()) for choice in piece.choices) + ")")
    return _alone("".join(parts))


def _alone(pattern: str) -> str:
    """The pattern with no letter, digit or hyphen right before or after it."""
    return rf"(?:^|[^\w-])(?:{pattern})(?:[^\w-]|$)"


def _any(texts: Iterable[str]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=lambda text: (-len(text), text)))


def _slips(text: str) -> str:
    """The text as it is or with one letter replaced, if it has letters enough."""
    places = [place for place, letter in enumerate(text) if letter.isalpha()]
    if len(places) < LETTERS_FOR_A_SLIP:
        return re.escape(text)
    return "|".join([re.escape(text), *(f"{re.escape(text[:p])}[a-z]{re.escape(text[p + 1 :])}" for p in places)])


def _finders(labels: list[list[str]], others: set[str]) -> list[str | None]:
    """For each label a pattern that finds it by its texts, leaving out those that could mean anything else.

    A text is left out if it stands in another label's text or in one of ``others``, and must stand as it is if typos
    could make it of one of those.
    """
    patterns: list[str | None] = []
    for number, listed in enumerate(labels):
        strange = others | {text for place, texts in enumerate(labels) if place != number for text in texts}
        safe = [text for text in listed if not _stands_in(text, strange)]
        found = [re.escape(text) if _is_near(text, strange) else _slips(text) for text in safe]
        patterns.append(_alone("|".join(found)) if found else None)
    return patterns


def _stands_in(text: str, others: set[str]) -> bool:
    """Whether the text is part of another one, or is made up of single words."""
    within = re.compile(_alone(re.escape(text)))
    return any(within.search(other) for other in others) or all(token in others for token in text.split(" "))


def _is_near(text: str, others: set[str]) -> bool:
    """Whether typos could make the text of another one, or of single words: they change letters and nothing else."""
    if any(_differing(text, other) <= NEAR for other in others):
        return True
    tokens = text.split(" ")
    return len(tokens) > 1 and sum(min(_differing(token, other) for other in others) for token in tokens) <= NEAR


def _differing(text: str, other: str) -> int:
    """Letters in which two texts differ; more than any text has, where their other characters differ."""
    far = 1_000
    if len(text) != len(other):
        return far
    unequal = [(a, b) for a, b in zip(text, other, strict=True) if a != b]
    return len(unequal) if all(a.isalpha() and b.isalpha() for a, b in unequal) else far


def _literal_tokens(template: str) -> list[str]:
    wordings = [choice.lower() for piece in pieces_of(template) for choice in piece.choices]
    return [token for wording in wordings for token in _TOKEN.findall(wording)]
