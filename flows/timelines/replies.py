"""Replies: messages that answer each other, in threads with one contact each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.clock import MINUTE, SECOND
from flows.common.draws import F64, normal
from flows.timelines.parts import Content, Part, blank, of_one_line, step_before
from flows.timelines.rhythm import is_within, sittings
from flows.timelines.setting import Doing, Setting
from schemas.activities import ReplyActivity

I64 = npt.NDArray[np.int64]
MESSAGES = 256
"""Messages of one thread at the most; a thread longer than that is one in half a million where one more follows in 95 %."""


def plan(doing: Doing, activity: ReplyActivity, setting: Setting) -> Part:
    """A session of one line for each message. Who has no contact has no threads."""
    aspect, draws, people, span = doing.aspect, setting.draws, setting.people, setting.span
    threads = sittings(doing, activity, people, span, draws)
    threads = threads.where(setting.things.own[doing.domain.name, activity.on].has[threads.person] > 0)
    uniform = draws.uniform(f"{aspect} length", people.numbers[threads.person], threads.key)
    length = messages(uniform, activity.more)
    thread = np.repeat(np.arange(length.size), length)
    first = np.cumsum(length) - length
    nth = np.arange(thread.size) - first[thread]
    person, key = threads.person[thread], threads.key[thread] * np.uint64(MESSAGES) + nth.astype(np.uint64)
    who = people.numbers[person]
    minutes = activity.wait_minutes * np.exp(activity.wait_spread * normal(draws.uniform(f"{aspect} wait", who, key)))
    wait = np.where(nth > 0, np.maximum(1, np.round(minutes * MINUTE / SECOND)).astype(np.int64) * SECOND, 0)
    since = np.cumsum(wait)
    start = threads.start_us[thread] + since - since[first[thread]]
    step = step_before(aspect, activity.action, doing.domain, who, key, draws)
    inside = is_within(start, person, people, span)
    return of_one_line(aspect, doing.place, person[inside], key[inside], start[inside], step[inside])


def fill(part: Part, doing: Doing, activity: ReplyActivity, setting: Setting) -> Content:
    """Content of the lines: all messages of a thread go to one contact."""
    content = blank(part.person.size, activity.action)
    thread = part.key // np.uint64(MESSAGES)
    uniform = setting.draws.uniform(f"{doing.aspect} {activity.on}", setting.people.numbers[part.person], thread)
    content.item[:] = setting.things.own[doing.domain.name, activity.on].taken(part.person, uniform)
    return content


def messages(uniform: F64, more: float) -> I64:
    """(n,) lengths of threads, geometric: one more message follows with probability ``more``. On a grid of 2**-40."""
    follows = np.rint(more ** np.arange(MESSAGES - 1, 0, -1) * 2.0**40).astype(np.int64)
    return MESSAGES - np.searchsorted(follows, (uniform * 2.0**40).astype(np.int64), side="right").astype(np.int64)
