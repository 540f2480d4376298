"""Replies: messages that answer each other, in threads with one contact each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.common.draws import Draws
from flows.timelines.habits import history_of, recalled
from flows.timelines.parts import Content, Part, blank, of_one_line, step_before
from flows.timelines.rhythm import TRAIN, sittings
from flows.timelines.setting import Doing, People, Setting
from schemas.activities import Habit, ReplyActivity

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]


def plan(doing: Doing, activity: ReplyActivity, setting: Setting) -> Part:
    """A session of one line for each message. Who has no contact has no threads."""
    people = setting.people
    some = sittings(doing, activity, people, setting.span, setting.draws)
    some = some.where(setting.things.own[doing.domain.name, activity.on].has[some.person] > 0)
    step = step_before(
        doing.aspect, activity.action, doing.domain, people.numbers[some.person], some.key, setting.draws
    )
    return of_one_line(doing.aspect, doing.place, *some, step)


def fill(part: Part, doing: Doing, activity: ReplyActivity, setting: Setting) -> Content:
    """Content of the lines: all messages of a thread go to one contact."""
    content = blank(part.person.size, activity.action)
    own = setting.things.own[doing.domain.name, activity.on]
    thread = part.key // np.uint64(TRAIN)
    if activity.habit is None:
        uniform = setting.draws.uniform(f"{doing.aspect} {activity.on}", setting.people.numbers[part.person], thread)
        content.item[:] = own.taken(part.person, uniform)
    else:
        content.item[:] = own.nth(
            part.person, contacts(part, thread, doing, activity.habit, setting.people, setting.draws)
        )
    return content


class _OneShelf:
    """Contacts are all of one category, and there at all hours."""

    def drawn(self, position: I64) -> I64:
        return np.zeros(position.size, np.int64)

    def allows(self, position: I64, category: I64) -> Mask | None:
        return None


def contacts(part: Part, thread: U64, doing: Doing, habit: Habit, people: People, draws: Draws) -> I64:
    """(messages,) which of the person's contacts each goes to, counted in the order in which they are first written to."""
    order = np.lexsort((part.start_us, thread, part.person))
    opens = np.append(True, (np.diff(part.person[order]) != 0) | (thread[order][1:] != thread[order][:-1]))[
        : order.size
    ]
    first = order[opens]
    threads = of_one_line(
        part.name, doing.place, part.person[first], thread[first], part.start_us[first], np.zeros(first.size, np.int64)
    )
    past = history_of(threads, np.arange(first.size), people)
    source = recalled(past, habit, _OneShelf(), doing.aspect, draws).source
    met = np.cumsum(source == past.every)
    contact = np.empty(first.size, np.int64)
    contact[past.line] = (met - met[past.first])[source]
    of_message = np.empty(order.size, np.int64)
    of_message[order] = contact[np.cumsum(opens) - 1]
    return of_message
