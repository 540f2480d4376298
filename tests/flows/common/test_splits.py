from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flows.common.splits import split_of
from tests.flows.release.release_fakes import fake_config


@given(first=st.integers(1, 400), more=st.integers(0, 400), seed=st.integers(0, 2**40))
def test_users_keep_their_splits_when_users_are_added(first: int, more: int, seed: int) -> None:
    data = fake_config(1, splits={"train": 0.6, "validation": 0.1, "test": 0.3}).data.model_copy(update={"seed": seed})
    few, many = (
        split_of(np.arange(first, dtype=np.uint64), data),
        split_of(np.arange(first + more, dtype=np.uint64), data),
    )
    assert list(few) == list(many[:first])


def test_a_users_split_does_not_depend_on_who_else_is_asked_about() -> None:
    data = fake_config(1).data
    together = split_of(np.arange(50, dtype=np.uint64), data)
    alone = [str(split_of(np.array([number], np.uint64), data)[0]) for number in range(50)]
    assert list(together) == alone


def test_splits_have_their_shares() -> None:
    shares = {"train": 0.7, "validation": 0.05, "test": 0.25}
    found = split_of(np.arange(40_000, dtype=np.uint64), fake_config(1, splits=shares).data)
    names, counts = np.unique(found, return_counts=True)
    realised = dict(zip(names.tolist(), counts / 40_000, strict=True))
    assert all(abs(realised[name] - share) < 0.01 for name, share in shares.items())


def test_a_split_without_share_gets_nobody() -> None:
    data = fake_config(1, splits={"none": 0.0, "train": 1.0, "test": 0.0}).data
    assert set(split_of(np.arange(5_000, dtype=np.uint64), data)) == {"train"}


def test_nobody_has_no_splits() -> None:
    assert len(split_of(np.empty(0, np.uint64), fake_config(1).data)) == 0
