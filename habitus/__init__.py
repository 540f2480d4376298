"""Habitus: open a release, read what an agent may know, and score what it answers."""

from __future__ import annotations

from habitus.history import History
from habitus.release import Release, ReleaseError, UnknownTask, open_release
from habitus.scoring import score

__all__ = ["History", "Release", "ReleaseError", "UnknownTask", "open_release", "score"]
