"""Plots as SVG text, in need of no library: bars beside what was expected, and maps of cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

FONT = "system-ui, sans-serif"
INK, GREY, PALE = "#1d2b36", "#5a6670", "#d9dee3"
BAR, EXPECTED, OUTSIDE = "#9ec1dd", "#12304a", "#b5541c"
LETTER = 6.3
"""Width of a letter of 11 px, about."""
LABEL_LETTERS = 26
ROW, TOP, EDGE, NUMBERS = 22, 64, 16, 210


class Bar(NamedTuple):
    """One value: its share, and what was expected with the bounds that chance allows."""

    label: str
    share: float
    people: int
    expected: float | None = None
    low: float = 0.0
    high: float = 1.0

    @property
    def is_outside(self) -> bool:
        """Whether chance does not explain the share."""
        return self.expected is not None and not self.low - 1e-12 <= self.share <= self.high + 1e-12


class _Frame(NamedTuple):
    """Where bars begin, how long the longest may be, what share that is, and where the numbers end."""

    left: float
    length: float
    most: float
    right: float

    def along(self, share: float) -> float:
        return self.left + self.length * share / self.most


def bars(title: str, caption: str, rows: Sequence[Bar]) -> str:
    """Horizontal bars. A mark shows the expected share, a line through it the bounds.

    A bar outside its bounds has another colour.
    """
    left = EDGE + LETTER * min(max(len(row.label) for row in rows), LABEL_LETTERS) + 12
    width = max(720, 2 * EDGE + LETTER * max(len(caption), len(title) * 1.3))
    most = max(max(row.share, row.high if row.expected is not None else 0.0) for row in rows) or 1.0
    frame = _Frame(left, width - left - EDGE - NUMBERS, most, width - EDGE)
    floor = TOP + ROW * len(rows)
    parts = [*_head(title, caption)]
    step = _step(most)
    for place in range(math.floor(most / step + 1e-9) + 1):
        x = frame.along(step * place)
        parts.append(_line(x, TOP - 4, x, floor, PALE, 1))
        parts.append(_text(x, floor + 16, f"{step * place * 100:g} %", GREY, "middle"))
    for place, row in enumerate(rows):
        parts += _bar(row, TOP + ROW * place, frame)
    return _page(width, floor + 30, title, parts)


def _bar(row: Bar, top: float, frame: _Frame) -> Iterator[str]:
    middle = top + ROW / 2
    told = f"{row.label}: {row.share:.2%}, {row.people:,} people"
    if row.expected is not None:
        told += f"; configured {row.expected:.2%}, by chance {row.low:.2%} to {row.high:.2%}"
    yield f"<g><title>{escape(_plain(told))}</title>"
    yield _text(frame.left - 8, middle + 4, _short(row.label), INK, "end")
    yield (
        f'<rect x="{frame.left:.1f}" y="{top + 3:.1f}" width="{frame.along(row.share) - frame.left:.1f}" '
        f'height="{ROW - 6}" fill="{OUTSIDE if row.is_outside else BAR}"/>'
    )
    numbers = f"{row.share:.1%}"
    if row.expected is not None:
        yield _line(frame.along(row.low), middle, frame.along(row.high), middle, EXPECTED, 1.5)
        yield _line(frame.along(row.expected), top + 4, frame.along(row.expected), top + ROW - 4, EXPECTED, 2.5)
        numbers += f", {row.expected:.1%} configured"
    yield _text(frame.right, middle + 4, f"{numbers}, {row.people:,}", INK, "end")
    yield "</g>"


def heat_map(
    title: str,
    caption: str,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[float]],
    *,
    is_signed: bool = False,
    told: Sequence[Sequence[str]] | None = None,
    marked: Sequence[Sequence[bool]] | None = None,
) -> str:
    """A map of cells with their numbers: shares in percent, or, if signed, coefficients from -1 to 1. NaN is left blank.

    ``told`` (rows, columns) is what a cell says under the pointer; ``marked`` cells get a frame.
    """
    left = EDGE + LETTER * min(max(len(row) for row in rows), LABEL_LETTERS) + 12
    cell = 46 if len(columns) <= 20 else 38
    slant = LETTER * 0.75 * min(max(len(column) for column in columns), LABEL_LETTERS) + 14
    top = TOP - 6 + slant
    width = max(left + cell * len(columns) + slant + EDGE, 2 * EDGE + LETTER * max(len(caption), len(title) * 1.3))
    height = top + 26 * len(rows) + EDGE
    parts = [*_head(title, caption)]
    for place, name in enumerate(columns):
        x = left + cell * (place + 0.5)
        parts.append(
            f'<text x="{x:.1f}" y="{top - 8:.1f}" fill="{INK}" transform="rotate(-45 {x:.1f} {top - 8:.1f})">{escape(_short(name))}</text>'
        )
    for down, (name, values) in enumerate(zip(rows, cells, strict=True)):
        y = top + 26 * down
        parts.append(_text(left - 8, y + 17, _short(name), INK, "end"))
        for across, value in enumerate(values):
            if math.isnan(value):
                continue
            x = left + cell * across
            text = _number(value, is_signed)
            words = told[down][across] if told else f"{name}, {columns[across]}: {text}"
            frame = f' stroke="{OUTSIDE}" stroke-width="2"' if marked and marked[down][across] else ""
            parts.append(
                f'<g><title>{escape(_plain(words))}</title><rect x="{x + 1.5:.1f}" y="{y + 1.5:.1f}" width="{cell - 3}" height="23" '
                f'fill="{_shade(value)}"{frame}/>{_text(x + cell / 2, y + 17, text, "#fff" if abs(value) > 0.55 else INK, "middle")}</g>'
            )
    return _page(width, height, title, parts)


def _number(value: float, is_signed: bool) -> str:
    """What a cell shows. Little is not nothing."""
    if is_signed:
        return f"{value:.2f}".replace("-0.00", "0.00")
    return "<1" if 0 < value < 0.005 else f"{value * 100:.0f}"


def page(title: str, intro: Sequence[str], plots: Sequence[tuple[str, str]]) -> str:
    """An HTML page that shows (file name, title) of plots beside it."""
    figures = "\n".join(f"<figure><img src={quoteattr(file)} alt={quoteattr(name)}></figure>" for file, name in plots)
    told = "\n".join(f"<p>{escape(line)}</p>" for line in intro)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f"<style>body {{ font: 15px/1.5 {FONT}; color: {INK}; max-width: 80rem; margin: 2rem auto; padding: 0 1rem; }}\n"
        "figure { margin: 1.5rem 0; } img { max-width: 100%; height: auto; }</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n{told}\n{figures}\n</body></html>\n"
    )


def _page(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'font-family="{FONT}" font-size="11" role="img" aria-label={quoteattr(_plain(title))}>\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n'
    )


def _head(title: str, caption: str) -> Iterator[str]:
    yield f'<text x="{EDGE}" y="26" font-size="15" font-weight="600" fill="{INK}">{escape(_plain(title))}</text>'
    yield _text(EDGE, 44, caption, GREY, "start")


def _text(x: float, y: float, text: str, fill: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" text-anchor="{anchor}">{escape(_plain(text))}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width:g}"/>'


def _shade(value: float) -> str:
    """White at 0; blue up to 1, and brown down to -1."""
    full = (18, 78, 128) if value >= 0 else (150, 70, 24)
    strength = min(abs(value), 1.0) ** 0.8
    return "#" + "".join(f"{round(255 + (channel - 255) * strength):02x}" for channel in full)


def _step(most: float) -> float:
    """Between grid lines: 1, 2 or 5 in some decimal place, four to nine lines in all."""
    power = 10.0 ** math.floor(math.log10(most / 4))
    return max(power * digit for digit in (1, 2, 5) if power * digit <= most / 4)


def _short(label: str) -> str:
    """The label as long as there is room, cut between letters as people see them."""
    text = _plain(label)
    if len(text) <= LABEL_LETTERS:
        return text
    cut = LABEL_LETTERS - 1
    while cut > 1 and _joins(text[cut]):
        cut -= 1
    return text[:cut] + "…"


def _joins(letter: str) -> bool:
    """Whether the letter belongs to the one before it."""
    import unicodedata

    return (
        bool(unicodedata.combining(letter)) or unicodedata.category(letter) in ("Mn", "Mc", "Me") or letter == "\u200d"
    )


def _plain(text: str) -> str:
    """Without control characters, which no XML may hold."""
    return "".join(letter if letter.isprintable() or letter == "\u200d" else "\ufffd" for letter in text)
