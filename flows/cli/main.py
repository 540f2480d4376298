"""``habitus``: one command, one verb each. What a verb does is imported when it is called."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

from cyclopts import App, CycloptsError, Parameter, UnusedCliTokensError

ABOUT = """Benchmark data for personalised agents: people, months of behaviour, provable tasks, verified releases.

Exit codes: 0 done, 1 a gate failed, 2 bad input or usage, 3 the run broke.
"""
EXAMPLES = """
Examples:

`habitus build smoke`: a first release, in about a minute

`habitus config show smoke > mine.yaml`: a config to edit

`habitus build mine.yaml --set data.users=500 --workers 2`

`habitus preview mine.yaml --user u000003 --weeks 2`: read a life before building

`habitus personas sample mine.yaml --n 10000 -o people.parquet`: people alone, in seconds

`habitus calibrate --domain groceries --events log.csv -o ours.yaml`: people who shop in the rhythm of your own log

`habitus config explain data.disturb.noise.corrupt`: what a key means and what it changes

`habitus validate outputs/releases/smoke-0.1.0`: prove every claim from the files alone
"""

Preset = Annotated[str, Parameter(help="A preset (`smoke`, `standard`, `full`) or the path of a config file.")]
Sets = Annotated[
    list[str] | None,
    Parameter(name="--set", negative="", help="Change one key: `KEY=VALUE`, such as `data.users=50`. Can be repeated."),
]
Seed = Annotated[int | None, Parameter(help="Instead of the config's `data.seed`.")]
Users = Annotated[int | None, Parameter(help="Instead of the config's `data.users`.")]
Workers = Annotated[int | None, Parameter(help="Processes, instead of the config's `execution.workers`.")]
Out = Annotated[Path, Parameter(help="Folder of runs, releases and quarantine.")]
People = Annotated[
    Path,
    Parameter(help="A file of people (.parquet, .csv, .jsonl), or a folder such as `sealed/personas` of a release."),
]
Json = Annotated[bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON, for programs.")]


def _flag(text: str, *names: str) -> Parameter:
    return Parameter(name=names or None, negative="", show_default=False, help=text)


Force = Annotated[bool, _flag("Replace files that are there.", "--force", "-f")]
Quiet = Annotated[bool, _flag("Print the result only.", "--quiet", "-q")]
OUTPUTS = Path("outputs")

app = App(
    name="habitus",
    help=ABOUT,
    help_epilogue=EXAMPLES,
    version=lambda: version("habitus"),
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
config_app = App(name="config", help="Check, show, compare and explain configs.", help_epilogue="")
app.command(config_app)
personas_app = App(name="personas", help="Sample, show, draw and compare people, without a build.", help_epilogue="")
app.command(personas_app)
domains_app = App(name="domains", help="List, show and check the areas of life.", help_epilogue="")
app.command(domains_app)


@app.command(help_epilogue="Example: `habitus build mine.yaml --set data.users=500 --workers 2`")
def build(
    preset_or_file: Preset = "smoke",
    /,
    *,
    sets: Sets = None,
    out: Out = OUTPUTS,
    release_version: Annotated[str | None, Parameter(help="Instead of the next patch, such as 1.4.0.")] = None,
    seed: Seed = None,
    users: Users = None,
    workers: Workers = None,
    dry_run: Annotated[bool, _flag("Say what would be built, and build nothing.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Annotated[bool, _flag("Print more on the way.", "--verbose", "-v")] = False,
) -> int:
    """Build a release from a preset or a config file."""
    from flows.cli import build as verb

    return verb.build(
        preset_or_file,
        sets=sets or [],
        out=out,
        release_version=release_version,
        seed=seed,
        users=users,
        workers=workers,
        dry_run=dry_run,
        json=json,
        quiet=quiet,
        verbose=verbose,
    )


@app.command(help_epilogue="Example: `habitus preview smoke --user u000003 --weeks 2`")
def preview(
    preset_or_file: Preset = "smoke",
    /,
    *,
    sets: Sets = None,
    seed: Seed = None,
    users: Users = None,
    user: Annotated[str | None, Parameter(help="Whose life to show, such as u000003.")] = None,
    weeks: Annotated[int, Parameter(help="How many weeks of it.")] = 1,
) -> int:
    """Show some people and their days, and build nothing."""
    from flows.cli import preview as verb

    return verb.preview(preset_or_file, sets=sets or [], seed=seed, users=users, user=user, weeks=weeks)


@app.command(help_epilogue="Example: `habitus validate outputs/releases/smoke-0.1.0`")
def validate(
    release: Annotated[Path, Parameter(help="Folder of the release.")],
    /,
    *,
    json: Json = False,
) -> int:
    """Check a release from its files alone."""
    from flows.cli import validate as verb

    return verb.validate(release, json)


@app.command(
    help_epilogue="""Examples:

`habitus calibrate --domain groceries --reference mobility_foursquare_nyc -o busy.yaml`

`habitus calibrate --events log.csv -o ours.json`: a reference from one's own log

`habitus calibrate --domain groceries --events log.csv -o ours.yaml`: fit to half of its people, report on the others
"""
)
def calibrate(
    *,
    domain: Annotated[str | None, Parameter(help="A built-in domain, or a domain file (.yaml).")] = None,
    reference: Annotated[
        str | None, Parameter(help="A file of validation/references/ by its name, or a JSON file in that form.")
    ] = None,
    events: Annotated[
        Path | None, Parameter(help="A log instead: .csv or .parquet with columns user, time and maybe item.")
    ] = None,
    activity: Annotated[
        str | None, Parameter(help="What of the domain is fitted, instead of what does its key action.")
    ] = None,
    output: Annotated[
        Path | None,
        Parameter(name=("--output", "-o"), help="The file to write, instead of one here with the domain's name."),
    ] = None,
    users: Annotated[int, Parameter(help="People with whom it is tried out.")] = 2000,
    weeks: Annotated[
        int | None, Parameter(help="Weeks, instead of as long as the reference watched (26 if it does not say).")
    ] = None,
    tries: Annotated[int, Parameter(help="How many rhythms are tried at most.")] = 240,
    seed: Annotated[int, Parameter(help="Who the people are.")] = 1,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Fit when and how often people do something to a reference, and write the domain file."""
    from flows.cli import calibrate as verb

    wanted = verb.Wanted(domain, reference, events, activity, output, users, weeks, tries, seed, force)
    return verb.calibrate(wanted, json, quiet)


@app.command(help_epilogue="Example: `habitus releases --json`")
def releases(*, out: Out = OUTPUTS, json: Json = False) -> int:
    """List the releases that are there."""
    from flows.cli import releases as verb

    return verb.releases(out, json)


@app.command(help_epilogue="Example: `habitus clean --yes`")
def clean(
    *,
    out: Out = OUTPUTS,
    everything: Annotated[bool, _flag("Remove what is in quarantine as well.", "--all")] = False,
    yes: Annotated[bool, _flag("Do not ask.", "--yes", "-y")] = False,
) -> int:
    """Remove runs and what is left of broken builds, never a release."""
    from flows.cli import clean as verb

    return verb.clean(out, everything, yes)


@config_app.command(help_epilogue="Example: `habitus config check mine.yaml --set data.users=50`")
def check(preset_or_file: Preset, /, *, sets: Sets = None, json: Json = False) -> int:
    """Print `ok` and the digest of the data part, or everything that is wrong at once, and make nothing."""
    from flows.cli import config as verb

    return verb.check(preset_or_file, sets or [], json)


@config_app.command(help_epilogue="Example: `habitus config show smoke > mine.yaml`")
def show(preset_or_file: Preset, /, *, sets: Sets = None) -> int:
    """Print the complete config, defaults included, as a file that can be edited and built."""
    from flows.cli import config as verb

    return verb.show(preset_or_file, sets or [])


@config_app.command(help_epilogue="Example: `habitus config diff smoke mine.yaml`")
def diff(old: Preset, new: Preset, /, *, json: Json = False) -> int:
    """Print the keys on which two configs differ, and whether their data can differ."""
    from flows.cli import config as verb

    return verb.diff(old, new, json)


@config_app.command(help_epilogue="Example: `habitus config explain data.disturb.noise.corrupt`")
def explain(
    key: Annotated[str, Parameter(help="A key or a section, such as `data.users` or `data.disturb`.")],
    /,
    *,
    json: Json = False,
) -> int:
    """Print what a key means, its unit, range and default, and what of the data depends on it."""
    from flows.cli import config as verb

    return verb.explain(key, json)


@personas_app.command(
    name="sample", help_epilogue="Example: `habitus personas sample mine.yaml --n 10000 -o people.parquet`"
)
def sample_people(
    preset_or_file: Preset = "smoke",
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"), help="File of the people: .parquet, .csv or .jsonl.")],
    n: Annotated[
        int | None, Parameter(name=("--n", "-n"), help="How many, instead of the config's `data.users`.")
    ] = None,
    dispositions: Annotated[Path | None, Parameter(help="A second file, of what they are inclined to.")] = None,
    sets: Sets = None,
    seed: Seed = None,
    force: Force = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Write people to a file: those that a build of the config would have."""
    from flows.cli import personas as verb

    return verb.sample(
        preset_or_file,
        output=output,
        number=n,
        dispositions=dispositions,
        sets=sets or [],
        seed=seed,
        force=force,
        as_json=json,
        quiet=quiet,
    )


@personas_app.command(name="show", help_epilogue="Example: `habitus personas show mine.yaml --n 5`")
def show_people(
    preset_or_file: Preset = "smoke",
    /,
    *,
    n: Annotated[int, Parameter(name=("--n", "-n"), help="How many.")] = 3,
    sets: Sets = None,
    seed: Seed = None,
) -> int:
    """Print a card for each of the first people: who they are, and what they like."""
    from flows.cli import personas as verb

    return verb.show(preset_or_file, number=n, sets=sets or [], seed=seed)


@personas_app.command(
    name="plot", help_epilogue="Example: `habitus personas plot people.parquet -o plots --config mine.yaml`"
)
def plot_people(
    file: People,
    /,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"), help="Folder for the plots.")],
    config: Annotated[str | None, Parameter(help="A preset or config file whose shares are put beside them.")] = None,
    sets: Sets = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Draw margins, conditional tables and correlations of people, as SVG and a page that shows them."""
    from flows.cli import personas as verb

    return verb.plot(file, output=output, preset_or_file=config, sets=sets or [], force=force, as_json=json)


@personas_app.command(name="diff", help_epilogue="Example: `habitus personas diff before.parquet after.parquet`")
def diff_people(one: People, other: People, /, *, json: Json = False) -> int:
    """Print on which attributes two files of people differ, and by how much."""
    from flows.cli import personas as verb

    return verb.diff(one, other, json)


@domains_app.command(name="list", help_epilogue="Example: `habitus domains list --json`")
def list_domains(*, json: Json = False) -> int:
    """Print the built-in domains with their sizes."""
    from flows.cli import domains as verb

    return verb.list_domains(json)


@domains_app.command(name="show", help_epilogue="Example: `habitus domains show groceries`")
def show_domain(
    name: Annotated[str, Parameter(help="A built-in domain, such as `food`.")], /, *, json: Json = False
) -> int:
    """Print what a domain is made of: activities, dimensions, catalogue, tools."""
    from flows.cli import domains as verb

    return verb.show(name, json)


@domains_app.command(name="check", help_epilogue="Example: `habitus domains check gardening.yaml`")
def check_domain(file: Annotated[Path, Parameter(help="A domain file.")], /, *, json: Json = False) -> int:
    """Print `ok`, or everything that is wrong with a domain file at once; and warn of what can never matter."""
    from flows.cli import domains as verb

    return verb.check(file, json)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of one call. ``SystemExit`` of a verb passes through."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        result = app(given, exit_on_error=False, print_error=False)
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
    if isinstance(error, UnusedCliTokensError):
        return f"There are arguments too many: {' '.join(error.unused_tokens or [])}."
    return str(error)


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
