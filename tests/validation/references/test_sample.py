from __future__ import annotations

import hashlib

import pyarrow as pa
import pytest

from validation.references.sample import stable_sample

PEOPLE = pa.table({"id": [f"p{n}" for n in range(500)], "age": list(range(500))})


def test_the_sample_is_the_rows_whose_hashed_keys_come_first() -> None:
    expected = sorted(PEOPLE["id"].to_pylist(), key=lambda name: hashlib.md5(name.encode()).hexdigest())[:20]
    sample = stable_sample(PEOPLE, "id", 20)
    assert sample["id"].to_pylist() == expected
    assert sample.schema == PEOPLE.schema
    assert all(name == f"p{age}" for name, age in zip(sample["id"].to_pylist(), sample["age"].to_pylist(), strict=True))


def test_a_larger_sample_begins_with_the_smaller_one_and_no_sample_exceeds_the_table() -> None:
    assert stable_sample(PEOPLE, "id", 50).slice(0, 20).equals(stable_sample(PEOPLE, "id", 20))
    assert stable_sample(PEOPLE, "id", 1000).num_rows == 500
    assert stable_sample(PEOPLE.slice(0, 0), "id", 5).num_rows == 0


@pytest.mark.parametrize("values", [["a", "a", "b"], ["a", None, "b"]])
def test_keys_that_do_not_name_rows_are_refused(values: list[str | None]) -> None:
    with pytest.raises(ValueError, match="id does not name rows once: 3 rows, 2 distinct"):
        stable_sample(pa.table({"id": values}), "id", 2)
