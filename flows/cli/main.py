"""``habitus``: one command, one verb each. A verb's module is imported when the verb is called.

Exit codes: 0 done, 1 a gate failed, 2 bad input or usage, 3 the run broke, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from importlib.metadata import version

from cyclopts import App, CycloptsError, UnknownCommandError, UnusedCliTokensError

ABOUT = """Benchmark data for personalised agents: people, months of behaviour, provable tasks, verified releases.

Exit codes: 0 done, 1 a gate failed, 2 bad input or usage, 3 the run broke.
"""
EXAMPLES = """
Examples:

`habitus build smoke`: a first release, in about a minute

`habitus config show smoke > mine.yaml`: a config to edit

`habitus build mine.yaml --set data.users=500 --workers 2`

`habitus preview mine.yaml --user u000003 --weeks 2`: read a life before building

`habitus validate outputs/releases/smoke-0.1.0`: prove every claim from the files alone
"""
VERBS = {
    "build": "Build a release from a preset or a config file.",
    "preview": "Show some people and their days, without building a release.",
    "validate": "Check a release from its files alone.",
    "releases": "List the releases that are there.",
    "clean": "Remove runs and what is left of broken builds.",
}
CONFIG_VERBS = {
    "check": "Check a config and make nothing.",
    "show": "Print the complete config, defaults included.",
    "diff": "Print the keys on which two configs differ.",
}


def make_app(called: Sequence[str] = ()) -> App:
    """The command line, with every verb registered and none imported. Called ones are explained by their docstrings."""
    app = App(
        name="habitus", help=ABOUT, help_epilogue=EXAMPLES, version=lambda: version("habitus"),
        result_action="return_value", suppress_keyboard_interrupt=False,
    )
    for verb, about in VERBS.items():
        app.command(f"flows.cli.{verb}:{verb}", name=verb, help=None if verb in called[:1] else about, help_epilogue="")
    config = App(name="config", help="Check, show and compare configs.", help_epilogue="")
    for verb, about in CONFIG_VERBS.items():
        config.command(f"flows.cli.config:{verb}", name=verb, help=None if verb in called[1:2] else about, help_epilogue="")
    app.command(config)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of one call. ``SystemExit`` of a verb passes through."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        result = make_app(given)(given, exit_on_error=False, print_error=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except CycloptsError as error:
        return _refused(f"{_usage(error)} See `habitus --help`.")
    except KeyboardInterrupt:
        _print("interrupted")
        return 130
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the one place where anything unforeseen becomes exit code 3
        return _failed(error, is_verbose=bool({"-v", "--verbose"} & set(given)))


def _usage(error: CycloptsError) -> str:
    """What is wrong with the call. For an unknown verb cyclopts would import every verb to say so."""
    if isinstance(error, UnusedCliTokensError):
        return f"There are arguments too many: {' '.join(error.unused_tokens or [])}."
    if not isinstance(error, UnknownCommandError):
        return str(error)
    from schemas.explain import nearest

    word = (error.unused_tokens or [""])[0]
    known = list(CONFIG_VERBS) if "config" in (error.command_chain or ()) else [*VERBS, "config"]
    near = nearest(word, known)
    return f"There is no command `{word}`." + (f" Did you mean `{near}`?" if near else f" Commands are {', '.join(known)}.")


def _refused(message: str) -> int:
    _print(message)
    return 2


def _failed(error: Exception, is_verbose: bool) -> int:
    """Exit code 2 for input that cannot be used; else 3, after one line for the reader and the trace in a file."""
    from schemas.source import InputError

    if isinstance(error, InputError):
        return _refused(str(error))
    trace = traceback.format_exc()
    with tempfile.NamedTemporaryFile("w", prefix="habitus-", suffix=".log", delete=False, encoding="utf-8") as log:
        log.write(trace)
    if is_verbose:
        _print(trace)
    first = next(iter(str(error).splitlines()), "")
    _print(f"the run broke: {type(error).__name__}: {first} (the trace is in {log.name})")
    return 3


def _print(message: str) -> None:
    from flows.cli.console import terminal

    terminal().error(message)


if __name__ == "__main__":
    sys.exit(main())
