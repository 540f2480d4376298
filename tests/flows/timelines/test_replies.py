"""Threads of messages: how long they are, how fast, and with whom."""

from __future__ import annotations

import numpy as np
import pytest

from flows.common.clock import MINUTE
from flows.timelines import replies
from flows.timelines.rhythm import rates
from schemas.activities import ReplyActivity
from tests.flows.lives import fits
from tests.flows.timelines.shard import DRAWS, doing, people, setting

COUNT = 400
CONTACTS = [0, 1, 5, 9] * (COUNT // 4)
OWN = {("planning", "contact"): CONTACTS}


@pytest.mark.parametrize("more", [0.3, 0.9])
def test_the_length_of_a_thread_is_geometric(more: float) -> None:
    length = replies.messages(DRAWS.uniform("length", np.arange(50_000)), more)
    shares = (1 - more) * more ** np.arange(30)
    assert length.min() == 1 and fits(np.bincount(length, minlength=31)[1:31], shares / shares.sum())
    assert abs(length.mean() * (1 - more) - 1) < 0.02
    assert set(replies.messages(DRAWS.uniform("length", np.arange(50)), 0.0).tolist()) == {1}


def test_each_message_of_a_thread_goes_to_one_contact_after_a_wait() -> None:
    one = doing("planning", "messages")
    assert isinstance(one.activity, ReplyActivity)
    shard = setting(people(COUNT), OWN)
    part = replies.plan(one, one.activity, shard)
    item = replies.fill(part, one, one.activity, shard).item
    assert set((part.person % 4).tolist()) == {1, 2, 3}  # who has no contact has no threads
    owner = np.repeat(np.arange(COUNT), CONTACTS)
    assert (owner[item] == part.person).all()
    thread = part.person * 2**32 + (part.key // np.uint64(replies.MESSAGES)).astype(np.int64)
    assert len(set(zip(thread.tolist(), item.tolist(), strict=True))) == np.unique(thread).size < part.person.size / 2
    nth = item - (np.cumsum(CONTACTS) - CONTACTS)[part.person]
    assert set(nth[part.person % 4 == 3].tolist()) == set(range(9))
    follows = thread[1:] == thread[:-1]
    wait = np.diff(part.start_us)[follows] / MINUTE
    assert wait.min() > 0 and abs(np.median(wait) / one.activity.wait_minutes - 1) < 0.05
    spread = np.log(wait[wait > 0.5]).std()
    assert 0.8 * one.activity.wait_spread < spread < 1.1 * one.activity.wait_spread
    assert (part.lines.session == np.arange(part.person.size)).all()


def test_people_have_as_many_threads_as_their_rates_say() -> None:
    one = doing("planning", "messages", more=0.0)
    assert isinstance(one.activity, ReplyActivity)
    part = replies.plan(one, one.activity, setting(people(COUNT), {("planning", "contact"): [1] * COUNT}))
    expected = rates(one.aspect, one.activity.per_week, people(COUNT).numbers, DRAWS).sum() * 8
    assert abs(part.person.size - expected) < 4 * expected**0.5
