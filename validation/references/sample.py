"""A sample that is a function of the rows' keys: no engine's sampling, no seed, no order, no number of threads."""

from __future__ import annotations

import pyarrow as pa

from validation.structure.folder import connect, quoted


def stable_sample(table: pa.Table, key: str, n: int, threads: int = 1) -> pa.Table:
    """The ``n`` rows, or all if there are fewer, whose key's MD5 comes first, in that order.

    ``key`` names a column of distinct values without nulls, of any type that has a text. A larger sample of the same
    table begins with the smaller one. Raises ValueError for keys that repeat or are null.
    """
    with connect() as database:
        database.execute(f"SET threads = {int(threads)}")
        database.register("population", table)
        name = quoted(key)
        distinct, rows = database.execute(f"SELECT count(DISTINCT {name}), count(*) FROM population").fetchall()[0]
        if distinct != rows:
            raise ValueError(
                f"{key} does not name rows once: {rows} rows, {distinct} distinct values that are not null"
            )
        order = f"md5({name}::VARCHAR), {name}"
        return (
            database.sql(f"SELECT * FROM population ORDER BY {order} LIMIT {int(n)}")
            .to_arrow_table()
            .cast(table.schema)
        )
