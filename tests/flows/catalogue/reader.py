"""Two small readers of texts: what a naive Bayes and a softmax regression learn from counts of words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
TOKEN = re.compile(r"\w+")


def tokens(text: str) -> list[str]:
    return TOKEN.findall(text.casefold())


def bigrams(words: Sequence[str]) -> list[str]:
    return [f"{one} {other}" for one, other in zip(words, words[1:], strict=False)]


def counts(texts: Sequence[Sequence[str]], seen: npt.NDArray[np.bool_], at_least: int = 2) -> F64:
    """(texts, words) how often each has each word that stands in so many of the texts that were ``seen``, or more."""
    places: dict[str, int] = {}
    codes = [[places.setdefault(word, len(places)) for word in text] for text in texts]
    row = np.repeat(np.arange(len(texts)), [len(text) for text in codes])
    column = np.array([code for text in codes for code in text], np.int64)
    table = np.bincount(row * len(places) + column, minlength=len(texts) * len(places)).reshape(len(texts), -1)
    return np.asarray(table[:, (table[seen] > 0).sum(axis=0) >= at_least], dtype=np.float64)


def naive_bayes(train: F64, labels: I64, classes: int, test: F64) -> I64:
    """(n,) classes of the test rows by a multinomial naive Bayes with one more of each word."""
    is_class = (labels[:, None] == np.arange(classes)).astype(float)
    words = is_class.T @ train + 1.0
    score = test @ (np.log(words) - np.log(words.sum(axis=1, keepdims=True))).T + np.log(is_class.sum(axis=0) + 1.0)
    return np.asarray(score.argmax(axis=1))


def softmax_regression(
    train: F64, labels: Sequence[I64], classes: Sequence[int], test: F64, steps: int = 150, rate: float = 2.0
) -> list[I64]:
    """For each of several labellings the classes of the test rows, by full-batch gradient descent with momentum.

    One regression for each labelling; they share the matrix products. A small penalty keeps weights finite.
    """
    scale = np.sqrt(np.maximum((train**2).mean(axis=0), 1e-9)) * np.sqrt(train.shape[1]) / 8
    rows = np.hstack([train / scale, np.ones((len(train), 1))]).astype(np.float32)
    wanted = np.hstack([(y[:, None] == np.arange(k)) for y, k in zip(labels, classes, strict=True)]).astype(np.float32)
    ends = np.cumsum(classes)[:-1]
    weights = np.zeros((rows.shape[1], wanted.shape[1]), np.float32)
    speed = np.zeros_like(weights)
    for _ in range(steps):
        chance = np.hstack([_softmax(block) for block in np.split(rows @ weights, ends, axis=1)])
        slope = rows.T @ (chance - wanted) / len(rows) + 1e-4 * weights
        speed = 0.9 * speed - rate * slope
        weights += speed
    told = np.hstack([test / scale, np.ones((len(test), 1))]) @ weights
    return [block.argmax(axis=1) for block in np.split(told, ends, axis=1)]


def _softmax(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def macro_f1(labels: I64, told: I64, classes: int) -> float:
    """Mean over the classes of the harmonic mean of precision and recall."""
    scores = []
    for one in range(classes):
        hits = int(((labels == one) & (told == one)).sum())
        scores.append(2 * hits / max(1, int((labels == one).sum()) + int((told == one).sum())))
    return float(np.mean(scores))
