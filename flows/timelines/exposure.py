"""A feed that has learned the person: some places of a screen go to what fits them best."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flows.timelines.setting import Doing, Setting
from flows.timelines.shelves import options_on_show
from schemas.behaviour.taste import taste_utility

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
CONSIDERED = 12
"""Things that the feed ranks for a screen, at most: assumed."""


def with_feed(
    options: I64, category: I64, person: I64, at_us: I64, who: U64, key: U64, doing: Doing, setting: Setting
) -> I64:
    """(n, options) the screens, in which each place is given with probability ``exposure_bias`` to the thing that fits
    the person's lasting taste best among some of the category and is not on the screen yet.

    The share raised changes more places. At 0 the screens are as they were, and depend on nobody's taste.
    """
    stock, config = setting.things.shelf[doing.domain.name], setting.config
    if config.exposure_bias == 0.0:
        return options
    count = options.shape[1]
    considered = min(CONSIDERED, int(stock.size.min()))
    aspect = f"{doing.aspect} feed"
    pool = options_on_show(stock, category, considered, who, key, setting.draws, f"{aspect} options")
    tastes = setting.tastes[doing.domain.name]
    liked, _ = tastes.lasting_at(person, at_us)
    index = setting.things.catalogue[doing.domain.name]
    fit = taste_utility(doing.domain, index.values, liked, tastes.strength[person], pool)
    place = key[:, None] * np.uint64(16) + np.arange(count, dtype=np.uint64)[None, :]
    given = setting.draws.uniform(aspect, who[:, None], place) < config.exposure_bias
    made, every = options.copy(), np.arange(who.size)
    for column in range(count):
        is_new = (pool[:, :, None] != made[:, None, :]).all(axis=2)
        best = np.where(is_new, fit, -np.inf).argmax(axis=1)
        fits = given[:, column] & is_new[every, best]
        made[:, column] = np.where(fits, pool[every, best], made[:, column])
    return made
