from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from flows.common.draws import Draws
from flows.disturb.corrupt import KEYBOARD, NEIGHBOUR_COUNT, NEIGHBOURS, corrupt, mistyped
from flows.language.speak import speak
from prompts.load import load_phrases
from schemas.tables.sealed import EVENT_TRUTH, INJECTIONS
from schemas.tables.visible import EVENTS
from tests.prompts.talks import DOMAINS, copies, every_meaning, filled, log, small_talk, talks

DRAWS = Draws(3, "corrupt")
PHRASES = load_phrases()
Tables = tuple[pa.Table, pa.Table, pa.Table]


def spoken() -> Tables:
    """Events and truth with words, and an empty ledger."""
    events, truth, statements = talks([*every_meaning(), *small_talk(200)])
    return *speak(events, truth, statements, DOMAINS, PHRASES, Draws(3, "language")), INJECTIONS.empty()


EVENTS_BEFORE, TRUTH_BEFORE, NO_LEDGER = spoken()


def corrupted(rate: float) -> Tables:
    return corrupt(EVENTS_BEFORE, TRUTH_BEFORE, NO_LEDGER, rate, DRAWS)


def letters_changed(before: str, after: str) -> int:
    assert len(before) == len(after)
    return sum(a != b for a, b in zip(before, after, strict=True))


def test_a_rate_of_0_changes_nothing() -> None:
    earlier = filled(INJECTIONS, ledger_row("u000001-izzz"), 1)
    events, truth, ledger = corrupt(EVENTS_BEFORE, TRUTH_BEFORE, earlier, 0.0, DRAWS)
    assert events.equals(EVENTS_BEFORE) and truth.equals(TRUTH_BEFORE) and ledger.equals(earlier)


def ledger_row(name: str) -> dict[str, object]:
    return {
        "injection_id": [name],
        "user_id": ["u000001"],
        "family": ["noise"],
        "kind": ["accidental"],
        "policy": ["ignore_event"],
        "is_contested": [False],
        "event_ids": [["u000001-ex"]],
        "onset_at": EVENTS_BEFORE["at"].slice(0, 1),
        "parameters": ["{}"],
    }


def test_the_share_of_wrong_letters_is_the_rate_and_each_became_a_neighbour() -> None:
    before, after = "".join(EVENTS_BEFORE["text"].to_pylist()), "".join(corrupted(0.05)[0]["text"].to_pylist())
    wrong = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    letters = sum(c.isascii() and c.isalpha() for c in before)
    assert abs(len(wrong) / letters - 0.05) < 4 * (0.05 * 0.95 / letters) ** 0.5
    assert all(b.encode() in bytes(NEIGHBOURS[ord(a), : NEIGHBOUR_COUNT[ord(a)]]) for a, b in wrong)


def test_the_ledger_tells_of_every_damaged_line_and_of_no_other() -> None:
    events, truth, ledger = corrupted(0.02)
    told = {row["event_ids"][0]: row for row in ledger.to_pylist()}
    listed = dict(zip(truth["event_id"].to_pylist(), truth["injection_ids"].to_pylist(), strict=True))
    assert len(told) == ledger.num_rows > 50
    for old, new in zip(EVENTS_BEFORE.to_pylist(), events.to_pylist(), strict=True):
        row = told.get(new["event_id"])
        if row is None:
            assert new == old and listed[new["event_id"]] == []
            continue
        assert (row["before"], row["after"], row["onset_at"]) == (old["text"], new["text"], new["at"])
        assert (row["family"], row["kind"], row["policy"]) == ("noise", "corrupt", "read_through")
        assert row["is_contested"] is False
        assert json.loads(row["parameters"]) == {"letters": letters_changed(old["text"], new["text"])}
        assert listed[new["event_id"]] == [row["injection_id"]]
        assert row["injection_id"].startswith(f"{new['user_id']}-i") and len(row["injection_id"]) == 19
        assert {**new, "text": None} == {**old, "text": None}


def test_a_higher_rate_adds_typos_and_ledger_rows_and_takes_none_away() -> None:
    few, many = corrupted(0.01), corrupted(0.04)
    assert set(few[2]["injection_id"].to_pylist()) < set(many[2]["injection_id"].to_pylist())
    lines = zip(*(t["text"].to_pylist() for t in (EVENTS_BEFORE, few[0], many[0])), strict=True)
    assert all(b == a or c == b for old, low, high in lines for a, b, c in zip(old, low, high, strict=True))


def test_a_line_logged_twice_has_the_same_typos() -> None:
    doubled = pa.concat_tables([EVENTS_BEFORE, copies(EVENTS_BEFORE)])
    events, _, ledger = corrupt(doubled, TRUTH_BEFORE, NO_LEDGER, 0.02, DRAWS)
    texts = events["text"].to_pylist()
    assert texts[: len(texts) // 2] == texts[len(texts) // 2 :] == corrupted(0.02)[0]["text"].to_pylist()
    assert ledger.num_rows == 2 * corrupted(0.02)[2].num_rows


def test_rows_of_the_ledger_that_were_there_pass_through() -> None:
    earlier = filled(INJECTIONS, ledger_row("u000001-izzz"), 1)
    ledger = corrupt(EVENTS_BEFORE, TRUTH_BEFORE, earlier, 0.02, DRAWS)[2]
    assert earlier.to_pylist()[0] in ledger.to_pylist()
    assert ledger.num_rows == corrupted(0.02)[2].num_rows + 1
    keys = list(zip(ledger["user_id"].to_pylist(), ledger["injection_id"].to_pylist(), strict=True))
    assert keys == sorted(keys)


def test_a_typo_is_the_noise_of_a_line_unless_an_earlier_kind_is_and_does_not_make_it_untrue() -> None:
    kinds = [[None, "accidental", "late"][place % 3] for place in range(TRUTH_BEFORE.num_rows)]
    noisy = [kind is not None for kind in kinds]
    ids = [[f"x{place}"] if kind else [] for place, kind in enumerate(kinds)]
    columns = {name: TRUTH_BEFORE[name] for name in ("event_id", "user_id", "actor_id", "speaker")}
    truth = filled(EVENT_TRUTH, {**columns, "is_noise": noisy, "noise_kind": kinds, "injection_ids": ids}, len(kinds))
    shuffled = truth.take(pa.array(np.arange(len(kinds))[::-1]))
    _, after, ledger = corrupt(EVENTS_BEFORE, shuffled, NO_LEDGER, 0.02, DRAWS)
    own = {row["event_ids"][0]: row["injection_id"] for row in ledger.to_pylist()}
    for old, new in zip(shuffled.to_pylist(), after.to_pylist(), strict=True):
        hit = new["event_id"] in own
        first = "accidental" if old["noise_kind"] == "accidental" else "corrupt"
        assert new["noise_kind"] == (first if hit else old["noise_kind"])
        assert new["injection_ids"] == old["injection_ids"] + ([own[new["event_id"]]] if hit else [])
        assert new["is_noise"] == old["is_noise"]


def test_only_what_users_typed_is_hit() -> None:
    text = "The quick brown fox jumps over the lazy dog"
    actions = ["say", "search", "review", "reply", "post", "say", "say"]
    sources = ["self"] * 5 + ["notification", "import"]
    events, truth = log(actions, ["food"] * 7, text=[text] * 7, source=sources)
    hit = corrupt(EVENTS.conform(events), EVENT_TRUTH.conform(truth), NO_LEDGER, 1.0, DRAWS)[0]
    assert [new != text for new in hit["text"].to_pylist()] == [True, True, True, False, False, False, False]


def test_a_log_without_texts_stays_as_it_is() -> None:
    events, truth = log(["view", "say"], ["food"] * 2, text=[None, None])
    after = corrupt(EVENTS.conform(events), EVENT_TRUTH.conform(truth), NO_LEDGER, 1.0, DRAWS)
    assert after[0].equals(events) and after[1].equals(truth) and after[2].num_rows == 0


def test_neighbours_touch_on_the_keyboard() -> None:
    letters = np.flatnonzero(NEIGHBOUR_COUNT)
    near = {chr(code): bytes(NEIGHBOURS[code, : NEIGHBOUR_COUNT[code]]).decode() for code in letters}
    assert near["g"] == "bfhtvy" and near["q"] == "aw" and near["P"] == "LO" and near["m"] == "jkn"
    assert sorted(near) == sorted("".join(KEYBOARD) + "".join(KEYBOARD).upper())
    assert all(letter in near[other] for letter, others in near.items() for other in others)


@given(st.lists(st.text(max_size=20), max_size=5), st.integers(0, 3))
def test_any_text_keeps_its_length_and_everything_but_letters(texts: list[str], skip: int) -> None:
    sliced = pa.array(texts, pa.string()).slice(skip)
    kept = sliced.to_pylist()
    after, letters = mistyped(sliced, np.arange(len(kept), dtype=np.uint64), 1.0, DRAWS)
    for old, new, count in zip(kept, after.to_pylist(), letters.tolist(), strict=True):
        assert letters_changed(old, new) == count == sum(c.isascii() and c.isalpha() for c in old)
        changed = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
        assert all(a.isascii() and a.isalpha() and a.isupper() == b.isupper() for a, b in changed)
