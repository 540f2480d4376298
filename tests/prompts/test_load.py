from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.load import FOLDER, STANCES, Bank, Phrases, load_phrases, one_of
from prompts.templates import pieces_of, slots_of, variants_of
from schemas.load import domain_names, load_domain, load_domains
from schemas.source import SourceError, check, read_text
from schemas.tables.fields import CONTRADICTION_KINDS, DRIFT_KINDS, FAILURES, NOISE_KINDS, POLICIES

PHRASES = load_phrases()
SAY = PHRASES.say
REPLIES = [PHRASES.reply.answer, PHRASES.reply.close]
TEXT = (FOLDER / "en.yaml").read_text(encoding="utf-8")


def every_template() -> list[str]:
    """Every template of the file, whatever its bank."""
    found: list[str] = []

    def walk(part: object) -> None:
        if isinstance(part, dict):
            found.extend(part.get("templates", []))
            for below in part.values():
                walk(below)

    walk(PHRASES.model_dump())
    return found


def rejected(text: str) -> str:
    with pytest.raises(SourceError) as error:
        check(Phrases, read_text(text, "en.yaml"))
    return str(error.value)


def test_banks_are_large_enough() -> None:
    say = PHRASES.say
    assert len(say.usual.templates) >= 14 and len(say.for_now.templates) >= 14
    assert len(say.back_to_usual.templates) >= 8 and len(say.small_talk.templates) >= 25
    assert all(len(PHRASES.request.act[name].templates) >= 8 for name in (*domain_names(), "any"))
    assert len(PHRASES.request.know["any"].templates) >= 6


def test_a_template_with_an_undeclared_input_is_refused_with_its_line() -> None:
    message = rejected(TEXT.replace('"Order a meal for me, please."', '"Order {words} for me, please."'))
    line = TEXT[: TEXT.index("Order a meal for me")].count("\n") + 1
    assert f"en.yaml:{line}: request.act.food.templates[2] is Order {{words}}" in message
    assert "exactly the inputs" in message


def test_a_template_without_a_declared_input_is_refused() -> None:
    assert "{noun}, {words}" in rejected(TEXT.replace("{noun}, {words} is [what", "{noun}, this is [what"))


def test_inputs_that_the_speaker_does_not_give_are_refused() -> None:
    old, new = "  know:\n    any:\n      inputs: [noun]", "  know:\n    any:\n      inputs: [noun, words]"
    assert old in TEXT
    assert "`inputs` must be [noun]" in rejected(TEXT.replace(old, new).replace("{noun}", "{noun} {words}"))


def test_all_violations_are_told_at_once() -> None:
    broken = TEXT.replace('"Get dinner for tonight."', '"Get {thing} for tonight."')
    message = rejected(broken.replace('"Find the one', '"[Find the one'))
    assert "request.act.food.templates[0]" in message
    assert "request.act.any.templates[4]" in message


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("      - just now\n", "", "must have cues of for_now"),
        ("[Time flies|", "[Time usually flies|", "must have no cue"),
        ("\"This week I'd [rather", "\"This week I'd usually [rather", "of no other stance"),
        (
            "[has stopped|is wrong|fell down], [nobody noticed|which explains a lot|of course]",
            "[has stopped|is wrong|fell down].",
            "ends with punctuation",
        ),
        ('"Could you settle this for me?"', '"Take care of this one for me, please."', "more than once"),
    ],
)
def test_banks_that_the_reader_could_not_invert_are_refused(old: str, new: str, rule: str) -> None:
    assert old in TEXT
    assert rule in rejected(TEXT.replace(old, new))


def test_statements_have_no_negation() -> None:
    negation = one_of(PHRASES.say.negations)
    wordings = [text for name in STANCES for t in PHRASES.say.stance(name).templates for text in variants_of(t)]
    assert [text for text in wordings if negation.search(text)] == []


def test_no_phrase_holds_an_internal_name() -> None:
    internal = {*NOISE_KINDS, *DRIFT_KINDS, *CONTRADICTION_KINDS, *POLICIES, *FAILURES}
    wordings = [re.sub(r"\{[a-z_]+\}", "", text) for template in every_template() for text in variants_of(template)]
    assert len(wordings) > 5000
    assert [text for text in wordings if "_" in text or text.strip(" .!?").lower() in internal] == []


@pytest.mark.parametrize(
    ("names", "banks"),
    [
        (domain_names(), [*PHRASES.request.act.values(), *PHRASES.request.know.values()]),
        (domain_names(), [*REPLIES, *PHRASES.review.values(), SAY.small_talk, SAY.lead, SAY.tail]),
    ],
)
def test_what_asserts_no_taste_names_no_value(names: list[str], banks: list[Bank]) -> None:
    specs = [spec for domain in load_domains(names).values() for spec in domain.dimensions.values()]
    found = one_of(word for spec in specs for value in spec.values.values() for word in value.words)
    wordings = [text for bank in banks for template in bank.templates for text in variants_of(template)]
    assert [text for text in wordings if found.search(text)] == []


@pytest.mark.parametrize("name", domain_names())
def test_a_request_to_act_names_no_thing_of_the_catalogue_and_is_whole_sentences(name: str) -> None:
    shop = load_domain(name).catalogue
    things = {*shop.categories, *(noun for category in shop.categories.values() for noun in category.nouns)}
    named = one_of([*things, *(f"{thing}s" for thing in things)])
    requests = [*PHRASES.request.act[name].templates, *PHRASES.request.act["any"].templates]
    assert [text for text in requests if named.search(text)] == []
    sentences = [part for text in requests for part in re.split(r"(?<=[.?]) ", text)]
    assert [part for part in sentences if not re.fullmatch(r"[A-Z].*\w[.?]", part)] == []


@pytest.mark.parametrize("name", domain_names())
def test_searches_of_a_domain_have_words_of_their_own_and_name_no_value(name: str) -> None:
    domain = load_domain(name)
    found = one_of(
        word for spec in domain.dimensions.values() for value in spec.values.values() for word in value.words
    )
    banks = PHRASES.search[name]
    assert banks != PHRASES.search["any"]
    wordings = [text for bank in (banks.plain, banks.detailed) for t in bank.templates for text in variants_of(t)]
    assert len(wordings) >= 12
    assert [text for text in wordings if found.search(text)] == []


def test_wordings_are_natural_english_sentences_without_doubled_or_stray_spaces() -> None:
    wordings = [text for template in every_template() for text in variants_of(template)]
    assert [text for text in wordings if "  " in text or text != text.strip() or re.search(r" [,.!?]", text)] == []


PARTS = st.one_of(st.just("{noun}"), st.just("[a|b|]"), st.text("ab ,", min_size=1, max_size=8))


@given(st.lists(PARTS, min_size=1, max_size=6))
def test_the_pieces_of_a_template_are_the_template(parts: list[str]) -> None:
    template = "".join(parts)
    pieces = pieces_of(template)
    worded = [piece.choices for piece in pieces if piece.slot is None]
    fixed = [choices[0] if len(choices) == 1 else f"[{'|'.join(choices)}]" for choices in worded]
    assert "".join(fixed) == template.replace("{noun}", "")
    assert [piece.slot for piece in pieces if piece.slot] == ["noun"] * parts.count("{noun}")
    assert slots_of(template) == ({"noun"} if "{noun}" in parts else set())
    assert len(list(variants_of(template))) == 3 ** parts.count("[a|b|]")


@pytest.mark.parametrize(
    "template", ["[a|b", "a]", "{noun", "[a|[b|c]]", "[a]", "[a|a]", "{Noun}", "[{noun}|b]", "a|b"]
)
def test_a_broken_template_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match=r"template|alternatives"):
        pieces_of(template)
