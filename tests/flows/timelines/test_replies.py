"""Threads of messages: how long they are, how fast, and with whom."""

from __future__ import annotations

import numpy as np

from flows.common.clock import MINUTE
from flows.timelines import replies
from flows.timelines.rhythm import TRAIN, rates
from schemas.activities import ReplyActivity, Rhythm
from tests.flows.timelines.shard import DRAWS, doing, people, setting

COUNT = 400
CONTACTS = [0, 1, 5, 9] * (COUNT // 4)
OWN = {("planning", "contact"): CONTACTS}


def test_each_message_of_a_thread_goes_to_one_contact_after_a_wait() -> None:
    one = doing("planning", "messages", rhythm=Rhythm(again=0.6, soon_minutes=5.0, soon_spread=1.0))
    assert isinstance(one.activity, ReplyActivity)
    shard = setting(people(COUNT), OWN)
    part = replies.plan(one, one.activity, shard)
    item = replies.fill(part, one, one.activity, shard).item
    assert set((part.person % 4).tolist()) == {1, 2, 3}  # who has no contact has no threads
    owner = np.repeat(np.arange(COUNT), CONTACTS)
    assert (owner[item] == part.person).all()
    thread = part.person * 2**32 + (part.key // np.uint64(TRAIN)).astype(np.int64)
    assert len(set(zip(thread.tolist(), item.tolist(), strict=True))) == np.unique(thread).size < part.person.size / 2
    nth = item - (np.cumsum(CONTACTS) - CONTACTS)[part.person]
    assert set(nth[part.person % 4 == 3].tolist()) == set(range(9))
    follows = thread[1:] == thread[:-1]
    wait = np.diff(part.start_us)[follows] / MINUTE
    assert wait.min() > 0 and abs(np.median(wait) / 5.0 - 1) < 0.05
    spread = np.log(wait[wait > 0.5]).std()
    assert 0.9 < spread < 1.1
    assert (part.lines.session == np.arange(part.person.size)).all()


def test_people_send_as_many_messages_as_their_rates_say() -> None:
    one = doing("planning", "messages", rhythm=Rhythm(sway=0, dormant_share=0, again=0))
    assert isinstance(one.activity, ReplyActivity)
    part = replies.plan(one, one.activity, setting(people(COUNT), {("planning", "contact"): [1] * COUNT}))
    expected = rates(one.aspect, one.activity.per_week, people(COUNT).numbers, DRAWS).sum() * 8
    assert abs(part.person.size - expected) < 4 * expected**0.5
