"""Scores from a release alone: the gold passes, everything else does not."""

from __future__ import annotations

import json

import pytest

import habitus
from habitus import UnknownTask
from tests.integration.builds import Ran


def test_gold_passes_and_wrong_options_and_silence_do_not(base: Ran) -> None:
    release = habitus.open_release(base.release)
    answers = {row["task_id"]: row for row in release.sealed("answers").to_pylist()}
    families = set()
    for task in release.tasks().to_pylist()[::4]:  # a quarter shows all kinds
        answer = answers[task["task_id"]]
        [gold] = json.loads(answer["gold"])["option_ids"]
        families.add(task["family"])
        assert not habitus.score(release, task["task_id"], {}).passed
        assert not habitus.score(release, task["task_id"], {"ask": True}).passed
        if task["family"] == "know":
            for option in task["options"]:
                told = {"option_id": option["option_id"]}
                assert habitus.score(release, task["task_id"], told).passed == (option["option_id"] == gold)
        else:
            for calls in json.loads(answer["decoy_trajectories"]).values():
                assert not habitus.score(release, task["task_id"], {"calls": calls}).passed
    assert families == {"act", "know"}


def test_a_task_that_is_not_there_is_named(base: Ran) -> None:
    with pytest.raises(UnknownTask, match="u999999-t0"):
        habitus.score(habitus.open_release(base.release), "u999999-t0", {})
