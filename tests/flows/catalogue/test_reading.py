"""Claims about the natural view: what a thing is can be read from its words, and not without reading."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from flows.common.draws import Draws, keys_of
from tests.flows.catalogue import reader
from tests.flows.catalogue.shelves import Shelf

AT_MOST = 2_000
"""Things of a domain that are read."""
LOW, HIGH = 0.5, 0.95


def words_and_halves(shelf: Shelf) -> tuple[list[list[str]], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Words of title and description, and who is in the half that is learned from, by a keyed hash of the id."""
    ids = shelf.column("item_id")[:AT_MOST]
    texts = [f"{t} {d}" for t, d in zip(shelf.column("title"), shelf.column("description"), strict=True)][:AT_MOST]
    learned = (Draws(7, "reading").bits("half", keys_of(ids)) & np.uint64(1)).astype(bool)
    return [reader.tokens(text) for text in texts], learned, ~learned


def scores(shelf: Shelf) -> dict[str, tuple[float, float]]:
    """Dimension to macro-F1 of the naive Bayes and of the softmax regression on the other half."""
    words, learned, other = words_and_halves(shelf)
    table = reader.counts(words, learned)
    labels = [shelf.codes(name)[:AT_MOST] for name in shelf.domain.dimensions]
    classes = [len(spec.values) for spec in shelf.domain.dimensions.values()]
    told = reader.softmax_regression(table[learned], [y[learned] for y in labels], classes, table[other])
    found = {}
    for name, y, k, by_softmax in zip(shelf.domain.dimensions, labels, classes, told, strict=True):
        by_bayes = reader.naive_bayes(table[learned], y[learned], k, table[other])
        found[name] = (reader.macro_f1(y[other], by_bayes, k), reader.macro_f1(y[other], by_softmax, k))
    return found


def test_a_bag_of_words_neither_misses_a_dimension_nor_is_handed_it(shelf: Shelf) -> None:
    found = scores(shelf)
    assert all(LOW <= score <= HIGH for both in found.values() for score in both), found


def test_without_contrasts_the_words_would_hand_it_over(every_shelf: dict[str, Shelf]) -> None:
    """The readers can read: what keeps them below the limit is that texts also name what a thing is not."""
    from tests.flows.catalogue.shelves import shelves

    food = every_shelf["food"].domain
    plain = food.model_copy(update={"catalogue": food.catalogue.model_copy(update={"contrast_share": 0.0})})
    found = scores(shelves({"food": plain})["food"])
    assert min(by_softmax for _, by_softmax in found.values()) > HIGH


def test_labels_that_have_nothing_to_do_with_the_words_are_not_read(every_shelf: dict[str, Shelf]) -> None:
    shelf = every_shelf["food"]
    words, learned, other = words_and_halves(shelf)
    table = reader.counts(words, learned)
    chance = (Draws(7, "reading").uniform("label", np.arange(AT_MOST)) * 3).astype(np.int64)
    by_bayes = reader.naive_bayes(table[learned], chance[learned], 3, table[other])
    (by_softmax,) = reader.softmax_regression(table[learned], [chance[learned]], [3], table[other])
    for told in (by_bayes, by_softmax):
        assert reader.macro_f1(chance[other], told, 3) < 1 / 3 + 0.06


def test_the_readers_find_a_class_by_its_word_and_f1_is_the_usual_one() -> None:
    texts = [["red", "x"], ["blue", "x"], ["red", "y"], ["blue", "y"]] * 10
    labels = np.array([0, 1, 0, 1] * 10)
    table = reader.counts(texts, np.ones(40, bool))
    assert (reader.naive_bayes(table, labels, 2, table) == labels).all()
    (told,) = reader.softmax_regression(table, [labels], [2], table)
    assert (told == labels).all()
    assert reader.macro_f1(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 2) == pytest.approx((2 / 3 + 4 / 5) / 2)


def test_things_that_differ_in_one_dimension_share_more_words_than_those_that_differ_in_all(shelf: Shelf) -> None:
    texts = [f"{t} {d}" for t, d in zip(shelf.column("title"), shelf.column("description"), strict=True)]
    words = [set(reader.tokens(text)) for text in texts]
    grid = shelf.grid()
    sizes = np.array(
        [len(shelf.domain.catalogue.categories), *(len(s.values) for s in shelf.domain.dimensions.values())]
    )
    row_of = np.empty(sizes, np.int64)
    row_of[tuple(grid.T)] = np.arange(len(grid))
    near, far = [], []
    for row in range(0, len(grid), 5):
        place = 1 + row // 5 % (grid.shape[1] - 1)
        one, every = grid[row].copy(), grid[row].copy()
        one[place] = (one[place] + 1) % sizes[place]
        every[1:] = (every[1:] + 1) % sizes[1:]
        for found, other in ((near, one), (far, every)):
            there = words[row_of[tuple(other)]]
            found.append(len(words[row] & there) / len(words[row] | there))
    gap = np.array(near) - np.array(far)
    assert gap.mean() > 4 * gap.std() / np.sqrt(gap.size)
