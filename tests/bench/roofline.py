"""The roofline: about the least work that a simulator with memory can do for a row, written to Parquet.

People in one of eight classes walk a Markov chain over twelve states for 200 steps; all people step together. Each row
has ten columns: who, which sitting, which step, when, state, channel, amount, length, mood, and whether it is a slip.
Usage: python -m tests.bench.roofline ROWS FILE
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

STEPS, CLASSES, STATES, CHANNELS, PEOPLE_AT_ONCE, CELLS = 200, 8, 12, 5, 5_000, 1_024
DAY_US = 86_400_000_000


def transitions(generator: np.random.Generator) -> np.ndarray:
    """(classes, states, cells) next state for a cell of the unit interval: one lookup a step."""
    chance = generator.dirichlet(np.ones(STATES), size=(CLASSES, STATES))
    edges = np.round(np.cumsum(chance, axis=2) * CELLS).astype(int)
    edges[..., -1] = CELLS
    table = np.zeros((CLASSES, STATES, CELLS), np.uint8)
    for place in np.ndindex(CLASSES, STATES):
        table[place] = np.searchsorted(edges[place], np.arange(CELLS), side="right")
    return table


def block(first: int, people: int, table: np.ndarray) -> pa.Table:
    """The rows of some people, person by person."""
    generator = np.random.Generator(np.random.SFC64([7, first]))
    kind = generator.integers(CLASSES, size=people)
    cells = generator.integers(CELLS, size=(STEPS, people), dtype=np.uint16)
    walk = np.empty((people, STEPS), np.int8)
    state = np.zeros(people, np.uint8)
    for step in range(STEPS):
        state = table[kind, state, cells[step]]
        walk[:, step] = state
    rows = people * STEPS
    gaps = generator.standard_exponential((people, STEPS), dtype=np.float32)
    at = 20_000 * DAY_US + (np.cumsum(gaps, axis=1, dtype=np.float64) * DAY_US / 24).astype(np.int64)
    level = generator.standard_normal((people, 1), dtype=np.float32) + 0.3 * generator.standard_normal(
        (people, STEPS), dtype=np.float32
    )
    states = pa.array([f"state {n}" for n in range(STATES)])
    channels = pa.array([f"channel {n}" for n in range(CHANNELS)])
    return pa.table(
        {
            "person": np.repeat(np.arange(first, first + people, dtype=np.int32), STEPS),
            "sitting": (np.arange(rows, dtype=np.int32) + first * STEPS) // 8,
            "step": np.tile(np.arange(STEPS, dtype=np.int16), people),
            "at": pa.array(at.ravel()).cast(pa.timestamp("us")),
            "state": pa.DictionaryArray.from_arrays(pa.array(walk.ravel()), states),
            "channel": pa.DictionaryArray.from_arrays(
                pa.array(generator.integers(CHANNELS, size=rows, dtype=np.int8)), channels
            ),
            "amount": np.round(np.exp(2.5 + 0.7 * generator.standard_normal(rows, dtype=np.float32)), 2),
            "length_s": 40 * generator.standard_exponential(rows, dtype=np.float32),
            "mood": level.ravel(),
            "is_slip": generator.random(rows, dtype=np.float32) < 0.02,
        }
    )


def main(rows: int, target: Path) -> None:
    table = transitions(np.random.default_rng(7))
    writer: pq.ParquetWriter | None = None
    people = rows // STEPS
    for first in range(0, people, PEOPLE_AT_ONCE):
        made = block(first, min(PEOPLE_AT_ONCE, people - first), table)
        writer = writer or pq.ParquetWriter(
            target, made.schema, compression="zstd", compression_level=1, use_dictionary=["state", "channel"]
        )
        writer.write_table(made)
    if writer:
        writer.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
