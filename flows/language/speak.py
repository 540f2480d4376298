"""Events put in words by the embedded speaker: phrase banks filled from symbols, and nothing from the truth."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from flows.common.draws import U64, Draws
from flows.common.ids import id_keys, user_numbers
from flows.language.fill import Rows, fill, gathered, picked, placed
from prompts.load import ANY, STANCES, Phrases
from schemas.domain import Domain
from schemas.tables.core import replaced
from schemas.tables.internal import SPOKEN_EVENTS, SPOKEN_TRUTH

SPEAKER = "embedded"
SPOKEN_BY_USERS = ("search", "say", "review")

# How people type; shares assumed. A habit belongs to the person and knows nothing of their tastes.
LOWER_CASE = 0.3
FULL_STOP = 0.6
EMOJI_USERS = 0.2
EMOJI_LINES = 0.3
LEAD = 0.4
TAIL = 0.7
SECOND_REMARK = 0.5
DETAILED_SEARCH = 0.5


def speak(
    events: pa.Table,
    truth: pa.Table,
    statements: pa.Table,
    domains: Mapping[str, Domain],
    phrases: Phrases,
    draws: Draws,
) -> tuple[pa.Table, pa.Table]:
    """`spoken_events` and `spoken_truth`: the disturbed log with the words of searches, talks, answers and reviews.

    A line's words are drawn by (user, session, time, action), so that a line logged twice reads the same twice and no
    disturbance changes the words of another line. ``statements`` says what each `say` means; a copy of a line means
    what its original means. Searches and answers name no value of any dimension. Raises ValueError for a `say` without
    a meaning, a meaning that the domains do not know, and a review without stars.
    """
    action = events["action"].to_numpy(zero_copy_only=False)
    own = events["source"].to_numpy(zero_copy_only=False) == "self"
    lines = np.zeros(events.num_rows, np.uint64)
    parts: list[tuple[Rows, pa.Array]] = []
    for name in (*SPOKEN_BY_USERS, "reply"):
        rows = np.flatnonzero((action == name) & (own | (name == "reply")))
        if rows.size == 0:
            continue
        chosen = events.take(pa.array(rows))
        lines[rows] = line_keys(chosen, name, draws)
        if name == "search":
            texts = _searches(chosen, lines[rows], domains, phrases, draws)
        elif name == "say":
            texts = _talks(chosen, lines[rows], statements, domains, phrases, draws)
            texts = _styled(texts, chosen, lines[rows], phrases, draws)
        elif name == "review":
            texts = _styled(_reviews(chosen, lines[rows], phrases, draws), chosen, lines[rows], phrases, draws)
        else:
            answer = fill(phrases.reply.answer, lines[rows], {}, draws, "answer")
            close = fill(phrases.reply.close, lines[rows], {}, draws, "close")
            texts = pc.binary_join_element_wise(answer, ". ", close, ".", "")
        parts.append((rows, texts))
    if not parts:
        return SPOKEN_EVENTS.conform(events), SPOKEN_TRUTH.conform(truth)
    rows = np.concatenate([part for part, _ in parts])
    text = placed(_flat(events["text"]), rows, pa.concat_arrays([texts for _, texts in parts]))
    is_spoken = pc.is_in(truth["event_id"], value_set=_flat(events["event_id"]).take(pa.array(rows)))
    speaker = pc.if_else(is_spoken, SPEAKER, truth["speaker"])
    return (
        SPOKEN_EVENTS.conform(replaced(events, {"text": text})),
        SPOKEN_TRUTH.conform(replaced(truth, {"speaker": speaker})),
    )


def line_keys(events: pa.Table, action: str, draws: Draws) -> U64:
    """(n,) keys of lines of one action, by user, session and time; a line and its copy share one."""
    at = events["at"].cast(pa.int64()).to_numpy().astype(np.uint64)
    return draws.bits(f"{action} line", id_keys(events["session_id"]), at)


def _talks(
    says: pa.Table, lines: U64, statements: pa.Table, domains: Mapping[str, Domain], phrases: Phrases, draws: Draws
) -> pa.Array:
    """Statements by their stance and small talk, now and then with a word before and a word after."""
    meaning = statements.take(pa.array(_meanings(says, lines, statements)))
    stance = pc.fill_null(meaning["stance"], "").to_numpy(zero_copy_only=False)
    nouns, words = _inputs(meaning, stance, lines, domains, draws)
    quiet = np.flatnonzero(stance == "")
    parts = [(quiet, _small_talk(lines[quiet], phrases, draws))]
    for name in STANCES:
        rows = np.flatnonzero(stance == name)
        bank = phrases.say.stance(name)
        given = {"noun": nouns.take(pa.array(rows)), "words": words.take(pa.array(rows))}
        parts.append((rows, fill(bank, lines[rows], {slot: given[slot] for slot in bank.inputs}, draws, name)))
    core = _capitalised(gathered(parts, lines.size))
    lead = fill(phrases.say.lead, lines, {}, draws, "lead")
    tail = fill(phrases.say.tail, lines, {}, draws, "tail")
    has_lead = pa.array(draws.uniform("has lead", lines) < LEAD)
    has_tail = pa.array(draws.uniform("has tail", lines) < TAIL)
    before = pc.if_else(has_lead, pc.binary_join_element_wise(lead, " ", ""), "")
    after = pc.if_else(has_tail, pc.binary_join_element_wise(". ", tail, ""), "")
    return pc.binary_join_element_wise(before, core, after, "")


def _small_talk(lines: U64, phrases: Phrases, draws: Draws) -> pa.Array:
    """A remark about nothing in particular, or two."""
    one = fill(phrases.say.small_talk, lines, {}, draws, "small talk")
    two = fill(phrases.say.small_talk, lines, {}, draws, "more small talk")
    goes_on = pc.and_(pa.array(draws.uniform("goes on", lines) < SECOND_REMARK), pc.not_equal(one, two))
    return pc.if_else(goes_on, pc.binary_join_element_wise(one, _capitalised(two), ". "), one)


def _meanings(says: pa.Table, lines: U64, statements: pa.Table) -> Rows:
    """(n,) row of ``statements`` for each `say`: its own, or that of the line it is a copy of."""
    found = pc.index_in(says["event_id"], value_set=_flat(statements["event_id"]))
    place = pc.fill_null(found, -1).to_numpy().astype(np.int64)
    known = np.flatnonzero(place >= 0)
    keys, first = np.unique(lines[known], return_index=True)
    spot = np.minimum(np.searchsorted(keys, lines), max(0, keys.size - 1))
    lost = (place < 0) & ((keys[spot] != lines) if keys.size else True)
    if lost.any():
        example = says["event_id"][int(np.flatnonzero(lost)[0])].as_py()
        raise ValueError(f"{int(lost.sum())} `say` lines have no row in `statements`, such as {example}")
    return np.asarray(np.where(place >= 0, place, place[known[first]][spot] if keys.size else place), dtype=np.int64)


def _inputs(
    meaning: pa.Table,
    stance: np.ndarray[tuple[int, ...], np.dtype[np.object_]],
    lines: U64,
    domains: Mapping[str, Domain],
    draws: Draws,
) -> tuple[pa.Array, pa.Array]:
    """(n,) what people call the dimension, and how they say the value; null where the meaning has none."""
    nouns = {f"{name}.{key}": spec.noun for name, domain in domains.items() for key, spec in domain.dimensions.items()}
    says = {
        f"{name}.{key} {value}": spec.words
        for name, domain in domains.items()
        for key, dimension in domain.dimensions.items()
        for value, spec in dimension.values.items()
    }
    noun_place = pc.index_in(_flat(meaning["dimension"]), value_set=pa.array(list(nouns), pa.string()), skip_nulls=True)
    pair = pc.binary_join_element_wise(meaning["dimension"], meaning["value"], " ")
    pair_place = pc.index_in(_flat(pair), value_set=pa.array(list(says), pa.string()), skip_nulls=True)
    wanting = (pc.is_null(noun_place).to_numpy(zero_copy_only=False) & (stance != "")) | (
        pc.is_null(pair_place).to_numpy(zero_copy_only=False) & np.isin(stance, ("usual", "for_now"))
    )
    if wanting.any():
        row = meaning.slice(int(np.flatnonzero(wanting)[0]), 1).to_pylist()[0]
        raise ValueError(
            f"{int(wanting.sum())} statements mean what no domain declares, such as {row['event_id']}: "
            f"{row['dimension']} = {row['value']}"
        )
    count = np.array([len(words) for words in says.values()], np.int64)
    start = np.cumsum(count) - count
    at = pc.fill_null(pair_place, 0).to_numpy()
    word = start[at] + picked(draws.uniform("word", lines), count[at])
    flat = pa.array([word for words in says.values() for word in words], pa.string()).take(pa.array(word))
    return pa.array(list(nouns.values()), pa.string()).take(noun_place), pc.if_else(pc.is_valid(pair_place), flat, None)


def _reviews(reviews: pa.Table, lines: U64, phrases: Phrases, draws: Draws) -> pa.Array:
    rating = reviews["rating"]
    if rating.null_count:
        example = reviews.filter(pc.is_null(rating))["event_id"][0].as_py()
        raise ValueError(f"{rating.null_count} reviews have no stars, such as {example}")
    stars = rating.to_numpy()
    parts = []
    for number, bank in sorted(phrases.review.items()):
        rows = np.flatnonzero(stars == int(number))
        parts.append((rows, fill(bank, lines[rows], {}, draws, f"review of {number}")))
    return gathered(parts, lines.size)


def _searches(
    searches: pa.Table, lines: U64, domains: Mapping[str, Domain], phrases: Phrases, draws: Draws
) -> pa.Array:
    """Queries over the nouns of the domain's catalogue and over attributes that no taste depends on."""
    domain_of = searches["domain"].to_numpy(zero_copy_only=False)
    detailed = draws.uniform("detailed search", lines) < DETAILED_SEARCH
    thing = draws.uniform("thing searched", lines)
    detail = draws.uniform("detail searched", lines)
    parts = []
    for name, domain in sorted(domains.items()):
        banks = phrases.search.get(name, phrases.search[ANY])
        things = [noun for category in domain.catalogue.categories.values() for noun in category.nouns]
        details = [words for spec in domain.distractors.values() for words in spec.words.values()]
        is_detailed = detailed & bool(details)
        for bank, wanted in ((banks.plain, ~is_detailed), (banks.detailed, is_detailed)):
            rows = np.flatnonzero((domain_of == name) & wanted)
            drawn = {"thing": pa.array(things, pa.string()).take(pa.array(picked(thing[rows], len(things))))}
            if bank is banks.detailed and details:
                drawn["detail"] = pa.array(details, pa.string()).take(pa.array(picked(detail[rows], len(details))))
            parts.append((rows, fill(bank, lines[rows], drawn, draws, "search")))
    texts = gathered(parts, lines.size)
    if texts.null_count:
        raise ValueError(f"searches in domains that are not declared: {sorted(set(domain_of.tolist()) - set(domains))}")
    return pc.utf8_lower(texts)


def _styled(texts: pa.Array, events: pa.Table, lines: U64, phrases: Phrases, draws: Draws) -> pa.Array:
    """The texts as their users type: some without capitals, some without a full stop, some with an emoji at times."""
    users = user_numbers(events["user_id"])
    lower = pa.array(draws.uniform("lower case", users) < LOWER_CASE)
    stop = pa.array(draws.uniform("full stop", users) < FULL_STOP)
    smiles = (draws.uniform("emoji user", users) < EMOJI_USERS) & (draws.uniform("emoji line", lines) < EMOJI_LINES)
    emoji = pa.array(phrases.style.emoji, pa.string())
    smile = emoji.take(pa.array(picked(draws.uniform("emoji", lines), len(emoji))))
    return pc.binary_join_element_wise(
        pc.if_else(lower, pc.utf8_lower(texts), texts),
        pc.if_else(stop, ".", ""),
        pc.if_else(pa.array(smiles), pc.binary_join_element_wise(" ", smile, ""), ""),
        "",
    )


def _capitalised(texts: pa.Array) -> pa.Array:
    first = pc.utf8_upper(pc.utf8_slice_codeunits(texts, 0, 1))
    return pc.binary_join_element_wise(first, pc.utf8_slice_codeunits(texts, 1), "")


def _flat(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
