"""Columns of lists and structures as JSON text, for formats that have neither."""

from __future__ import annotations

import pyarrow as pa


def json_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """(n,) each list or structure as JSON, such as `[3, 11]` without spaces. Nulls stay."""
    import polars

    series = polars.Series(polars.from_arrow(column))
    if pa.types.is_struct(column.type):
        text = series.struct.json_encode()
    else:
        # Polars encodes structures only, so each element is put into one and taken out of the text again.
        each = polars.struct(polars.element().alias("v")).struct.json_encode().str.slice(5).str.head(-1)
        text = "[" + series.list.eval(each).list.join(",") + "]"
    return pa.chunked_array([text.to_arrow().cast(pa.string())])
