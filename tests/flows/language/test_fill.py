from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pyarrow as pa

from flows.common.draws import Draws
from flows.language.fill import fill, gathered, placed
from prompts.load import Bank

DRAWS = Draws(5, "test")
BANK = Bank(inputs=["noun"], templates=["[A|B|] {noun}!", "{noun}[?| and so|]", "only {noun}"])


def test_every_wording_is_used_about_equally_and_inputs_are_in_their_rows() -> None:
    lines = np.arange(9000, dtype=np.uint64)
    nouns = pa.array([f"n{place}" for place in range(9000)])
    texts = fill(BANK, lines, {"noun": nouns}, DRAWS, "test").to_pylist()
    assert all(re.search(r"n\d+", text)[0] == f"n{place}" for place, text in enumerate(texts))  # type: ignore[index]
    counts = Counter(re.sub(r"n\d+", "*", text) for text in texts)
    assert {form: round(count / 1000) for form, count in counts.items()} == {
        "A *!": 1,
        "B *!": 1,
        " *!": 1,
        "*?": 1,
        "* and so": 1,
        "*": 1,
        "only *": 3,
    }


def test_equal_lines_get_equal_texts_and_another_aspect_other_ones() -> None:
    lines = np.array([7, 8, 7], np.uint64)
    nouns = pa.array(["x", "x", "x"])
    texts = fill(BANK, lines, {"noun": nouns}, DRAWS, "test").to_pylist()
    assert texts[0] == texts[2]
    many = np.arange(200, dtype=np.uint64)
    same = pa.repeat("x", 200)
    assert fill(BANK, many, {"noun": same}, DRAWS, "one") != fill(BANK, many, {"noun": same}, DRAWS, "other")


def test_the_wordings_of_one_template_are_drawn_apart() -> None:
    bank = Bank(inputs=[], templates=["[a|b] [c|d]"])
    texts = fill(bank, np.arange(4000, dtype=np.uint64), {}, DRAWS, "test").to_pylist()
    assert {text: round(texts.count(text) / 1000) for text in set(texts)} == {"a c": 1, "a d": 1, "b c": 1, "b d": 1}


def test_parts_land_in_their_rows() -> None:
    parts = [(np.array([3, 0]), pa.array(["d", "a"])), (np.array([2]), pa.array(["c"]))]
    assert gathered(parts, 5).to_pylist() == ["a", None, "c", "d", None]
    assert gathered([], 2).to_pylist() == [None, None]
    assert placed(pa.array(["x", None, "z"]), np.array([1, 2]), pa.array(["b", "c"])).to_pylist() == ["x", "b", "c"]
