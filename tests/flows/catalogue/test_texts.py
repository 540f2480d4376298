"""Claims about titles and descriptions."""

from __future__ import annotations

import re
from collections import Counter
from string import Formatter

import numpy as np
import pytest

from flows.catalogue.sentences import cut, followed, wants_an
from flows.catalogue.texts import ORDERS
from schemas.domain import Domain
from tests.flows.catalogue.shelves import Shelf

ARTICLE = re.compile(r"\b(an?) ([\w'$-]+)", re.IGNORECASE)
SAID_WITH_A = re.compile(
    r"one\b|once\b|uni(?:t|on|que|form|son|vers|sex)|use|usu|euro|[b-df-gj-np-tv-z]|h(?!our|onest|eir|erb)|[0-79]|1(?![18]\b)"
)
"""Beginnings that want `a`: consonants, and vowels that sound like one."""
SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z0-9])")


def words_of(domain: Domain) -> dict[str, tuple[str, str]]:
    """Word, in small letters, to dimension and value."""
    return {
        word.casefold(): (name, value)
        for name, spec in domain.dimensions.items()
        for value, value_spec in spec.values.items()
        for word in value_spec.words
    }


def finder(words: list[str]) -> re.Pattern[str]:
    longest_first = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.compile(rf"(?<![\w-])({longest_first})(?![\w-])")


def test_a_title_names_exactly_the_headline_values_of_its_item(shelf: Shelf) -> None:
    headline = sorted(shelf.domain.catalogue.headline())
    spoken = {word: told for word, told in words_of(shelf.domain).items() if told[0] in headline}
    pattern = finder(list(spoken))
    levels = {name: list(shelf.domain.dimensions[name].values) for name in headline}
    codes = {name: shelf.codes(name) for name in headline}
    for row, title in enumerate(shelf.column("title")):
        read = {spoken[word] for word in pattern.findall(title.casefold())}
        assert read == {(name, levels[name][codes[name][row]]) for name in headline}, title


def sentences_of(domain: Domain, name: str, kind: str, own: str) -> set[str]:
    """Every sentence of that kind on one value, spelled out."""
    spec = domain.dimensions[name]
    nouns = [noun for category in domain.catalogue.categories.values() for noun in category.nouns]
    others = [word for value, other in spec.values.items() if value != own for word in other.words]
    fields = {"value": spec.values[own].words, "other": others, "noun": nouns}
    found = set()
    for template in spec.says if kind == "says" else spec.contrasts:
        told = [""]
        for literal, field, _, _ in Formatter().parse(template):
            told = [
                text + follow
                for text in told
                for follow in ([literal] if field is None else followed(literal, fields[field]))
            ]
        found |= {text[0].upper() + text[1:] for text in told}
    return found


def test_a_description_has_a_sentence_for_every_dimension_and_one_aside(shelf: Shelf) -> None:
    """What a dimension's sentence says is its value; where it is a contrast, beside another one, as often as declared."""
    domain, headline = shelf.domain, shelf.domain.catalogue.headline()
    known: dict[str, tuple[str, str, str]] = {}
    for name, spec in domain.dimensions.items():
        for value in spec.values:
            if name not in headline:
                known |= dict.fromkeys(sentences_of(domain, name, "says", value), (name, "says", value))
            # A contrast in a title's dimension names another value only: it tells which value it is not.
            known |= dict.fromkeys(sentences_of(domain, name, "contrasts", value), (name, "contrasts", value))
    rows = range(0, shelf.items.num_rows, 7)
    contrasts, told_all = 0, 0
    codes = {name: shelf.codes(name) for name in domain.dimensions}
    descriptions = shelf.column("description")
    for row in rows:
        rest = descriptions[row]
        for name, spec in domain.dimensions.items():
            value = list(spec.values)[codes[name][row]]
            own = [s for s in SENTENCE.split(descriptions[row]) if known.get(s, ("",))[0] == name]
            if name in headline:
                assert len(own) <= 1
                assert all(s in sentences_of(domain, name, "contrasts", value) for s in own), descriptions[row]
            else:
                assert [known[s][2] for s in own] == [value], (name, value, descriptions[row])
            contrasts += any(known[s][1] == "contrasts" for s in own)
            told_all += 1
            for sentence in own:
                rest = rest.replace(sentence, "", 1)
        assert len(SENTENCE.split(rest.strip())) == 1, "one aside, and nothing else"
    share = domain.catalogue.contrast_share
    assert abs(contrasts / told_all - share) < 4 * np.sqrt(share * (1 - share) / told_all) + 1e-9


def test_a_description_says_three_different_distractors_of_its_item(shelf: Shelf) -> None:
    specs = shelf.domain.distractors
    codes = {name: shelf.codes(name) for name in specs}
    often = dict.fromkeys(specs, 0)
    rows = range(0, shelf.items.num_rows, 3)
    descriptions = shelf.column("description")
    for row in rows:
        text = descriptions[row].casefold()
        told = {name for name, spec in specs.items() if list(spec.words.values())[codes[name][row]].casefold() in text}
        assert len(told) >= 3, text
        for name in told:
            often[name] += 1
    expected = 3 / len(specs) * len(rows)
    assert all(0.75 * expected < hits < 1.6 * expected for hits in often.values()), often


def test_texts_are_whole_sentences_in_good_order(shelf: Shelf) -> None:
    for text in shelf.column("title") + shelf.column("description"):
        assert text[0] == text[0].upper(), text
        assert not re.search(r"[{}]|  |^ | $| [.,;:!?]|\.\.", text), text
    for text in shelf.column("description"):
        assert text.endswith("."), text
    for title in shelf.column("title"):
        assert not title.endswith("."), title


def test_articles_fit_the_words_that_follow(shelf: Shelf) -> None:
    texts = "\n".join(shelf.column("title") + shelf.column("description"))
    wrong = {
        f"{article} {word}"
        for article, word in set(ARTICLE.findall(texts))
        if (article.casefold() == "a") != bool(SAID_WITH_A.match(word.casefold()))
    }
    assert not wrong


@pytest.mark.parametrize(
    ("word", "an"),
    [
        ("apple", True),
        ("pear", False),
        ("8-person", True),
        ("80-minute", True),
        ("11-day", True),
        ("18-piece", True),
        ("110-minute", False),
        ("35-minute", False),
        ("hour-long", True),
        ("house", False),
        ("one-day", False),
        ("unisex", False),
        ("uniform", False),
        ("unimportant", True),
        ("uninteresting", True),
        ("used", False),
        ("urban", True),
        ("European", False),
        ("Italian", True),
        ("LED", True),
        ("USB", False),
        ("XL-size", True),
        ("UV-safe", False),
        ("honest", True),
    ],
)
def test_an_stands_before_the_sound_of_a_vowel(word: str, an: bool) -> None:
    assert wants_an(word) is an
    assert followed("It is a ", [word]) == [f"It is {'an' if an else 'a'} {word}"]
    assert followed("An ", [word]) == [f"{'An' if an else 'A'} {word}"]
    assert followed("Banana ", [word]) == [f"Banana {word}"]


def test_a_template_without_words_or_that_begins_or_ends_with_one_is_said_whole() -> None:
    vocabulary = [""]
    words = {"noun": ["mug", "egg"], "value": ["old", "new"]}
    pieces = cut(["plain", "{value} {noun}", "a {noun}, {value}, like no {noun}"], words, vocabulary, gap=" ")
    codes = np.array([[1, 0, 0]], np.int32)
    told = ["".join(vocabulary[c] for c in pieces.of(np.array([t]), codes)[0]) for t in range(4)]
    assert told == [" Plain", " Old egg", " An egg, old, like no egg", ""]
    assert pieces.silence == 3


def test_no_word_is_likelier_than_another(shelf: Shelf) -> None:
    headline = sorted(shelf.domain.catalogue.headline())
    titles = [title.casefold() for title in shelf.column("title")]
    for name in headline:
        spec = shelf.domain.dimensions[name]
        pattern = finder([word.casefold() for one in spec.values.values() for word in one.words])
        spoken = [pattern.findall(title) for title in titles]
        for value, one in spec.values.items():
            here = [
                found[0]
                for found, code in zip(spoken, shelf.codes(name), strict=True)
                if code == list(spec.values).index(value)
            ]
            counts = [here.count(word.casefold()) for word in one.words]
            assert min(counts) > 0.8 * len(here) / len(counts), (value, counts)


def test_sentences_come_in_a_handful_of_orders_each_about_as_often(shelf: Shelf) -> None:
    domain = shelf.domain
    rest = [name for name in domain.dimensions if name not in domain.catalogue.headline()]
    known = {
        sentence: name
        for name in rest
        for kind in ("says", "contrasts")
        for value in domain.dimensions[name].values
        for sentence in sentences_of(domain, name, kind, value)
    }
    found = Counter(
        tuple(known[sentence] for sentence in SENTENCE.split(text) if sentence in known)
        for text in shelf.column("description")[::3]
    )
    assert all(sorted(order) == sorted(rest) for order in found)
    assert 5 <= len(found) <= ORDERS, "two orders may differ in the place of other sentences only"
    assert max(found.values()) < 0.5 * found.total()
