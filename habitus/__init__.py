"""Habitus: open a release and read what an agent may know."""

from __future__ import annotations

from habitus.history import History
from habitus.release import Release, ReleaseError, UnknownTask, open_release

__all__ = ["History", "Release", "ReleaseError", "UnknownTask", "open_release"]
