from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flows.common.draws import Draws, categorical, exponential, normal
from schemas.behaviour.choice import choice_shares, position_cost
from schemas.behaviour.price import price_weight
from schemas.config import DataConfig
from schemas.load import load_domain, load_life_events
from validation.observer.filter import Beliefs, believe
from validation.observer.parameters import (
    DAY_US,
    ObserverParameters,
    observer_parameters,
)
from validation.observer.record import (
    ABSENT,
    BACK_TO_USUAL,
    FOR_NOW,
    USUAL,
    DomainRecord,
)

FOOD = load_domain("food")
LIFE = load_life_events()
DRAWS = Draws(5, "test of the observer")
WEEKS, SHOWN = 26, 6


def config(**disturb: Any) -> DataConfig:
    """Of the changes of taste, the people here know life events and passing states only."""
    disturb["drift"] = {"gradual_share": 0, "seasonal_share": 0} | disturb.get("drift", {})
    window = {"start": "2025-01-06T00:00:00+00:00", "end": "2025-07-07T00:00:00+00:00"}
    return DataConfig.model_validate({"users": 1, "window": window, "disturb": disturb})


def parameters_of(**disturb: Any) -> ObserverParameters:
    return observer_parameters(config(**disturb), FOOD, LIFE)


CALM = parameters_of(
    noise={"accidental": 0.02, "other_person": 0.0},
    drift={"abrupt_per_year": 0},
)


# --- a population that lives by the equations -----------------------------------------------------------------------


class Population:
    """People with tastes, life events and passing states, and what they are seen to do and heard to say."""

    def __init__(self, users: int, sittings: int, data: DataConfig) -> None:
        self.data, self.users = data, users
        self.parameters = observer_parameters(data, FOOD, LIFE)
        self.start, self.span = self.parameters.window_start_us, WEEKS * 7 * DAY_US
        self.who, self.columns = np.arange(users), np.arange(len(self.parameters.dimensions))
        self.cell = self.who[:, None] * self.columns.size + self.columns
        prior = np.broadcast_to(self.parameters.prior, (*self.cell.shape, self.parameters.prior.shape[1]))
        self.first = categorical(DRAWS.uniform("liked", self.cell), prior)
        specs = list(FOOD.dimensions.values())
        middle = data.dispositions.strength_mean * np.array([spec.strength for spec in specs])
        deviate = normal(DRAWS.uniform("strength", self.cell))
        self.strength = middle * np.exp(data.dispositions.strength_spread * deviate)
        self._draw_events()
        self._draw_states()
        self.record = self._live(sittings)

    def _draw_events(self) -> None:
        rate = self.data.disturb.drift.abrupt_per_year / 365.25
        gaps = exponential(DRAWS.uniform("gap", self.who[:, None], np.arange(8))) / max(rate, 1e-9)
        self.event_at = self.start + (np.cumsum(gaps, axis=1).clip(max=1e6) * DAY_US).astype(np.int64)
        shares = [event.share for event in LIFE.events.values()]
        kind = categorical(DRAWS.uniform("kind", self.who[:, None], np.arange(8)), shares)
        moves = np.full((len(LIFE.events), self.columns.size), ABSENT)
        for row, event in enumerate(LIFE.events.values()):
            for column, (name, spec) in enumerate(zip(FOOD.dimension_ids(), FOOD.dimensions.values(), strict=True)):
                if name in event.moves:
                    moves[row, column] = list(spec.values).index(event.moves[name])
        self.moves = moves[kind]

    def _draw_states(self) -> None:
        rules = self.data.disturb.contradictions
        self.has_state = DRAWS.uniform("state", self.cell) < rules.temporary_state
        self.state_from = self.start + (DRAWS.uniform("state from", self.cell) * self.span).astype(np.int64)
        days = rules.state_days * (1 + 2 * DRAWS.uniform("state length", self.cell)) / 3
        self.state_to = self.state_from + (days * DAY_US).astype(np.int64)
        self.state_value = self._another("state value", self.lasting(self.who, self.state_from), self.cell)

    def _another(self, aspect: str, value: np.ndarray, entity: np.ndarray) -> np.ndarray:
        """Another value of the dimension (last axis), each alike."""
        size = self.parameters.sizes
        return (value + 1 + (DRAWS.uniform(aspect, entity) * (size - 1)).astype(np.int64)) % size

    def lasting(self, user: np.ndarray, at_us: np.ndarray) -> np.ndarray:
        """(n, D) at instants (n,) or (n, D)."""
        at = at_us if at_us.ndim == 2 else at_us[:, None]
        value: np.ndarray = self.first[user]
        for nth in range(self.event_at.shape[1]):
            moved = (self.event_at[user, nth, None] <= at) & (self.moves[user, nth] != ABSENT)
            value = np.where(moved, self.moves[user, nth], value)
        return value

    def effective(self, user: np.ndarray, at_us: np.ndarray) -> np.ndarray:
        at = at_us[:, None]
        holds = self.has_state[user] & (self.state_from[user] <= at) & (at < self.state_to[user])
        return np.where(holds, self.state_value[user], self.lasting(user, at_us))

    def _live(self, sittings: int) -> DomainRecord:
        number = np.arange(self.users * sittings)
        lines = 1 + categorical(DRAWS.uniform("lines", number), [0.62, 0.27, 0.11])
        sitting = np.repeat(number, lines)
        line = np.arange(sitting.size) - np.repeat(np.cumsum(lines) - lines, lines)
        user, key = sitting // sittings, sitting * 3 + line
        at = self.start + (DRAWS.uniform("at", sitting) * self.span).astype(np.int64) + line * 45_000_000
        another = DRAWS.uniform("another", sitting) < self.parameters.other_person
        cell = sitting[:, None] * self.columns.size + self.columns
        prior = np.broadcast_to(self.parameters.prior, (*cell.shape, self.parameters.prior.shape[1]))
        liked = np.where(another[:, None], categorical(DRAWS.uniform("other's", cell), prior), self.effective(user, at))
        place = np.arange(SHOWN)[:, None] * self.columns.size + self.columns
        options = (DRAWS.uniform("options", key[:, None, None], place) * self.parameters.sizes).astype(np.int64)
        utility = -position_cost(SHOWN, self.parameters.position_effect) * np.ones((key.size, 1))
        for column in self.columns:
            match = self.parameters.match[column][liked[:, column, None], options[:, :, column]]
            utility += self.strength[user, column, None] * match
        log_price = np.round(0.5 * normal(DRAWS.uniform("price", key[:, None], np.arange(SHOWN))), 2)
        spent = 2 * DRAWS.uniform("spent", key)
        mind = np.exp(0.5 * normal(DRAWS.uniform("mind", user)) - 0.125)
        utility -= price_weight(self.parameters.price, spent, mind)[:, None] * log_price
        chosen = categorical(DRAWS.uniform("chosen", key), choice_shares(utility, self.parameters.exploration))
        slips = DRAWS.uniform("slip", key) < self.parameters.accidental
        elsewhere = (chosen + 1 + (DRAWS.uniform("slip to", key) * (SHOWN - 1)).astype(np.int64)) % SHOWN
        logged = np.where(slips, elsewhere, chosen)
        return record_of(self.users, user, at, sitting, options, logged, self._talks(), log_price, spent)

    def _talks(self) -> np.ndarray:
        """(n, 5) user, instant, dimension, value, stance of what is said, as a reader reads it."""
        count = np.floor(DRAWS.uniform("said", self.cell) + self.data.timelines.statement_rate * WEEKS).astype(int)
        said_at = self.start + (DRAWS.uniform("said at", self.cell) * self.span).astype(np.int64)
        false_at = self.start + (DRAWS.uniform("false at", self.cell) * self.span).astype(np.int64)
        is_false = DRAWS.uniform("false", self.cell) < self.data.disturb.contradictions.stated_vs_done
        false_value = self._another("false value", self.lasting(self.who, false_at), self.cell)
        tells_end = self.has_state & (DRAWS.uniform("tells end", self.cell) < 0.75)
        kinds = [
            (count > 0, said_at, self.lasting(self.who, said_at), USUAL),
            (is_false, false_at, false_value, USUAL),
            (self.has_state, self.state_from, self.state_value, FOR_NOW),
            (tells_end, self.state_to, np.full_like(self.first, ABSENT), BACK_TO_USUAL),
        ]
        rows = []
        for place, (where, at, value, stance) in enumerate(kinds):
            misread = (DRAWS.uniform("misread", self.cell, place) > self.parameters.reliability) & (value != ABSENT)
            value = np.where(misread, self._another("read as", value, self.cell), value)
            user, column = np.nonzero(where)
            picked = (user, at[user, column], column, value[user, column], np.full(user.size, stance))
            rows.append(np.stack(picked, axis=1))
        return np.concatenate(rows)


def record_of(
    users: int,
    user: Any,
    at_us: Any,
    session: Any,
    options: Any,
    chosen: Any,
    talks: Any = (),
    log_price: Any = None,
    spent: Any = None,
) -> DomainRecord:
    """A record in order, from choices and rows of (user, instant, dimension, value, stance)."""
    options = np.asarray(options)
    log_price = np.zeros(options.shape[:2]) if log_price is None else np.asarray(log_price)
    spent = np.zeros(len(options)) if spent is None else np.asarray(spent)
    talk = np.asarray(talks, np.int64).reshape(-1, 5)
    count = len(options)
    owner = np.concatenate([user, talk[:, 0]]).astype(np.int64)
    at = np.concatenate([at_us, talk[:, 1]]).astype(np.int64)
    order = np.lexsort((at, owner))
    blank = np.full((talk.shape[0], *options.shape[1:]), ABSENT)
    words = np.concatenate([np.full((count, 3), ABSENT), talk[:, 2:]])[order].astype(np.int8)
    apart = 10**9 + np.arange(talk.shape[0])
    return DomainRecord(
        users=users,
        user=owner[order],
        at_us=at[order],
        session=np.concatenate([session, apart])[order].astype(np.int64),
        is_choice=(np.arange(owner.size) < count)[order],
        options=np.concatenate([options, blank])[order].astype(np.int8),
        chosen=np.concatenate([chosen, np.full(talk.shape[0], ABSENT)])[order].astype(np.int8),
        said_dimension=words[:, 0],
        said_value=words[:, 1],
        said_stance=words[:, 2],
        event_row=order,
        log_price=np.concatenate([log_price, np.zeros(blank.shape[:2])])[order].astype(np.float32),
        budgets_spent=np.concatenate([spent, np.zeros(talk.shape[0])])[order],
    )


# --- one user whose choices are written down ------------------------------------------------------------------------

CUISINE, HEAT, PORTION, WAIT = 0, 1, 3, 5
ITALIAN, MEXICAN, JAPANESE = range(3)


def day(count: float) -> int:
    return CALM.window_start_us + round(count * DAY_US)


def dishes(key: int) -> np.ndarray:
    """(6, D) one dish of each cuisine, the other dimensions by lot."""
    place = np.arange(SHOWN)[:, None] * len(CALM.dimensions) + np.arange(len(CALM.dimensions))
    shown = (DRAWS.uniform("dishes", key, place) * CALM.sizes).astype(np.int64)
    shown[:, CUISINE] = np.arange(SHOWN)
    return shown


def diary(cuisines: list[int], days: list[float], talks: Any = ()) -> DomainRecord:
    """The cuisines that one user chose, in sittings of their own."""
    count = len(cuisines)
    shown = np.array([dishes(key) for key in range(count)]).reshape(count, SHOWN, len(CALM.dimensions))
    return record_of(1, np.zeros(count), [day(d) for d in days], np.arange(count), shown, cuisines, talks)


def ask(record: DomainRecord, parameters: ObserverParameters, *days: float) -> Beliefs:
    return believe(record, parameters, (np.zeros(len(days), np.int64), np.array([day(d) for d in days])))


def steadily(cuisine: int, count: int) -> DomainRecord:
    return diary([cuisine] * count, [1.0 + n for n in range(count)])


# --- calibration ----------------------------------------------------------------------------------------------------

HARSH: dict[str, Any] = {
    "noise": {"accidental": 0.1, "other_person": 0.15},
    "drift": {"abrupt_per_year": 4.0},
    "contradictions": {"stated_vs_done": 0.3, "temporary_state": 0.3},
}


@pytest.mark.parametrize(("disturb", "sittings", "accuracy"), [({}, 8, 0.77), ({}, 40, 0.93), (HARSH, 40, 0.85)])
def test_stated_confidence_is_the_share_that_is_right(disturb: dict[str, Any], sittings: int, accuracy: float) -> None:
    people = Population(400, sittings, config(**disturb))
    at = np.full(people.users, people.start + int(0.97 * people.span))
    beliefs = believe(people.record, people.parameters, (people.who, at)).belief
    confidence = beliefs.max(axis=2).ravel()
    right = (beliefs.argmax(axis=2) == people.effective(people.who, at)).ravel()
    assert confidence.size >= 2000
    bins = np.digitize(confidence, [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
    error = sum(abs(confidence[bins == b].sum() - right[bins == b].sum()) for b in range(9)) / confidence.size
    assert error <= 0.05
    sure = confidence >= 0.9
    assert abs(confidence[sure].mean() - right[sure].mean()) <= 0.02
    assert right.mean() >= accuracy


def test_the_strength_of_a_taste_is_learnt() -> None:
    people = Population(150, 40, config())
    at = np.full(people.users, people.start + people.span)
    strength = believe(people.record, people.parameters, (people.who, at)).strength
    assert np.corrcoef(strength.ravel(), people.strength.ravel())[0, 1] > 0.5


# --- the likelihood -------------------------------------------------------------------------------------------------


def test_in_one_dimension_the_belief_is_that_of_bayes_with_the_equations_of_the_generator() -> None:
    for dimension in (CUISINE, WAIT):
        part = slice(dimension, dimension + 1)
        model = replace(
            CALM,
            dimensions=CALM.dimensions[part],
            values=CALM.values[part],
            prior=CALM.prior[part],
            match=CALM.match[part],
            strengths=CALM.strengths[part],
            hazard_per_day=CALM.hazard_per_day[part],
            targets=CALM.targets[part],
            accidental=0.04,
        )
        size, shown = model.values[0], np.array([[2, 0, 1, 1, 0], [1, 2, 2, 0, ABSENT], [0, 1, ABSENT, ABSENT, ABSENT]])
        chosen = [3, 0, 1]
        price = np.array([[0.5, -0.25, 0.0, 1.0, -1.5], [0.0, 0.0, 2.0, -0.5, 0.0], [-0.75, 0.25, 0.0, 0.0, 0.0]])
        spent = np.array([0.0, 0.5, 2.0])
        days, every = [day(1), day(2), day(3)], np.arange(3)
        record = record_of(1, np.zeros(3), days, every, shown[:, :, None], chosen, (), price, spent)
        expected = model.prior[0, : len(size), None] * model.strength_weights
        for options, taken, log_price, budgets in zip(shown, chosen, price, spent, strict=True):
            options = options[options != ABSENT]
            for value in range(len(size)):
                for point, strength in enumerate(model.strengths[0]):
                    utility = strength * model.match[0, value, options]
                    utility = utility - position_cost(options.size, model.position_effect)
                    utility = utility - 0.5 * (1 + 0.5 * budgets) * log_price[: options.size]
                    share = choice_shares(utility, model.exploration)[taken]
                    logged = 0.96 * share + 0.04 * (1 - share) / (options.size - 1)
                    expected[value, point] *= logged
        expected = expected.sum(axis=1) / expected.sum()
        found = believe(record, model, (np.zeros(1, np.int64), np.array([day(4)]))).belief[0, 0, : len(size)]
        assert np.abs(found - expected).max() < 5e-6


def test_a_reading_has_every_value_with_probabilities_that_sum_to_one() -> None:
    model = parameters_of()
    table = model.statement_likelihood()
    for dimension, size in enumerate(model.sizes):
        assert np.allclose(table[dimension, :size, :size].sum(axis=0), 1.0)
    true_share = 0.02 * WEEKS / (0.02 * WEEKS + 0.06)
    assert model.false_share == pytest.approx(1 - true_share)
    sure = replace(model, reliability=1.0)
    assert np.diag(sure.statement_likelihood()[0]) == pytest.approx(true_share)


def test_life_events_set_the_hazard_and_the_targets() -> None:
    model = parameters_of(drift={"abrupt_per_year": 2.0})
    total = math.fsum(event.share for event in LIFE.events.values())
    moves = [(event.moves.get("food.wait_min"), event.share / total) for event in LIFE.events.values()]
    part = np.array([sum(share for to, share in moves if to == value) for value in FOOD.dimensions["wait_min"].values])
    assert model.hazard_per_day[WAIT] == pytest.approx(2.0 / 365.25 * part.sum())
    assert model.targets[WAIT] == pytest.approx([*(part / part.sum()), 0, 0, 0]) and part.min() > 0
    assert model.hazard_per_day[CUISINE] == 0 and not model.targets[CUISINE].any()
    slow = parameters_of(drift={"abrupt_per_year": 0, "gradual_share": 0.1, "seasonal_share": 0.1})
    assert slow.hazard_per_day[CUISINE] == pytest.approx(0.1 / (WEEKS * 7))  # a habit without seasons
    assert slow.hazard_per_day[PORTION] == pytest.approx(0.1 / (WEEKS * 7) + 0.2 / 365.25)
    assert slow.hazard_per_day[HEAT] == 0 and slow.targets[[CUISINE, PORTION]].sum(axis=1) == pytest.approx(1)


def test_a_life_event_to_a_value_that_does_not_exist_is_refused() -> None:
    event = LIFE.events["new_job"].model_copy(update={"moves": {"food.wait_min": "21"}})
    with pytest.raises(ValueError, match=r"new_job moves food.wait_min to `21`"):
        observer_parameters(config(), FOOD, LIFE.model_copy(update={"events": {"new_job": event}}))


# --- what moves a belief, and how far -------------------------------------------------------------------------------


def test_without_observations_the_belief_is_the_prior_and_what_life_events_make_of_it() -> None:
    model = parameters_of(drift={"abrupt_per_year": 4.0})
    beliefs = ask(diary([], []), model, 0, 90)
    assert np.allclose(beliefs.belief[0], model.prior, atol=1e-6)
    stays = math.exp(-model.hazard_per_day[WAIT] * 90)
    later = model.prior[WAIT] * stays + model.targets[WAIT] * (1 - stays)
    assert beliefs.belief[1, WAIT] == pytest.approx(later, abs=1e-6)
    assert np.array_equal(beliefs.belief[1, CUISINE], beliefs.belief[0, CUISINE])
    assert not beliefs.effective_evidence.any() and not beliefs.max_log_ratio.any() and not beliefs.p_active_state.any()


def test_a_single_misclick_moves_little() -> None:
    before, after = ask(diary([ITALIAN] * 4 + [MEXICAN], [1.0, 2.0, 3.0, 4.0, 5.0]), CALM, 4.5, 5.5).belief
    assert before[CUISINE, ITALIAN] > 0.99
    assert 0.001 < before[CUISINE, ITALIAN] - after[CUISINE, ITALIAN] < 0.01


def test_a_false_claim_is_believed_at_first_and_overcome_by_behaviour() -> None:
    claim = [(0, day(1), CUISINE, MEXICAN, USUAL)]
    beliefs = ask(diary([JAPANESE] * 12, [2.0 + n for n in range(12)], claim), CALM, 1.5, 20)
    assert beliefs.belief[0, CUISINE].argmax() == MEXICAN and beliefs.belief[0, CUISINE, MEXICAN] > 0.6
    assert beliefs.belief[1, CUISINE, JAPANESE] > 0.95
    assert beliefs.max_log_ratio[1, CUISINE, MEXICAN] > math.log(5)


def test_a_change_is_followed_where_life_events_bring_it() -> None:
    model = replace(parameters_of(drift={"abrupt_per_year": 2.0}), position_effect=0.0)
    fast, slow = 0, 2
    shown = np.stack([dishes(key) for key in range(40)])
    shown[:, :, WAIT] = np.array([fast, fast, 1, 1, slow, slow])
    chosen = np.where(np.arange(40) < 25, 4 + np.arange(40) % 2, np.arange(40) % 2)
    record = record_of(1, np.zeros(40), [day(1 + n) for n in range(40)], np.arange(40), shown, chosen)
    beliefs = ask(record, model, 25.5, 27.5, 41)
    assert beliefs.belief[0, WAIT, slow] > 0.95
    assert beliefs.belief[1, WAIT, slow] > 0.5
    assert beliefs.belief[2, WAIT, fast] > 0.95
    unmoved = ask(record, replace(model, hazard_per_day=0 * model.hazard_per_day), 41).belief[0, WAIT, fast]
    assert unmoved < 0.5


def test_a_passing_state_holds_until_its_end_is_told_or_its_time_is_over() -> None:
    usual = [1.0 + n for n in range(10)]
    begins, ends = (0, day(20), CUISINE, MEXICAN, FOR_NOW), (0, day(22), CUISINE, ABSENT, BACK_TO_USUAL)
    untold = ask(diary([ITALIAN] * 10, usual, [begins]), CALM, 19, 21, 26, 30)
    assert untold.belief[:2, CUISINE].argmax(axis=1).tolist() == [ITALIAN, MEXICAN]
    assert untold.p_active_state[:, CUISINE] == pytest.approx([0, 0.95, 0.475, 0], abs=1e-3)
    assert untold.belief[3, CUISINE, ITALIAN] == pytest.approx(untold.belief[0, CUISINE, ITALIAN], abs=1e-6)
    told = ask(diary([ITALIAN] * 10, usual, [begins, ends]), CALM, 22.5)
    assert told.belief[0, CUISINE, ITALIAN] > 0.9
    assert told.max_log_ratio[0, CUISINE, ITALIAN] == untold.max_log_ratio[0, CUISINE, ITALIAN]


def test_choices_during_a_state_leave_the_lasting_value_alone() -> None:
    days = [1.0 + n for n in range(10)] + [20.2, 20.4, 20.6, 20.8, 21.0]
    cuisines = [ITALIAN] * 10 + [MEXICAN] * 5
    announced = ask(diary(cuisines, days, [(0, day(20), CUISINE, MEXICAN, FOR_NOW)]), CALM, 21.5, 40)
    assert announced.belief[0, CUISINE, MEXICAN] > 0.95
    assert announced.belief[1, CUISINE, ITALIAN] > 0.95
    unannounced = ask(diary(cuisines, days), CALM, 40)
    assert unannounced.belief[0, CUISINE, ITALIAN] < announced.belief[1, CUISINE, ITALIAN]


def test_a_sitting_of_strange_choices_counts_less_than_the_same_on_several_days() -> None:
    model = replace(CALM, other_person=0.1)
    cuisines = [ITALIAN] * 6 + [MEXICAN] * 8
    days = [1.0 + n for n in range(6)] + [20 + n / 1000 for n in range(8)]
    usual = diary(cuisines, days)
    together = replace(usual, session=np.where(usual.at_us >= day(20), 99, usual.session))
    apart = [ask(record, model, 21).belief[0, CUISINE, ITALIAN] for record in (together, usual)]
    assert apart[0] > 0.95 and apart[1] < 0.5


def test_what_is_said_stands_apart_from_the_sitting_it_falls_in() -> None:
    usual = [1.0 + n for n in range(10)] + [20 + n / 1000 for n in range(3)]
    record = diary([ITALIAN] * 10 + [MEXICAN] * 3, usual, [(0, day(20.01), CUISINE, JAPANESE, FOR_NOW)])
    record = replace(record, session=np.where(record.at_us >= day(20), 99, record.session))
    beliefs = ask(record, replace(CALM, other_person=0.1), 20.5)
    assert beliefs.p_active_state[0, CUISINE] == pytest.approx(0.95, abs=1e-6)


def test_no_certainty_is_beyond_recall() -> None:
    record = diary([MEXICAN] * 260 + [ITALIAN] * 30, [1 + n / 10 for n in range(290)])
    model = replace(CALM, accidental=0.0, exploration=1e-4)
    before, after = ask(record, model, 26.95, 40).belief[:, CUISINE]
    assert before[MEXICAN] == 1.0 and after[ITALIAN] > 0.99


# --- time, order, company -------------------------------------------------------------------------------------------


def test_what_comes_later_or_at_the_very_instant_changes_nothing() -> None:
    people = Population(20, 12, config(**HARSH))
    record, moment = people.record, people.start + people.span // 2
    on_the_spot = int(record.at_us[record.at_us >= moment].min())
    earlier = record.at_us < on_the_spot
    past = DomainRecord(record.users, *(column[earlier] for name, column in vars(record).items() if name != "users"))
    queries = (people.who, np.full(people.users, on_the_spot))
    whole = believe(record, people.parameters, queries)
    for name, numbers in vars(believe(past, people.parameters, queries)).items():
        assert np.array_equal(numbers, getattr(whole, name)), name
    shortly_after = believe(record, people.parameters, (people.who, queries[1] + 1))
    assert not np.array_equal(shortly_after.belief, whole.belief)


def test_queries_may_come_in_any_order_and_number() -> None:
    people = Population(10, 20, config())
    user = np.array([7, 0, 7, 3, 7])
    at = people.start + (np.array([0.9, 0.5, 0.1, 0.5, 0.5]) * people.span).astype(np.int64)
    together = believe(people.record, people.parameters, (user, at))
    for place in range(user.size):
        alone = believe(people.record, people.parameters, (user[[place]], at[[place]]))
        assert np.array_equal(alone.belief[0], together.belief[place])


@pytest.mark.parametrize("size", [1, 7, 64])
def test_users_in_small_batches_get_the_very_same_beliefs(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("validation.observer.filter.DECIMALS", 17)
    people = Population(70, 12, config(**HARSH))
    record, at = people.record, people.start + people.span
    whole = believe(record, people.parameters, (people.who, np.full(people.users, at)))
    for first in (0, 3, 70 - size):
        mine = (record.user >= first) & (record.user < first + size)
        columns = {name: column[mine] for name, column in vars(record).items() if name != "users"}
        part = DomainRecord(users=size, **{**columns, "user": columns["user"] - first})
        alone = believe(part, people.parameters, (np.arange(size), np.full(size, at)))
        for name, numbers in vars(alone).items():
            expected = getattr(whole, name)
            assert np.array_equal(numbers, expected if name == "prior" else expected[first : first + size]), name


def test_observations_out_of_order_and_strange_users_are_refused() -> None:
    record = steadily(ITALIAN, 3)
    with pytest.raises(ValueError, match="row 1 is not"):
        replace(record, at_us=record.at_us[[1, 0, 2]])
    with pytest.raises(ValueError, match="numbered from 0 to 0"):
        believe(record, CALM, (np.array([1]), np.array([day(5)])))
    with pytest.raises(ValueError, match="5 dimensions, the model of food 6"):
        ask(replace(record, options=record.options[:, :, :5]), CALM, 5)


@pytest.mark.parametrize("kind", ["no noise", "all noise", "very strong", "one option"])
def test_extreme_models_keep_beliefs_that_are_probabilities(kind: str) -> None:
    model, record = CALM, diary([ITALIAN] * 3 + [MEXICAN] * 90, [1 + n / 10 for n in range(93)])
    if kind == "no noise":
        model = replace(CALM, accidental=0.0, exploration=0.0, reliability=1.0, false_share=0.0)
    elif kind == "all noise":
        model = replace(CALM, exploration=1.0, other_person=1.0)
    elif kind == "very strong":
        model = replace(CALM, strengths=CALM.strengths * 10_000, accidental=0.0, exploration=0.0)
    else:
        record = replace(record, options=record.options[:, :1], chosen=np.zeros_like(record.chosen))
    with np.errstate(all="raise", under="ignore"):
        beliefs = ask(record, model, 200)
    assert np.allclose(beliefs.belief.sum(axis=2), 1.0, atol=1e-5)
    assert np.isfinite(beliefs.effective_evidence).all() and np.isfinite(beliefs.max_log_ratio).all()
    if kind in ("all noise", "one option"):
        assert np.allclose(beliefs.belief[0], CALM.prior, atol=1e-6)
