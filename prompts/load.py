"""The phrase banks, read and checked: what is said, as data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from prompts.templates import slots_of, variants_of
from schemas.config.core import Section, broken
from schemas.source import check, read_yaml

Stance = Literal["usual", "for_now", "back_to_usual"]
Stars = Literal["1", "2", "3", "4", "5"]
STANCES: tuple[Stance, ...] = get_args(Stance)
ANY = "any"
"""Stands for the domains that have no bank of their own."""
FOLDER = Path(__file__).parent / "phrases"


def _uses_inputs(template: str, info: ValidationInfo) -> str:
    """The template, if it uses exactly the inputs that its bank declares."""
    try:
        used = slots_of(template)
    except ValueError as error:
        fix = "write `[a|b|]` for alternatives and `{name}` for an input"
        raise broken(f"the template is broken: {error}", fix) from error
    declared = set(info.data.get("inputs", used))
    if used != declared:
        listed = ", ".join(f"{{{name}}}" for name in sorted(declared)) or "none"
        rule = f"the template must use exactly the inputs of its bank: {listed}"
        raise broken(rule, "change the template or `inputs`")
    return template


def _is_sentence(template: str) -> str:
    if not template.rstrip("]")[-1:].isalnum() and not template.endswith(("|]", "}")):
        raise broken("the template ends with punctuation", "leave it out: the speaker's style sets it")
    return template


Template = Annotated[str, Field(min_length=1), AfterValidator(_uses_inputs)]
Sentence = Annotated[Template, AfterValidator(_is_sentence)]


class Bank(Section):
    """Templates with equal inputs."""

    inputs: list[str]
    """What the speaker fills in."""
    templates: Annotated[list[Template], Field(min_length=1)]

    @model_validator(mode="after")
    def _distinct(self) -> Bank:
        repeated = [text for text, count in Counter(self.templates).items() if count > 1]
        if repeated:
            raise broken(f"templates stand more than once: {repeated}", "keep one of each")
        return self


class SentenceBank(Bank):
    """Templates that the speaker's style finishes."""

    templates: Annotated[list[Sentence], Field(min_length=1)]


class StanceBank(SentenceBank):
    """Statements of one stance, and the expressions that give it away."""

    cues: Annotated[list[str], Field(min_length=1)]


def _takes(*names: str) -> Callable[[Bank], Bank]:
    """A check that a bank declares the inputs that the code fills in."""

    def verified(bank: Bank) -> Bank:
        if bank.inputs != list(names):
            raise broken(f"`inputs` must be [{', '.join(names)}]", "these are what the speaker has to give here")
        return bank

    return verified


Closed = Annotated[Bank, AfterValidator(_takes())]
ClosedSentences = Annotated[SentenceBank, AfterValidator(_takes())]


class SayBanks(Section):
    """What people tell the assistant."""

    negations: list[str]
    """Words that turn a statement round; a sentence with one of them is read by its whole wording or not at all."""
    usual: Annotated[StanceBank, AfterValidator(_takes("noun", "words"))]
    for_now: Annotated[StanceBank, AfterValidator(_takes("noun", "words"))]
    back_to_usual: Annotated[StanceBank, AfterValidator(_takes("noun"))]
    small_talk: ClosedSentences
    """Talk that asserts no taste."""
    lead: Closed
    """What may come before any of these, with its punctuation."""
    tail: ClosedSentences
    """What may come after any of these, as a sentence of its own."""

    def stance(self, name: Stance) -> StanceBank:
        """The bank of a stance."""
        return {"usual": self.usual, "for_now": self.for_now, "back_to_usual": self.back_to_usual}[name]

    @model_validator(mode="after")
    def _cues_tell_stances_apart(self) -> SayBanks:
        cues = {name: one_of(self.stance(name).cues) for name in STANCES}
        problems = []
        for name in STANCES:
            for template in self.stance(name).templates:
                found = [{other for other in STANCES if cues[other].search(text)} for text in variants_of(template)]
                if any(stances != {name} for stances in found):
                    rule = f"must have cues of {name} and of no other stance in every wording"
                    problems.append(f"`{template}` (say.{name}) {rule}")
        for label, bank in (("small_talk", self.small_talk), ("lead", self.lead), ("tail", self.tail)):
            for template in bank.templates:
                if any(cue.search(text) for text in variants_of(template) for cue in cues.values()):
                    problems.append(f"`{template}` (say.{label}) must have no cue of any stance")
        if problems:
            raise broken("; ".join(problems), "reword the templates or change `cues`")
        return self


class ReplyBanks(Section):
    """What the assistant answers, to a statement and to small talk alike; it repeats nothing of what was said."""

    answer: ClosedSentences
    close: ClosedSentences
    """The sentence after the answer."""


class SearchBanks(Section):
    """Queries typed into the search of an app."""

    plain: Annotated[Bank, AfterValidator(_takes("thing"))]
    detailed: Annotated[Bank, AfterValidator(_takes("thing", "detail"))]


class RequestBanks(Section):
    """What is asked of an agent, by domain."""

    act: dict[str, Closed]
    know: dict[str, Annotated[Bank, AfterValidator(_takes("noun"))]]


class StyleBank(Section):
    """What speakers put into a text besides words."""

    emoji: Annotated[list[str], Field(min_length=1)]


class Phrases(Section):
    """Everything that is said in one language."""

    schema_version: Literal[1]
    language: str
    say: SayBanks
    reply: ReplyBanks
    review: dict[Stars, ClosedSentences]
    search: dict[str, SearchBanks]
    request: RequestBanks
    style: StyleBank

    @model_validator(mode="after")
    def _complete(self) -> Phrases:
        missing = [f"review.{stars}" for stars in get_args(Stars) if stars not in self.review]
        by_domain = {
            "search": set(self.search),
            "request.act": set(self.request.act),
            "request.know": set(self.request.know),
        }
        missing += [f"{name}.{ANY}" for name, domains in by_domain.items() if ANY not in domains]
        if missing:
            raise broken(f"banks are missing: {', '.join(missing)}", "add them")
        return self


def one_of(expressions: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds any of the expressions as words of their own, whatever their case."""
    listed = "|".join(re.escape(text) for text in sorted(expressions, key=lambda text: (-len(text), text)))
    return re.compile(rf"(?<!\w)(?:{listed})(?!\w)", re.IGNORECASE)


@cache
def load_phrases(language: str = "en") -> Phrases:
    """The banks of a language. Raises ``SourceError`` with every violation, each with its line."""
    return check(Phrases, read_yaml(FOLDER / f"{language}.yaml"))
