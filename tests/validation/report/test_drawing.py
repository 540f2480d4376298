"""Plots are SVG that any reader takes, and show the numbers they are given."""

from __future__ import annotations

import math
from xml.etree import ElementTree

from validation.report.drawing import OUTSIDE, Bar, bars, heat_map, page

SVG = "{http://www.w3.org/2000/svg}"
ODD = 'Tom & "Ann" <b>\x00\u0301'


def widths(svg: str) -> list[float]:
    """Of the bars, in their order."""
    rects = ElementTree.fromstring(svg).findall(f".//{SVG}g/{SVG}rect")
    return [float(rect.attrib["width"]) for rect in rects]


def test_bars_are_as_long_as_their_shares_and_lie_within_the_picture() -> None:
    svg = bars("title", "caption", [Bar("a", 0.5, 50), Bar("b", 0.25, 25), Bar("c", 0.0, 0)])
    long, half, none = widths(svg)
    assert abs(long - 2 * half) < 0.3 and none == 0
    picture = ElementTree.fromstring(svg)
    rects = picture.findall(f".//{SVG}g/{SVG}rect")
    assert all(float(r.attrib["x"]) + float(r.attrib["width"]) < float(picture.attrib["width"]) - 150 for r in rects)


def test_a_bar_outside_its_bounds_has_another_colour_and_the_bounds_are_told() -> None:
    inside = bars("t", "c", [Bar("a", 0.5, 50, 0.48, 0.4, 0.56)])
    outside = bars("t", "c", [Bar("a", 0.6, 60, 0.48, 0.4, 0.56)])
    assert OUTSIDE not in inside and OUTSIDE in outside
    assert "a: 60.00%, 60 people; configured 48.00%, by chance 40.00% to 56.00%" in outside


def test_labels_of_any_kind_are_text() -> None:
    for svg in (bars(ODD, ODD, [Bar(ODD * 9, 1.0, 1)]), heat_map(ODD, ODD, [ODD], [ODD * 9], [[0.5]])):
        assert ElementTree.fromstring(svg).find(f"{SVG}b") is None
    assert "<b>" not in page(ODD, [ODD], [("a.svg", ODD)])


def test_cells_show_their_numbers_little_is_not_nothing_and_unknown_ones_are_blank() -> None:
    svg = heat_map(
        "t", "c", ["r"], ["a", "b", "c", "d"], [[0.0, 0.001, 0.734, math.nan]], marked=[[False, True, False, False]]
    )
    texts = [text.text for text in ElementTree.fromstring(svg).findall(f".//{SVG}g/{SVG}text")]
    assert texts == ["0", "<1", "73"] and svg.count(OUTSIDE) == 1
    signed = heat_map("t", "c", ["r"], ["a", "b"], [[-0.41, -0.001]], is_signed=True)
    assert ">-0.41<" in signed and ">0.00<" in signed
