"""What all menus that a user is shown tell together: nothing about which of the contested values are the user's.

One menu tells nothing: each of its options is right for somebody. Several might. If one shows Italian and Thai and
another Italian and Indian, whoever compares them knows. So a dimension has the same two values in all menus of a user.
A menu of three dimensions shows half of the eight combinations, those of one parity, and by that tells the sum, modulo
2, of three unknown bits: which of the two values is the user's. Sums of such sums are known too. They tell something
of a menu when one lies wholly within its dimensions and is not the menu's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from flows.tasks.menus import Contrast


@dataclasses.dataclass(frozen=True)
class Shown:
    """The menus of one user so far. A set of dimensions is a number with one bit for each."""

    pairs: Mapping[int, tuple[int, int]] = dataclasses.field(default_factory=dict)
    """Column to the two values that stand against each other in it."""
    menus: frozenset[int] = frozenset()
    """The dimensions of each menu."""
    known: frozenset[int] = frozenset({0})
    """The sets of dimensions whose sum of bits is known: closed under sums modulo 2."""

    def with_menu(self, contrast: Contrast) -> Shown | None:
        """What is shown with this menu besides; None if all menus together would then tell something."""
        pairs = dict(zip(contrast.columns, contrast.pairs, strict=True))
        if any(self.pairs.get(column, pair) != pair for column, pair in pairs.items()):
            return None
        menu = sum(1 << column for column in contrast.columns)
        menus = self.menus | {menu}
        known = self.known | {one ^ menu for one in self.known} if len(contrast.columns) == 3 else self.known
        halved = {one for one in menus if one.bit_count() == 3}
        if any(
            tells and tells & ~shown == 0 and not (tells == shown and shown in halved)
            for tells in known
            for shown in menus
        ):
            return None
        return Shown({**self.pairs, **pairs}, menus, known)
