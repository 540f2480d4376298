"""Progress of a build: a bar on a terminal, a line a stage elsewhere."""

from __future__ import annotations

from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING

from flows.cli.console import Terminal

if TYPE_CHECKING:
    from flows.pipeline import PartDone


class BuildProgress:
    """Counts parts by stage. Use as a context; call it for each part that is there."""

    def __init__(self, console: Terminal, parts_of: dict[str, int]) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self.console = console
        self.parts_of = parts_of
        self.done: Counter[str] = Counter()
        self.reused: Counter[str] = Counter()
        self.cpu_seconds: dict[str, float] = dict.fromkeys(parts_of, 0.0)
        self.bar = Progress(
            TextColumn("{task.description:<14}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console.err,
            transient=True,
            disable=console.is_quiet or not console.err.is_terminal,
        )
        self.task = self.bar.add_task("starting", total=sum(parts_of.values()))

    def __enter__(self) -> BuildProgress:
        self.bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.__exit__(kind, error, trace)

    def __call__(self, part: PartDone, was_there: bool, total: int) -> None:
        self.done[part.stage] += 1
        if was_there:
            self.reused[part.stage] += 1
        else:
            self.cpu_seconds[part.stage] += part.cpu_seconds
        self.bar.update(self.task, advance=1, description=part.stage)
        if self.done[part.stage] == self.parts_of[part.stage]:
            self.console.progress(self._line(part.stage))

    def say(self, text: str) -> None:
        """What happens outside the stages."""
        self.bar.update(self.task, description=text)
        self.console.progress(text)

    def _line(self, stage: str) -> str:
        """Such as `timelines      4 of 4, 1.2 s of CPU, 2 reused`."""
        reused = self.reused[stage]
        cost = f"{self.cpu_seconds[stage]:.1f} s of CPU" if reused < self.done[stage] else "all there already"
        partly = f", {reused} there already" if 0 < reused < self.done[stage] else ""
        return f"{stage:<14} {self.done[stage]} of {self.parts_of[stage]}, {cost}{partly}"


class TriesProgress:
    """Progress of a search: a bar on a terminal, a line now and then elsewhere. Use as a context; call it for each try."""

    def __init__(self, console: Terminal, every: int = 50) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self.console = console
        self.every = every
        self.said: dict[str, int] = {}
        self.bar = Progress(
            TextColumn("{task.description:<36}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console.err,
            transient=True,
            disable=console.is_quiet or not console.err.is_terminal,
        )
        self.task = self.bar.add_task("starting", total=None)

    def __enter__(self) -> TriesProgress:
        self.bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.__exit__(kind, error, trace)

    def __call__(self, what: str, tries: int, at_most: int, least: float) -> None:
        self.bar.update(self.task, completed=tries, total=at_most, description=f"{what}: {least:.4f} over limits")
        if tries - self.said.get(what, -self.every) >= self.every:
            self.said[what] = tries
            if not self.console.err.is_terminal:
                self.console.progress(f"{what}: {tries} of at most {at_most} tries, {least:.4f} over what is aimed at")
