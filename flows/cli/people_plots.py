"""The plots of `habitus personas plot`: margins, conditionals and correlations of a table of people, as SVG."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.config.correlations import Correlation
from schemas.config.personas import POPULATION
from validation.fidelity.people import F64, conditional, counted, edges_for, labelled, margin, together, weights_of
from validation.fidelity.people_facts import Correlated, correlated
from validation.fidelity.realised import PEOPLE_AT_LEAST, SEPARATOR, Realised, compare
from validation.report.drawing import Bar, bars, heat_map, page
from validation.report.people_page import BY_BANDS, margin_plot


@dataclass
class Plots:
    """Files by name, in the order of the page, with what is to be said about them."""

    files: dict[str, str] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    off: list[str] = field(default_factory=list)
    """Margins and correlations that chance does not explain."""
    left_out: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, name: str, title: str, svg: str) -> None:
        """One more plot, under a file name of plain letters that no other plot has."""
        plain = f"{kind}_{re.sub(r'[^A-Za-z0-9_]+', '_', name)}".rstrip("_")
        taken = sum(one.removesuffix(".svg").rstrip("0123456789-") == plain for one in self.files)
        file = f"{plain}-{taken + 1}.svg" if taken else f"{plain}.svg"
        self.files[file], self.titles[file] = svg, title


@dataclass(frozen=True)
class People:
    """A table of people with its countable columns as labels."""

    table: pa.Table
    labels: Mapping[str, pa.Array]
    weights: F64

    @property
    def is_weighted(self) -> bool:
        return bool(np.ptp(self.weights) > 0)


def draw(
    table: pa.Table, source: str, configured: pa.Table | None = None, correlations: Sequence[Correlation] = ()
) -> Plots:
    """Every plot of the people, and `index.html` that shows them.

    ``configured`` is the table `population` of a config, ``correlations`` are what it asks for.
    """
    names, left_out = counted(table)
    plots = Plots(left_out=left_out)
    labels = {name: labelled(table[name], edges_for(name, [table[name]])) for name in names}
    people = People(table, labels, weights_of(table))
    shares = [] if configured is None else compare(configured, [table])
    pairs = [] if configured is None else list(correlated(configured, table, correlations))
    _margin_plots(plots, people, [row for row in shares if not row.given], configured is not None)
    given = [row for row in shares if row.given]
    for (child, parents), rows in groupby(given, key=lambda row: (row.attribute, row.given)):
        _configured_table(plots, child, parents.split(SEPARATOR), list(rows))
    for child, parent in _built_in_pairs(people, {row.attribute for row in shares}):
        _plain_table(plots, people, child, parent)
    varied = [name for name in names if len(pc.unique(labels[name]).drop_null()) > 1]
    if len(varied) > 1:
        title = "How columns go together"
        caption = "Spearman's correlation of numbers; Cramér's V where a column has names instead, which has no sign"
        svg = heat_map(title, caption, varied, varied, together(table, varied).tolist(), is_signed=True)
        plots.add("correlations", "", title, svg)
    plots.off += [pair.told() for pair in pairs if pair.ok is False]
    intro = [f"{table.num_rows:,} people of {source}.", *_how_to_read(people, configured is not None, pairs)]
    intro += [f"Not drawn: {name}, which {reason}." for name, reason in plots.left_out.items()]
    plots.files["index.html"] = page("People", intro, [*plots.titles.items()])
    return plots


def _how_to_read(people: People, is_configured: bool, pairs: Sequence[Correlated]) -> Iterator[str]:
    if people.is_weighted:
        yield "Shares are weighted by sample_weight; counts are people."
    if is_configured:
        yield (
            "Bars are the people; the dark mark is the configured share, rules and known shares worked in, and the line "
            "through it says how far chance carries so many people: of 10,000 right populations one lies beyond it in any "
            "of its values. A brown bar lies outside. In a map of a table a brown frame says the same of a cell."
        )
    yield from (f"Rank correlation of {pair.told()}." for pair in pairs)


def _margin_plots(plots: Plots, people: People, rows: Sequence[Realised], is_configured: bool) -> None:
    """A plot for each countable column, and one for each attribute that can be seen in another way."""
    asked = {name: list(own) for name, own in groupby(rows, key=lambda row: row.attribute)}
    others = [name for name in asked if name not in people.labels and BY_BANDS.get(name) not in asked]
    for name in [*people.labels, *others]:
        if name in asked:
            plots.add("margin", name, name, margin_plot(name, asked[name]))
            outside = [row.value for row in asked[name] if row.ok is False]
            if outside:
                distance = sum(abs(row.configured - row.realised) for row in asked[name]) / 2
                plots.off.append(f"{name}: total variation {distance:.4f}, outside its bounds at {_listed(outside)}")
            continue
        found = margin(people.labels[name], people.weights)
        absent = people.table.num_rows - int(found.people.sum())
        caption = f"{int(found.people.sum()):,} people" + (f", {absent:,} have none" if absent else "")
        caption += "; no configured shares are known for it" if is_configured else ""
        counts = zip(found.labels, found.shares.tolist(), found.people.tolist(), strict=True)
        plots.add("margin", name, name, bars(name, caption, [Bar(*one) for one in counts]))


def _listed(labels: list[str]) -> str:
    return ", ".join(sorted(labels)[:4]) + (", …" if len(labels) > 4 else "")


def _configured_table(plots: Plots, child: str, parents: Sequence[str], rows: Sequence[Realised]) -> None:
    """A map of an attribute's shares given its parents, beside the configured ones."""
    groups = {row.among: row.people for row in rows if row.people}
    columns = list(dict.fromkeys(row.value for row in rows))
    if len(groups) < 2 and len(columns) < 2:
        return
    at = {(row.among, row.value): row for row in rows}
    cells, told, marked = [], [], []
    for group in groups:
        own = [at.get((group, column)) for column in columns]
        cells.append([0.0 if row is None else row.realised for row in own])
        told.append([_told(group, column, row) for column, row in zip(columns, own, strict=True)])
        marked.append([row is not None and row.ok is False for row in own])
    judged = sum(people >= PEOPLE_AT_LEAST for people in groups.values())
    title = f"{child} given {', '.join(parents)}"
    caption = f"Percent of each row; {sum(map(sum, marked))} of {len(groups) * len(columns)} cells outside their bounds"
    caption += f"; {judged} of {len(groups)} rows have the {PEOPLE_AT_LEAST} people it takes to judge"
    labels = [f"{group} ({people:,})" for group, people in groups.items()]
    svg = heat_map(title, caption, labels, columns, cells, told=told, marked=marked)
    plots.add("given", f"{child}_by_{'_'.join(parents)}", title, svg)


def _told(group: str, column: str, row: Realised | None) -> str:
    if row is None:
        return f"{group}, {column}: cannot be"
    return f"{group}, {column}: {row.realised:.1%}; configured {row.configured:.1%}, by chance ± {row.bound:.1%}"


def _built_in_pairs(people: People, known: set[str]) -> Iterator[tuple[str, str]]:
    """Columns with the first column that the built-in population gives them, where no config says anything."""
    for child, attribute in POPULATION.items():
        parents = [BY_BANDS.get(parent, parent) for parent in attribute.given]
        seen = [parent for parent in parents if parent in people.labels and parent != child]
        if child in people.labels and child not in known and seen:
            yield child, seen[0]


def _plain_table(plots: Plots, people: People, child: str, parent: str) -> None:
    rows, columns, shares, sizes = conditional(people.labels[child], people.labels[parent], people.weights)
    if not rows or (len(rows) < 2 and len(columns) < 2):
        return
    title = f"{child} given {parent}"
    caption = f"Percent of each row; rows stand for {int(sizes.min()):,} to {int(sizes.max()):,} people"
    labels = [f"{row} ({size:,})" for row, size in zip(rows, sizes.tolist(), strict=True)]
    plots.add("given", f"{child}_by_{parent}", title, heat_map(title, caption, labels, columns, shares.tolist()))
