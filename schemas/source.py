"""YAML 1.2 with the file and line of every value, and errors that name them: how every declared file is read.

Only ``true``, ``false``, ``null`` and numbers of the YAML 1.2 core schema are anything but text: ``no``, ``22:00`` and
``2025-01-06`` stay what they read. Text is brought to Unicode NFC. Keys are text as written. A key given twice, a tag
and a merge key ``<<`` are violations, and all violations of a file are reported at once.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.composer import MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

from schemas.explain import Place, explained

Model = TypeVar("Model", bound=BaseModel)

NODES_BY_ALIASES = 10_000
"""Values that a file may have beyond its number of letters: aliases of aliases can unfold without end."""
DEPTH_AT_MOST = 60

_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL_HEX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_WORDS = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    ".nan": math.nan,
    ".NaN": math.nan,
    ".NAN": math.nan,
}


class InputError(ValueError):
    """What the user gave cannot be used; the message says why and what to do. The command line exits with 2."""


@dataclass(frozen=True)
class Violation:
    """One broken rule: where, what, why, and what to do about it."""

    file: str
    line: int | None
    field: str
    value: str
    rule: str
    fix: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        what = f"{self.field} is {self.value};" if self.field and self.value else self.field
        return " ".join(part for part in (f"{place}:", what, f"{self.rule}.", _sentence(self.fix)) if part)


def _sentence(fix: str) -> str:
    return fix[:1].upper() + fix[1:] + ("" if not fix or fix[-1] in ".?!" else ".")


class SourceError(InputError):
    """Every violation found, sorted by file and line."""

    def __init__(self, violations: Iterable[Violation]) -> None:
        self.violations = sorted(set(violations), key=lambda v: (v.file, v.line or 0, v.field, v.rule))
        super().__init__("\n".join(str(violation) for violation in self.violations))


@dataclass(frozen=True)
class Mark:
    """Where a value stands. The line counts from 1; there is none on the command line."""

    file: str
    line: int | None


@dataclass(frozen=True)
class Source:
    """A value as read, where each part of it stands, and what was wrong already while reading."""

    file: str
    value: Any
    marks: dict[Place, Mark]
    violations: tuple[Violation, ...] = ()
    repeated: frozenset[Place] = frozenset()
    """The keys that stand more than once."""
    is_readable: bool = True
    """False after an error of syntax: there is no value then."""

    def mark(self, place: Place) -> Mark:
        """Where the value stands, or else the part that should hold it."""
        for length in range(len(place), -1, -1):
            if place[:length] in self.marks:
                return self.marks[place[:length]]
        return Mark(self.file, None)

    def below(self, place: Place) -> Source:
        """The part at a place as a source of its own."""
        depth = len(place)
        return Source(
            self.file,
            value_at(self.value, place),
            {where[depth:]: mark for where, mark in self.marks.items() if where[:depth] == place},
            repeated=frozenset(where[depth:] for where in self.repeated if where[:depth] == place),
        )

    @property
    def ambiguous(self) -> set[Place]:
        """The maps in which a key stands more than once: they have no one content."""
        return {place[:-1] for place in self.repeated}

    def violation(self, place: Place, rule: str, fix: str) -> Violation:
        """A broken rule about what stands at a place."""
        found = value_at(self.value, place)
        mark = self.mark(place)
        return Violation(mark.file, mark.line, dotted(place), "missing" if found is ... else shown(found), rule, fix)


def value_at(value: Any, place: Place) -> Any:
    """The part of a nested value at a place; ``...`` where there is none."""
    for step in place:
        is_there = step in value if isinstance(value, dict) else isinstance(value, list) and step in range(len(value))
        if not is_there:
            return ...
        value = value[step]
    return value


def dotted(place: Place) -> str:
    """``a.b[0].c``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")


def shown(value: Any, length: int = 100) -> str:
    """The value on one line as YAML would write it, cut at ``length`` characters."""
    text = _flow(value)
    return text if len(text) <= length else text[: length - 1] + "…"


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key or _flow(key)}: {_flow(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(part) for part in value) + "]"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    if isinstance(value, str):
        is_plain = value.strip() and "\n" not in value and isinstance(core_scalar(value), str)
        return value if is_plain else json.dumps(value, ensure_ascii=False)
    return str(value)


def display(path: Path) -> str:
    """The path as a user would write it: relative where it lies below the current folder."""
    absolute = path.absolute()
    return str(absolute.relative_to(Path.cwd())) if absolute.is_relative_to(Path.cwd()) else str(path)


def read_yaml(path: Path) -> Source:
    """The file, read. An unreadable file or broken syntax is a violation of the source, not an exception."""
    file = display(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        return unreadable(Violation(file, None, "", "", f"cannot be read: {error.strerror}", "check the path"))
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        return unreadable(Violation(file, line, "", "", "the file is not in UTF-8", "save it as UTF-8"))
    return read_text(text, file)


def unreadable(violation: Violation) -> Source:
    """A source without a value."""
    return Source(violation.file, None, {}, (violation,), is_readable=False)


def read_text(text: str, file: str, *, has_lines: bool = True, at: Place = ()) -> Source:
    """YAML text, read; ``file`` is the name that errors call it by.

    A value of the command line has no lines, and stands ``at`` a place of its own: the value comes in maps down to it.
    """
    reader = _Reader(file, has_lines, len(text) + NODES_BY_ALIASES)
    try:
        yaml = YAML(typ="safe", pure=True)
        yaml.composer.warn_double_anchors = False
        yaml.max_depth = DEPTH_AT_MOST
        node = yaml.compose(text)
        reader.marks[at] = Mark(file, reader.line(node) if node is not None else 1 if has_lines else None)
        value = None if node is None else reader.build(node, at)
    except (MaxDepthExceededError, RecursionError):
        return unreadable(Violation(file, None, "", "", "nested too deeply", "make it flatter"))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if has_lines and mark is not None else None
        problem = " ".join(part for part in (error.context, error.problem) if part)
        return unreadable(Violation(file, line, "", "", f"not YAML: {problem}", _syntax_fix(problem)))
    except YAMLError as error:
        position = getattr(error, "position", 0)
        line = text[:position].count("\n") + 1 if has_lines else None
        return unreadable(Violation(file, line, "", "", "not YAML: a control character", "remove it"))
    except _TooManyNodes:
        return unreadable(Violation(file, None, "", "", "its aliases unfold without end", "write the values out"))
    for key in reversed(at):
        value = {key: value}
    return Source(file, value, reader.marks, tuple(reader.violations), frozenset(reader.repeated))


def _syntax_fix(problem: str) -> str:
    if "mapping values" in problem:
        return "put text that holds `: ` in quotes, and check the indentation"
    if "\\t" in problem:
        return "indent with spaces, not tabs"
    if "another document" in problem:
        return "keep one document in the file: remove the line `---`"
    if "undefined alias" in problem:
        return "define it with `&` above, or put the text in quotes"
    return "check indentation, brackets and quotes"


class _TooManyNodes(Exception):
    pass


@dataclass
class _Reader:
    """Turns nodes into values and remembers where they stood."""

    file: str
    has_lines: bool
    nodes_at_most: int
    marks: dict[Place, Mark] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)
    repeated: set[Place] = field(default_factory=set)
    open_nodes: list[int] = field(default_factory=list)
    count: int = 0

    def line(self, node: Node) -> int | None:
        return node.start_mark.line + 1 if self.has_lines else None

    def object_to(self, node: Node, place: Place, value: str, rule: str, fix: str) -> None:
        self.violations.append(Violation(self.file, self.line(node), dotted(place), value, rule, fix))

    def build(self, node: Node, place: Place) -> Any:
        """The value of a node."""
        self.count += 1
        if self.count > self.nodes_at_most:
            raise _TooManyNodes
        if isinstance(node, ScalarNode):
            return self.scalar(node, place)
        if node.tag not in (f"{_TAG}map", f"{_TAG}seq"):
            self.object_to(node, place, "", f"has the tag `{node.tag}`; tags mean nothing here", "remove the tag")
        if id(node) in self.open_nodes:
            self.object_to(node, place, "", "holds an alias of itself", "write the value out")
            return None
        self.open_nodes.append(id(node))
        value = self.mapping(node, place) if isinstance(node, MappingNode) else self.sequence(node, place)
        self.open_nodes.pop()
        return value

    def sequence(self, node: Node, place: Place) -> list[Any]:
        out = []
        for index, item in enumerate(node.value):
            self.marks[(*place, index)] = Mark(self.file, self.line(item))
            out.append(self.build(item, (*place, index)))
        return out

    def mapping(self, node: Node, place: Place) -> dict[str, Any]:
        out: dict[str, Any] = {}
        first: dict[str, int | None] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self.object_to(key_node, place, "", "has a key that is no text", "write keys as plain words")
                continue
            key = self.text(key_node, place)
            here = (*place, key)
            if key == "<<" and key_node.style is None:
                fix = "write the keys out, or let the file say `extends`"
                self.object_to(key_node, here, "", "is a merge key, which YAML 1.2 does not have", fix)
                continue
            self.marks[here] = Mark(self.file, self.line(key_node))
            value = self.build(value_node, here)
            if key in out:
                self.repeated.add(here)
                other = f", and line {first[key]} has it too" if self.has_lines else ""
                self.object_to(key_node, here, shown(value), f"a key stands once{other}", "remove one of the two")
            first.setdefault(key, self.line(key_node))
            out[key] = value
        return out

    def text(self, node: ScalarNode, place: Place) -> str:
        try:
            # JSON writes letters beyond the basic plane as pairs of escapes, and JSON is YAML.
            value = node.value.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            rule = "holds half of a surrogate pair"
            self.object_to(node, place, json.dumps(node.value), rule, "write the letter itself")
            value = node.value.encode("utf-8", "replace").decode()
        return unicodedata.normalize("NFC", value)

    def scalar(self, node: ScalarNode, place: Place) -> Any:
        """Plain scalars by the YAML 1.2 core schema; quoted ones and blocks are text."""
        text = self.text(node, place)
        tag = node.tag or ""
        is_text = tag == f"{_TAG}str"
        if not is_text and (node.style is not None or not tag.startswith(_TAG)):
            self.object_to(node, place, text, f"has the tag `{tag}`; tags mean nothing here", "remove the tag")
        return text if is_text or node.style is not None else core_scalar(text)


def core_scalar(text: str) -> Any:
    """A plain scalar's value by the core schema of YAML 1.2.2, section 10.3.2."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text) and len(text) < 400:
        return int(text)
    if _OCTAL_HEX.fullmatch(text):
        return int(text[2:], 8 if text[1] == "o" else 16)
    if _FLOAT.fullmatch(text):
        return float(text)
    if infinite := _INFINITE.fullmatch(text):
        return -math.inf if infinite[1] == "-" else math.inf
    return text


def judge(model_class: type[Model], source: Source) -> tuple[Model | None, list[Violation]]:
    """The model, if the source meets it, and every violation: of reading and of the model together.

    Types are judged strictly: a number in quotes is text, and a whole number is no yes or no. What a rule says about a
    whole map is left out where one of the map's keys stands twice.
    """
    found = list(source.violations)
    if not source.is_readable:
        return None, found
    try:
        model = model_class.model_validate_json(json.dumps(source.value), strict=True)
        return (model if not found else None), found
    except ValidationError as error:
        for place, rule, fix in explained(model_class, error):
            if place not in source.ambiguous:
                found.append(source.violation(place, rule, fix))
        return None, found


def check(model_class: type[Model], source: Source) -> Model:
    """The model that the source describes. Raises one :class:`SourceError` with every violation."""
    model, violations = judge(model_class, source)
    if model is None:
        raise SourceError(violations)
    return model
