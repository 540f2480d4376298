"""Where the command line prints: results on standard output, everything on the way on standard error."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Terminal:
    """The two consoles. Colours only on a terminal and without NO_COLOR; otherwise plain lines, never wrapped."""

    out: Console
    err: Console
    is_quiet: bool = False
    is_verbose: bool = False

    def result(self, text: str) -> None:
        """What was asked for. Printed in any case."""
        self.out.print(text)

    def json(self, value: Any) -> None:
        """The result for a program."""
        self.result(json.dumps(value, indent=1, ensure_ascii=False))

    def progress(self, text: str, style: str | None = None) -> None:
        """What happens on the way. Not printed with ``--quiet``."""
        if not self.is_quiet:
            self.err.print(text, style=style)

    def detail(self, text: str) -> None:
        """Printed with ``--verbose`` only."""
        if self.is_verbose:
            self.progress(text, "dim")

    def error(self, text: str) -> None:
        """Why it did not work. Printed in any case."""
        self.err.print(text, style="red")


def terminal(quiet: bool = False, verbose: bool = False) -> Terminal:
    """The consoles for this call, on the streams as they are now."""
    return Terminal(_console(stderr=False), _console(stderr=True), quiet, verbose and not quiet)


def _console(stderr: bool) -> Console:
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            """The reader has seen enough, which is no error. Rich would exit with 1, which here means a failed gate."""
            raise BrokenPipeError

    return Plain(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=True)
