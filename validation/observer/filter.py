"""What can be believed about each user at an instant, from what is visible before it.

Forward filtering by assumed densities (Maybeck 1982; Opper 1998): the belief is a product over dimensions of tables
(value x strength), and one observation at a time is taken in. For a choice, the other dimensions enter one dimension's
likelihood by their mean utility. The likelihood is the generator's, ``schemas/behaviour/choice.py`` and ``price.py``,
mixed with the noise. It is that of the choice given what was shown: where a feed has learned the person, that what it
shows tells of them too is left aside, which makes the belief weaker than it could be. A passing state is a second value
beside the lasting one, with the probability that it still holds. A sitting may be another person's: the belief without
the sitting is kept beside it until the next one begins.

Users are the last axis of all work arrays and no sum runs over them. Everything that feeds back into a belief is made
of additions, multiplications and divisions in a fixed order, so that neither the company of other users nor the
processor's vector width moves a bit; logarithms are taken of results only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from schemas.behaviour.choice import position_cost
from schemas.behaviour.price import price_weight
from validation.observer.parameters import DAY_US, F64, I64, ObserverParameters
from validation.observer.record import (
    ABSENT,
    BACK_TO_USUAL,
    FOR_NOW,
    USUAL,
    DomainRecord,
)

Flags = npt.NDArray[np.bool_]
BLOCK_USERS = 512
"""Users whose beliefs are held at once: half a MiB an array, and few enough turns of the loop."""
LOWEST = 1e-30
"""No belief and no weight falls below this, so that no product leaves the normal numbers."""
CERTAIN = 1e-9
"""Odds are taken of probabilities at least this far from 0 and 1."""
DECIMALS = 6


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed at each of Q queries. D dimensions, V values, padded with zeros; numbers have six decimals."""

    belief: F64
    """(Q, D, V) probability that the value holds at that instant: passing states and changes counted in."""
    prior: F64
    """(D, V) the same before any record, when the window begins."""
    effective_evidence: F64
    """(Q, D, V) nats that the record adds to the log odds of the value, against no record at the same instant."""
    max_log_ratio: F64
    """(Q, D, V) largest log ratio by which one observation raised the odds of the value, that is, its likelihood under
    the value over the mean under the others as believed then. The end of a state is no evidence for any value."""
    p_active_state: F64
    """(Q, D) probability that a passing state holds."""
    strength: F64
    """(Q, D) mean strength, in log-odds."""


@dataclass(eq=False)
class _Block:
    """Beliefs about some users (the last axis, n) while their record goes by."""

    belief: F64
    """(D, V, S, n) lasting value x strength, if the sitting under way is the user's own."""
    active: F64
    """(D, n) probability that the state holds, likewise."""
    belief_without: F64
    """(D, V, S, n) as ``belief``, without what the sitting under way showed."""
    active_without: F64
    foreign: F64
    """(n,) probability that the sitting under way is another person's."""
    state_value: I64
    """(D, n) value of the last announced state."""
    state_at: I64
    """(D, n) when it was announced."""
    last_at: I64
    """(n,) until when time has been taken into account."""
    effective: F64
    """(D, V, n) probability of each value being in effect after the last observation, doubts about the sitting in."""
    effective_without: F64
    """(D, V, n) the same when the sitting began."""
    best_ratio: F64
    """(D, V, n) largest odds ratio of one observation so far."""

    def first(self, n: int) -> _Block:
        """A view of the first n users."""
        return _Block(**{name: array[..., :n] for name, array in vars(self).items()})

    def of(self, users: I64) -> _Block:
        """A copy for the users listed."""
        return _Block(**{name: np.ascontiguousarray(array[..., users]) for name, array in vars(self).items()})


def believe(record: DomainRecord, parameters: ObserverParameters, queries: tuple[I64, I64]) -> Beliefs:
    """Beliefs at the queries (user numbers, instants), each from the observations strictly earlier.

    Loops over the k-th observation of every user at once.
    """
    query_user, query_at = (np.asarray(part, dtype=np.int64) for part in queries)
    if record.options.shape[2] != len(parameters.dimensions):
        raise ValueError(
            f"the record has {record.options.shape[2]} dimensions, the model of {parameters.domain} "
            f"{len(parameters.dimensions)}"
        )
    model = _model(parameters, record)
    seen = record.seen_before(query_user, query_at)
    first_row = record.first_row
    count = np.diff(first_row)
    busiest_first = np.argsort(-count, kind="stable")
    answers = model.no_answers(query_user.size)
    for start in range(0, record.users, BLOCK_USERS):
        users = busiest_first[start : start + BLOCK_USERS]
        slot = np.full(record.users, ABSENT, np.int64)
        slot[users] = np.arange(users.size)
        asked = np.flatnonzero(slot[query_user] != ABSENT)
        asked = asked[np.argsort(seen[asked], kind="stable")]
        block = model.new_block(users.size)
        steps = int(count[users[0]])
        ends = np.searchsorted(seen[asked], np.arange(steps + 2))
        for step in range(steps + 1):
            here = asked[ends[step] : ends[step + 1]]
            if here.size:
                _answer(answers, here, model, block.of(slot[query_user[here]]), query_at[here])
            n = int(np.searchsorted(-count[users], -step))
            if n:
                _observe(block.first(n), model, record, first_row[users[:n]] + step)
    return Beliefs(**{name: np.round(array, DECIMALS) + 0.0 for name, array in vars(answers).items()})


@dataclass(frozen=True, eq=False)
class _Model:
    """Tables that every step uses. X is the option's value."""

    parameters: ObserverParameters
    tilt: F64
    """(D, X, V, S) ``exp(strength * (match - 1))``: utility of a value, against a full match, as a factor."""
    statement: F64
    """(D, value read, V) probability of the reading."""
    cost: F64 | None
    """(K, rows of the record) what each option's price takes from its utility, or None where prices play no part."""
    sitting_starts: Flags
    """(rows of the record,) whether the observation begins a sitting. A statement stands alone."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Dimensions, values, points of strength."""
        return self.parameters.prior.shape[0], self.parameters.prior.shape[1], self.parameters.strengths.shape[1]

    def new_block(self, n: int) -> _Block:
        """n users when the window begins."""
        dimensions, values, _ = self.shape
        belief = self.parameters.prior[:, :, None, None] * self.parameters.strength_weights[:, None] * np.ones(n)
        nothing = np.zeros((dimensions, n))
        return _Block(
            belief=belief,
            active=nothing.copy(),
            belief_without=belief.copy(),
            active_without=nothing.copy(),
            foreign=np.zeros(n),
            state_value=np.zeros((dimensions, n), np.int64),
            state_at=np.full((dimensions, n), self.parameters.window_start_us, np.int64),
            last_at=np.full(n, self.parameters.window_start_us, np.int64),
            effective=np.zeros((dimensions, values, n)),
            effective_without=np.zeros((dimensions, values, n)),
            best_ratio=np.ones((dimensions, values, n)),
        )

    def no_answers(self, queries: int) -> Beliefs:
        """Room for the answers."""
        dimensions, values, _ = self.shape
        by_value, by_dimension = (queries, dimensions, values), (queries, dimensions)
        return Beliefs(
            belief=np.zeros(by_value),
            prior=self.parameters.prior.copy(),
            effective_evidence=np.zeros(by_value),
            max_log_ratio=np.zeros(by_value),
            p_active_state=np.zeros(by_dimension),
            strength=np.zeros(by_dimension),
        )


def _model(parameters: ObserverParameters, record: DomainRecord) -> _Model:
    exponent = parameters.strengths[:, None, None, :] * (parameters.match.transpose(0, 2, 1)[..., None] - 1.0)
    starts = np.ones(record.user.size, np.bool_)
    starts[1:] = (np.diff(record.user) != 0) | (np.diff(record.session) != 0)
    starts[1:] |= ~record.is_choice[1:] | ~record.is_choice[:-1]
    tilt = np.maximum(_exp(exponent), LOWEST)
    return _Model(parameters, tilt, parameters.statement_likelihood(), _cost(parameters, record), starts)


def _cost(parameters: ObserverParameters, record: DomainRecord) -> F64 | None:
    """(K, rows) what the prices on show take from the utilities."""
    if parameters.price.price_effect == 0.0 or not record.log_price.any():
        return None
    return np.asarray(record.log_price.T * price_weight(parameters.price, record.budgets_spent))


def _exp(x: F64) -> F64:
    """``exp(x)`` of numbers not above 0, to five digits or better, by arithmetic that is the same on every processor.

    The reciprocal of a Taylor polynomial of ``-x / 64``, squared six times.
    """
    y = x * (-1 / 64)
    power = 1.0 / (1.0 + y * (1.0 + y / 2 * (1.0 + y / 3 * (1.0 + y / 4))))
    for _ in range(6):
        power = power * power
    return np.asarray(power)


def _sum(array: F64, axis: int) -> F64:
    """The sum over a short axis, from its first element to its last, whatever the shape of the rest."""
    parts = [array[(slice(None),) * axis + (place,)] for place in range(array.shape[axis])]
    total: F64 = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _pass_time(block: _Block, model: _Model, starts: Flags, at_us: I64, foreign: F64) -> None:
    """Where a sitting starts: the last one is settled as the user's or another's, and life goes on until ``at_us``.

    A life event moves a dimension to its target at a constant hazard; the length of a state is uniform.
    """
    parameters = model.parameters
    doubt = np.where(starts, block.foreign, 0.0)
    difference = block.belief_without - block.belief
    difference *= doubt
    block.belief += difference
    days = np.where(starts, np.maximum(at_us - block.last_at, 0) / DAY_US, 0.0)
    stays = _exp(-parameters.hazard_per_day[:, None] * days)
    for dimension in np.flatnonzero(parameters.hazard_per_day):
        belief = block.belief[dimension]
        moved = _sum(belief, axis=0) * (1.0 - stays[dimension])
        belief *= stays[dimension]
        for value in np.flatnonzero(parameters.targets[dimension]):
            belief[value] += parameters.targets[dimension, value] * moved
    active = block.active + doubt * (block.active_without - block.active)
    lasted, lasts = (_lasting_share(parameters, when - block.state_at) for when in (block.last_at, at_us))
    kept = np.divide(lasts, lasted, out=np.zeros_like(lasted), where=lasted > 0.0)
    block.active[...] = active * np.where(starts, kept, 1.0)
    block.belief_without[...] = np.where(starts, block.belief, block.belief_without)
    np.copyto(block.active_without, block.active, where=starts)
    np.copyto(block.foreign, foreign, where=starts)
    np.copyto(block.last_at, at_us, where=starts)
    effective = _effective(block)
    np.copyto(block.effective, effective, where=starts)
    np.copyto(block.effective_without, effective, where=starts)


def _lasting_share(parameters: ObserverParameters, age_us: I64) -> F64:
    """Share of passing states that last longer than this."""
    shortest, longest = parameters.state_days
    left = (longest - age_us / DAY_US) / max(longest - shortest, 1e-9)
    return np.asarray(np.minimum(np.maximum(left, 0.0), 1.0))


def _effective(block: _Block) -> F64:
    """(D, V, n) probability of each value being in effect if the sitting is the user's own: the state's value while
    that holds, else the lasting one.
    """
    effective = _sum(block.belief, axis=2)
    effective *= (1.0 - block.active)[:, None]
    d, u = np.nonzero(block.active)
    effective[d, block.state_value[d, u], u] += block.active[d, u]
    return effective


def _odds(probability: F64) -> F64:
    clipped = np.minimum(np.maximum(probability, CERTAIN), 1.0 - CERTAIN)
    return np.asarray(clipped / (1.0 - clipped))


def _observe(block: _Block, model: _Model, record: DomainRecord, rows: I64) -> None:
    """Takes in one observation of every user of the block: the rows of the record."""
    is_choice = record.is_choice[rows]
    foreign = np.where(is_choice, model.parameters.other_person, 0.0)
    _pass_time(block, model, model.sitting_starts[rows], record.at_us[rows], foreign)
    before = _odds(block.effective)
    if is_choice.any():
        options = np.ascontiguousarray(record.options[rows].transpose(1, 2, 0), dtype=np.int64)
        cost = None if model.cost is None else model.cost[:, rows]
        _take_choice(block, model, options, record.chosen[rows].astype(np.int64), is_choice, cost)
    spoken = np.flatnonzero(~is_choice)
    if spoken.size:
        _take_statement(block, model, record, rows[spoken], spoken)
    np.maximum(block.belief, LOWEST, out=block.belief)
    own = _effective(block)
    block.effective[...] = own + block.foreign * (block.effective_without - own)
    ratio = _odds(block.effective) / before
    is_evidence = record.said_stance[rows] != BACK_TO_USUAL
    np.maximum(block.best_ratio, ratio, out=block.best_ratio, where=is_evidence)


def _take_choice(block: _Block, model: _Model, options: I64, chosen: I64, is_choice: Flags, cost: F64 | None) -> None:
    """Bayes' rule for the users whose observation is a choice; moves no bit of the others' beliefs.

    ``options`` (K, D, n) value codes of what was shown, ``chosen`` (n,) places, ``cost`` (K, n) what prices take.
    """
    likelihood, own, by_chance = _choice_likelihood(block, model, options, chosen, is_choice, cost)
    # While a state holds, the choice says nothing of the lasting value, only of the strength.
    d, u = np.nonzero(block.active * is_choice)
    active = block.active[d, u]
    by_state = likelihood[d, block.state_value[d, u], :, u]
    mixed = likelihood[d, :, :, u] * (1.0 - active)[:, None, None] + (active[:, None] * by_state)[:, None]
    likelihood[d, :, :, u] = mixed
    active = active * _sum(_sum(block.belief[d, :, :, u], axis=1) * by_state, axis=1)
    block.belief *= likelihood
    total = np.where(is_choice, _sum(_sum(block.belief, axis=2), axis=1), 1.0)
    block.belief *= (1.0 / total)[:, None, None]
    block.active[d, u] = active / total[d, u]
    foreign = block.foreign * by_chance
    block.foreign[...] = np.where(is_choice, foreign / (foreign + (1.0 - block.foreign) * own), block.foreign)


def _choice_likelihood(
    block: _Block, model: _Model, options: I64, chosen: I64, is_choice: Flags, cost: F64 | None
) -> tuple[F64, F64, F64]:
    """(D, V, S, n) probability of the choice if the user chose and the value were in effect; 1 where it is no choice.

    Also (n,) the same by what is believed of all dimensions, and (n,) if somebody of unknown tastes chose.
    """
    parameters = model.parameters
    dimensions, values, _ = model.shape
    n = chosen.size
    shown = options[:, 0] != ABSENT
    shown[0] |= ~is_choice
    codes = np.maximum(options, 0)
    users = np.arange(n)
    place = (np.arange(dimensions)[:, None] * values + codes) * n + users

    utility = np.take(_mean_utility(block, parameters), place)
    total = _sum(utility, axis=1) - position_cost(shown.shape[0], parameters.position_effect)[:, None]
    if cost is not None:
        total = total - cost
    total = np.where(shown, total, -np.inf)[:, None]
    others = np.concatenate([total - utility, total], axis=1)
    weight = np.maximum(_exp(others - others.max(axis=0)), LOWEST)
    weight, whole = weight[:, :-1], weight[:, -1]

    count = shown.sum(axis=0)
    factor, rest = _with_noise(parameters, count)
    factor = np.where(is_choice & (factor != 0.0), factor, LOWEST)
    rest = np.where(is_choice, rest, 1.0)
    taken = np.maximum(chosen, 0)
    by_value = np.bincount(place.ravel(), weight.ravel(), dimensions * values * n).astype(np.float64, copy=False)
    by_value = by_value.reshape(dimensions, values, n) / (weight[taken, :, users].T * factor)[:, None]
    likelihood = _shares(model, by_value, codes[taken, :, users].T)
    likelihood += rest
    own = factor * (whole[taken, users] / _sum(whole, axis=0)) + rest
    return likelihood, own, 1.0 / count


def _shares(model: _Model, by_value: F64, value_taken: I64) -> F64:
    """(D, V, S, n) share of the weight of all options that the option taken has, for each liked value and strength.

    ``by_value`` (D, X, n) weights of the options in all other dimensions, summed by their value in this one, in units
    of the weight of the option taken; ``value_taken`` (D, n) its value.
    """
    dimensions, values, points = model.shape
    everything = by_value[:, 0, None, None] * model.tilt[:, 0, :, :, None]
    part = np.empty_like(everything)
    for value in range(1, values):
        np.multiply(by_value[:, value, None, None], model.tilt[:, value, :, :, None], out=part)
        everything += part
    row = (np.arange(dimensions)[:, None] * values + value_taken) * (values * points)
    cell = np.arange(values * points).reshape(values, points, 1) + row[:, None, None, :]
    share = np.take(model.tilt, cell, out=part, mode="clip")
    share /= everything
    return share


def _mean_utility(block: _Block, parameters: ObserverParameters) -> F64:
    """(D, X, n) what an option's value adds to its utility on average, by what is believed."""
    strengths = parameters.strengths[:, None, :, None]
    liked = _sum(block.belief * strengths, axis=2)
    strength = _sum(liked, axis=1) * block.active
    liked *= (1.0 - block.active)[:, None]
    d, u = np.nonzero(block.active)
    liked[d, block.state_value[d, u], u] += strength[d, u]
    utility = liked[:, 0, None] * parameters.match[:, 0, :, None]
    for value in range(1, liked.shape[1]):
        utility += liked[:, value, None] * parameters.match[:, value, :, None]
    return utility


def _with_noise(parameters: ObserverParameters, count: I64) -> tuple[F64, F64]:
    """(n,) a and b: an option that the tastes choose with probability p is logged with probability a p + b.

    Some choices are made without regard to taste; some of them are logged as any other option.
    """
    slip = parameters.accidental / np.maximum(count - 1, 1)
    kept = 1.0 - parameters.accidental - slip
    return (1.0 - parameters.exploration) * kept, kept * parameters.exploration / count + slip


def _take_statement(block: _Block, model: _Model, record: DomainRecord, rows: I64, users: I64) -> None:
    """Bayes' rule for the users (places in the block) whose observation is a statement."""
    dimension, value = (column[rows].astype(np.int64) for column in (record.said_dimension, record.said_value))
    stance = record.said_stance[rows]
    usual, for_now, back = (np.flatnonzero(stance == code) for code in (USUAL, FOR_NOW, BACK_TO_USUAL))
    d, u = dimension[usual], users[usual]
    belief = block.belief[d, :, :, u] * model.statement[d, value[usual]][:, :, None]
    total = _sum(_sum(belief, axis=2), axis=1)
    block.belief[d, :, :, u] = belief / total[:, None, None]
    d, u = dimension[for_now], users[for_now]
    block.state_value[d, u] = value[for_now]
    block.state_at[d, u] = record.at_us[rows[for_now]]
    block.active[d, u] = model.parameters.reliability
    block.active[dimension[back], users[back]] *= 1.0 - model.parameters.reliability


def _answer(answers: Beliefs, queries: I64, model: _Model, block: _Block, at_us: I64) -> None:
    """Fills in the queries' rows from a copy of their users' beliefs, carried on to the instants asked about."""
    parameters = model.parameters
    _pass_time(block, model, np.ones(at_us.size, np.bool_), at_us, block.foreign)
    effective = block.effective
    days = np.maximum(at_us - parameters.window_start_us, 0) / DAY_US
    stays = _exp(-parameters.hazard_per_day[:, None] * days)[:, None]
    unseen = parameters.prior[..., None] * stays + parameters.targets[..., None] * (1.0 - stays)
    answers.belief[queries] = effective.transpose(2, 0, 1)
    answers.effective_evidence[queries] = np.log(_odds(effective) / _odds(unseen)).transpose(2, 0, 1)
    answers.max_log_ratio[queries] = np.log(block.best_ratio).transpose(2, 0, 1)
    answers.p_active_state[queries] = block.active.T
    strengths = parameters.strengths[:, None, :, None]
    answers.strength[queries] = _sum(_sum(block.belief * strengths, axis=2), axis=1).T
