"""The model of what people like once more, in plain steps over the tables: how likely each value is for each person."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from flows.common.stage import Shard
from schemas.domain import DimensionSpec, Domain, Tilt
from schemas.interests import load_interests
from tests.flows.lives import Lives, run, small_config

F64 = npt.NDArray[np.float64]


def tastes(users: int, weeks: int = 4, **data: object) -> Lives:
    """People and what they are inclined to."""
    config = small_config(users, weeks, **data)  # type: ignore[arg-type]
    tables = run("personas", config, {}, Shard(0, users))
    return Lives(config, tables | run("dispositions", config, tables, Shard(0, users)))


def liked_by(lives: Lives) -> pl.DataFrame:
    """One row a person: attributes, and what they began with in each dimension, under its full name."""
    selves = lives["actors"].filter(pl.col("relation") == "self").select("actor_id")
    rows = lives["dispositions"].filter(pl.col("cause").is_null()).join(selves, on="actor_id", how="semi")
    return lives["personas"].join(rows.pivot("dimension", index="user_id", values="value"), on="user_id")


def specs_of(domains: dict[str, Domain]) -> dict[str, DimensionSpec]:
    return {f"{name}.{key}": spec for name, domain in domains.items() for key, spec in domain.dimensions.items()}


def has_level(people: pl.DataFrame, tilt: Tilt, level: str) -> pl.Series:
    """Whether each person is meant, by the rule of the domain files."""
    attribute = tilt.attribute or tilt.dimension
    assert attribute is not None
    if tilt.dimension is None and ".." in level:
        low, high = (float(part) for part in level.split(".."))
        return (people[attribute] >= low) & (people[attribute] < high)
    return (people[attribute].cast(pl.String) == level).fill_null(False)


def expected(people: pl.DataFrame, name: str, spec: DimensionSpec, lives: Lives) -> F64:
    """(people, values) probability of each value for each person, tilt by tilt and interest by interest."""
    weights = np.tile([value.share for value in spec.values.values()], (people.height, 1))
    for tilt in spec.tilts:
        if tilt.dimension is not None and tilt.dimension not in people.columns:
            continue
        for level, factors in tilt.multiply.items():
            here = has_level(people, tilt, level).to_numpy()
            weights[here] *= [factors.get(value, 1.0) for value in spec.values]
    weights *= leaning(people, name, list(spec.values), lives)
    return weights / weights.sum(axis=1, keepdims=True)


def leaning(people: pl.DataFrame, name: str, values: list[str], lives: Lives) -> F64:
    """(people, values) what the interests multiply the weights by, over what they do on average."""
    config, row = lives.data.dispositions, {user: place for place, user in enumerate(people["user_id"])}
    factors = np.ones((people.height, len(values)))
    holders = lives["interests"].group_by("tag").agg("user_id", "polarity")
    has = {tag: list(zip(users, signs, strict=True)) for tag, users, signs in holders.iter_rows()}
    for spec in load_interests().areas.values():
        for tag, interest in spec.tags.items():
            if name not in interest.links:
                continue
            place = values.index(interest.links[name])
            for user, sign in has.get(tag, []):
                if user in row:
                    factors[row[user], place] *= config.interest_factor ** (1 if sign == "likes" else -1)
            share = config.interests_mean / 7 / len(spec.tags)
            against = config.disliked_share if len(interest.polarity) == 2 else 0.0
            after = (1 - against) * config.interest_factor + against / config.interest_factor
            factors[:, place] /= 1 - share + share * after
    return factors
