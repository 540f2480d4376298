"""Arguments and options that several verbs share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

PresetOrFile = Annotated[str, Parameter(help="A preset (smoke, standard, full) or the path of a config file.")]
Sets = Annotated[
    list[str],
    Parameter(name="--set", negative="", help="Change one key: KEY=VALUE, such as data.users=50. Can be repeated."),
]
Seed = Annotated[int | None, Parameter(help="Instead of the config's `data.seed`.")]
Users = Annotated[int | None, Parameter(help="Instead of the config's `data.users`.")]
Workers = Annotated[int | None, Parameter(help="Processes, instead of the config's `execution.workers`.")]
Out = Annotated[Path, Parameter(help="Folder of runs, releases and quarantine.")]
Json = Annotated[bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON, for programs.")]
Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], negative="", show_default=False, help="Print the result only.")]
Verbose = Annotated[bool, Parameter(name=["--verbose", "-v"], negative="", show_default=False, help="Print more on the way.")]
