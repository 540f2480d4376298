"""Rules, known shares and oversampled groups, worked into joint tables before anybody is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from flows.personas.fitting import Margin, NoFit, fitted
from flows.personas.joint import Cells, Joint, nobody_yet, ordered, way_to, with_step
from flows.personas.tables import PopulationError, Step
from flows.personas.tilting import Tilt, tilted
from schemas.config.personas import OversampleSpec, PersonasConfig, RakeSpec, RuleSpec
from schemas.config.selectors import grid, overlapping, parts_of, picked, uncovered

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
SEGMENT = "segment"


@dataclass(frozen=True)
class Shift:
    """What a rule did to the share of one value of an attribute that it names."""

    rule: str
    attribute: str
    value: str
    before: float
    after: float


@dataclass(frozen=True)
class Settled:
    """Joint tables of each segment, what share of the drawn people each is, and what the rules did."""

    joints: tuple[tuple[Joint, ...], ...]
    drawn: tuple[float, ...]
    shifts: tuple[Shift, ...]


@dataclass(frozen=True)
class Part:
    """The joint cells of the same attributes in one segment, with the shares of whom of all people they are."""

    segment: str
    steps: dict[str, Step]
    cells: Cells
    shares: F64
    """(cells,) of all people."""

    def holds(self, choices: dict[str, list[str]]) -> Mask:
        """(cells,) whether every attribute has one of its values."""
        here = np.ones(self.shares.size, bool)
        for name, selectors in choices.items():
            levels = self.steps[name].levels
            wanted = np.zeros(len(levels), bool)
            for selector in selectors:
                wanted[picked(selector, levels)] = True
            here &= wanted[self.cells.codes[name]]
        return here


def settled(
    config: PersonasConfig,
    segments: Sequence[str],
    shares: Sequence[float],
    steps: Sequence[Sequence[Step]],
    tilts: Sequence[Sequence[Tilt]],
) -> Settled:
    """The tables of what rules, margins, tilts and groups speak of. ``steps`` are the attributes of each segment, and
    ``tilts`` the correlations that its tables are given.

    First the rules one after the other, then the fit to known shares, in which segments keep theirs, then the tilts,
    then the groups.
    Raises PopulationError by name: see ``population``.
    """
    joints: list[list[Joint]] = [[] for _ in segments]
    drawn = np.array(shares)
    shifts: list[Shift] = []
    for names in together(config, steps, [tilt.names for own in tilts for tilt in own]):
        parts = [_part(name, share, own, names) for name, share, own in zip(segments, shares, steps, strict=True)]
        for rule in config.rules:
            if set(rule.when) <= names:
                parts, found = _ruled(rule, parts)
                shifts += found
        if margins := [rake for rake in config.rake if set(_named(rake)) <= names]:
            parts = _raked(margins, parts)
        for place, part in enumerate(parts):
            inside = [tilt for tilt in tilts[place] if set(tilt.names) <= names]
            joint_shares = [_margin(rake, [part]) for rake in margins if inside and rake.table is not None]
            for number, tilt in enumerate(inside):
                bent = tilted(part.cells, part.shares, tilt, steps[place], inside[:number], joint_shares)
                part = Part(part.segment, part.steps, part.cells, bent)
            times = np.ones(part.shares.size)
            for group in config.oversample:
                if set(group.where) <= names:
                    times = np.where(part.holds(group.where), times * group.times, times)
            joint, gain = _joint(part, times)
            joints[place].append(joint)
            drawn[place] *= gain
    return Settled(tuple(map(tuple, joints)), tuple((drawn / drawn.sum()).tolist()), tuple(shifts))


def _named(spec: RuleSpec | RakeSpec | OversampleSpec) -> list[str]:
    """The attributes that a rule, margin or group speaks of."""
    if isinstance(spec, RuleSpec):
        return [*spec.when, *spec.need]
    if isinstance(spec, OversampleSpec):
        return list(spec.where)
    return [spec.attribute] if spec.attribute is not None else list(spec.given or [])


def together(
    config: PersonasConfig, steps: Sequence[Sequence[Step]], pairs: Iterable[tuple[str, str]] = ()
) -> list[set[str]]:
    """Sets of attributes that must be drawn from one table: what is spoken of together, and what decides it.

    ``pairs`` are spoken of too. What has an attribute in common is in one set; a segment is no such thing, as each has tables of its own.
    """
    known = {step.name for own in steps for step in own}
    sets: list[set[str]] = []
    specs: list[RuleSpec | RakeSpec | OversampleSpec] = [*config.rules, *config.rake, *config.oversample]
    for names in [*(set(_named(spec)) for spec in specs), *map(set, pairs)]:
        if strange := sorted(names - known):
            rule, fix = "there is no such attribute", f"attributes are {sorted(known)}"
            raise PopulationError([(name, "", rule, fix) for name in strange])
        while wider := set().union(*(way_to(own, names) for own in steps)) - names:
            names |= wider
        touching = [other for other in sets if (other & names) - {SEGMENT}]
        sets = [other for other in sets if other not in touching] + [names.union(*touching)]
    return sets


def _part(segment: str, share: float, steps: Iterable[Step], names: set[str]) -> Part:
    cells = nobody_yet()
    for step in steps:
        if step.name in names:
            cells = with_step(cells, step)
    return Part(segment, {step.name: step for step in steps}, cells, cells.shares * share)


def margin_of(parts: Sequence[Part], name: str) -> dict[str, float]:
    """Share of each value of an attribute among all people."""
    found: dict[str, float] = {}
    for part in parts:
        levels = part.steps[name].levels
        sums = np.bincount(part.cells.codes[name], part.shares, len(levels)).tolist()
        for level, share in zip(levels, sums, strict=True):
            found[level] = found.get(level, 0.0) + share
    return found


def _ruled(rule: RuleSpec, parts: Sequence[Part]) -> tuple[list[Part], list[Shift]]:
    """The parts without whom the rule says there is not. Each segment keeps its share."""
    after = []
    for part in parts:
        kept = np.where(part.holds(rule.when) & ~part.holds(rule.need), 0.0, part.shares)
        left, before = kept.sum(), part.shares.sum()
        if left <= 0 < before:
            where = f" in the segment `{part.segment}`" if part.segment else ""
            raise PopulationError(
                [(f"rule `{rule.name}`", "", f"leaves nobody{where}", "let it speak of fewer people")]
            )
        after.append(Part(part.segment, part.steps, part.cells, kept * (before / left) if before > 0 else kept))
    shifts, gone = [], []
    for name in parts[0].cells.codes:
        old, new = margin_of(parts, name), margin_of(after, name)
        gone += [(name, value) for value in old if old[value] > 0 and new[value] <= 0]
        if name in {*rule.when, *rule.need}:
            shifts += [Shift(rule.name, name, value, old[value], new[value]) for value in old]
    if gone:
        fix = "let the rule speak of fewer people, or give the value a weight of 0"
        raise PopulationError(
            [(f"rule `{rule.name}`", f"{name} `{value}`", "makes the value impossible", fix) for name, value in gone]
        )
    return after, shifts


def _raked(specs: Sequence[RakeSpec], parts: Sequence[Part]) -> list[Part]:
    """The parts in the shares that are known, and with the segments in theirs."""
    margins = [_margin(spec, parts) for spec in specs]
    if len(parts) > 1:
        group = np.repeat(np.arange(len(parts)), [part.shares.size for part in parts])
        target = np.array([part.shares.sum() for part in parts])
        margins.append(Margin(SEGMENT, group, target, tuple(part.segment for part in parts)))
    try:
        weights = fitted(np.concatenate([part.shares for part in parts]), margins)
    except NoFit as error:
        fix = "make the shares agree with each other, with the rules and with the tables"
        raise PopulationError([(f"rake of {error.margin}", f"`{error.label}`", error.rule, fix)]) from None
    pieces = np.split(weights, np.cumsum([part.shares.size for part in parts])[:-1])
    return [Part(part.segment, part.steps, part.cells, piece) for part, piece in zip(parts, pieces, strict=True)]


def _margin(spec: RakeSpec, parts: Sequence[Part]) -> Margin:
    """The cells of all parts in the groups of a margin. Raises PopulationError for values in no group or in several."""
    names = _named(spec)
    shares = spec.weights or spec.table or {}
    rows = [parts_of(key, len(names)) for key in shares]
    told = " x ".join(f"`{name}`" for name in names)
    groups = []
    for part in parts:
        levels = [part.steps[name].levels for name in names]
        found = grid(rows, levels)
        problems = [
            (f"rake of {told}", " | ".join(values), "has no share", "add one; 0 for what cannot be")
            for values in uncovered(found, levels)
        ]
        problems += [
            (f"rake of {told}", " | ".join(rows[other]), f"overlaps `{' | '.join(rows[one])}`", "take one away")
            for one, other in overlapping(found)
        ]
        if problems:
            raise PopulationError(problems)
        sizes = found.sizes
        row_at = np.zeros(int(np.prod(sizes)), np.int64)
        place = np.zeros(part.shares.size, np.int64)
        for cell, numbers in found.rows_at.items():
            row_at[int(np.ravel_multi_index(cell, sizes))] = numbers[0]
        for name, atoms, size in zip(names, found.atoms, sizes, strict=True):
            place = place * size + np.array(atoms, np.int64)[part.cells.codes[name]]
        groups.append(row_at[place])
    target = np.array(list(shares.values()))
    return Margin(told, np.concatenate(groups), target / target.sum(), tuple(shares))


def _joint(part: Part, times: F64) -> tuple[Joint, float]:
    """The table of a segment's people, and how many more of them there are for the groups that are oversampled."""
    total = part.shares.sum()
    shares = part.shares / total if total > 0 else part.cells.shares
    gain = float((shares * times).sum())
    return Joint(ordered(Cells(part.cells.codes, shares, shares * times / gain))), gain
