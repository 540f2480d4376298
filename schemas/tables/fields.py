"""The dictionary of fields: one name, one meaning, one type, in every table that has it."""

from __future__ import annotations

import pyarrow as pa

from schemas.locales import DAYS
from schemas.tables.core import TIMESTAMP, Field

TEXT = pa.string()
TEXTS = pa.list_(pa.string())

DOMAINS_DOC = "Area of life: a domain file in schemas/domains/."
NOISE_KINDS = (
    "accidental",
    "other_person",
    "exploration",
    "promotion",
    "substitution",
    "ambient",
    "duplicate",
    "corrupt",
    "late",
)
DRIFT_KINDS = ("abrupt", "gradual", "seasonal", "temporary")
CONTRADICTION_KINDS = (
    "update",
    "temporary_state",
    "conditional",
    "oscillation",
    "stated_vs_done",
    "source_error",
    "cross_domain",
    "propagated",
)
POLICIES = (
    "ignore_event",
    "ignore_duplicate",
    "read_through",
    "attribute_to_other",
    "follow_new_value",
    "follow_state_until_end",
    "trust_behaviour",
    "trust_statement",
    "help_with_goal",
    "follow_context",
    "ask",
)
FAMILIES = ("act", "know", "profile", "respond", "predict", "decide", "cross", "ask")
FAILURES = (
    "stale_value",
    "counts_noise",
    "believes_claim",
    "follows_population",
    "ignores_history",
    "other_person",
    "wrong_context",
    "breaks_budget",
    "over_personalises",
    "discloses_sensitive",
    "over_privilege",
    "unexplained",
)
ACTIONS = (
    "search",
    "view",
    "compare",
    "add",
    "remove",
    "order",
    "checkout",
    "buy",
    "adjust",
    "arrive",
    "book",
    "play",
    "purchase",
    "log",
    "send",
    "invite",
    "cancel",
    "review",
    "receive",
    "say",
    "reply",
    "post",
)
CLOCKS = ("trait", "habit", "state")
POLARITIES = ("likes", "dislikes")
INTEREST_AREAS = (
    "sports_outdoor",
    "entertainment",
    "gaming",
    "food_drink",
    "travel_city_exploration",
    "photography_creation",
    "pets",
)
TRAITS = ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")
"""The Big Five, columns of `personas`."""
TRAIT_SCORES = (20, 80)
"""Lowest and highest T-score."""
DEVICES = ("phone", "laptop", "tablet", "watch", "tv", "speaker")
"""What people own and apps run on. Everybody has a phone or a laptop; what an app names besides is nobody's own."""
WEATHERS = ("dry", "rain", "snow", "heat", "cold")
OPERATORS = ("is", "is_not", "one_of", "at_most", "at_least", "before", "after", "near", "with", "without")

FIELDS: dict[str, Field] = {
    # identity
    "user_id": Field(TEXT, "The person whose record this is: `u` and six or more digits, counted from zero."),
    "actor_id": Field(TEXT, "A person in the user's circle, the user included. Never another user of the release."),
    "session_id": Field(TEXT, "One sitting with one app. Opaque."),
    "event_id": Field(TEXT, "One line of the log. Opaque: it tells neither order nor kind."),
    "item_id": Field(
        TEXT,
        "A thing: of the catalogue, such as a dish, a product, or of the user's own. Those begin with the user id.",
    ),
    "image_id": Field(TEXT, "A picture of the table `images`."),
    "tool_id": Field(TEXT, "A tool that an agent may call."),
    "task_id": Field(TEXT, "One question to an agent."),
    "group_id": Field(
        TEXT, "Tasks with equal request, options and tools, put to people for whom other options are right."
    ),
    "twin_id": Field(TEXT, "The task whose history differs from this one's in a single ledger row."),
    "parent_task_id": Field(TEXT, "The `act` task whose constraint this `know` task asks about."),
    "constraint_id": Field(TEXT, "One requirement of one task's answer."),
    "injection_id": Field(TEXT, "One row of the ledger."),
    "disposition_id": Field(TEXT, "One latent fact about a person."),
    "candidate_id": Field(TEXT, "A task before selection."),
    "owner_user_id": Field(TEXT, "Whose personal thing this is; null for things that everybody can see."),
    # people
    "locale": Field(TEXT, "Language and country of the account, such as `en_US`."),
    "time_zone": Field(TEXT, "IANA name of the zone the person lives in, such as `America/Chicago`."),
    "week_start": Field(
        TEXT, "First day of the week in the land of the locale, as its calendars show it (CLDR).", values=DAYS
    ),
    "signed_up_at": Field(TIMESTAMP, "When the account began. No event is earlier."),
    "sample_weight": Field(
        pa.float64(), "How many people of the population this person stands for, relative to 1.", low=0
    ),
    "given_name": Field(TEXT, "First name, NFC, from the Faker pool of the locale, sex and decade of birth."),
    "family_name": Field(
        TEXT, "Last name, NFC, from the Faker pool of the locale; by sex where the language has two forms."
    ),
    "birth_date": Field(pa.date32(), "Date of birth."),
    "age_years": Field(pa.int16(), "Full years lived at the start of the window.", unit="years", low=0, high=120),
    "sex": Field(TEXT, "As in ATUS-CPS.", values=("female", "male")),
    "education": Field(TEXT, "Highest degree, with the codes of ATUS-CPS; by ISCED in the population `eurozone`."),
    "income_usd": Field(pa.int32(), "Yearly household income.", unit="USD", low=0),
    "occupation": Field(
        TEXT, "Occupation group of ATUS-CPS, or of ISCO-08 in the population `eurozone`; null where not employed."
    ),
    "labour_status": Field(TEXT, "Labour force status, with the codes of ATUS-CPS."),
    "household_size": Field(pa.int16(), "People in the household, the person included.", unit="people", low=1, high=16),
    "marital_status": Field(TEXT, "Marital status, with the codes of ATUS-CPS."),
    "children_ages": Field(
        pa.list_(pa.int16()),
        "Ages of the person's children under 18 at home at the start of the window, the eldest first.",
        unit="years",
        low=0,
        high=17,
    ),
    "region": Field(TEXT, "Census region; the country in the population `eurozone`."),
    "home_type": Field(TEXT, "Tenure of the home, with the codes of ATUS-CPS."),
    "chronotype": Field(
        TEXT, "When in the day the person is most awake.", values=("morning", "intermediate", "evening")
    ),
    **{
        name: Field(
            pa.int16(),
            f"Big Five trait {name}, as a T-score: mean 50 and standard deviation 10 over the population.",
            unit="T-score",
            low=TRAIT_SCORES[0],
            high=TRAIT_SCORES[1],
        )
        for name in TRAITS
    },
    "devices": Field(TEXTS, "Devices that the person owns: a phone or a laptop at least.", values=DEVICES),
    "relation": Field(
        TEXT,
        "What the actor is to the user.",
        values=("self", "partner", "child", "parent", "flatmate", "friend", "colleague"),
    ),
    "attributes": Field(
        pa.list_(
            pa.struct([pa.field("name", pa.string(), nullable=False), pa.field("value", pa.string(), nullable=False)])
        ),
        "Further facts about the actor, as name and value.",
    ),
    "has_account_access": Field(
        pa.bool_(), "Whether this person can act in the user's account: the user, and one of the household at the most."
    ),
    "tag": Field(TEXT, "A fine interest, of schemas/interests.yaml."),
    "area": Field(TEXT, "The area that the tag belongs to.", values=INTEREST_AREAS),
    "polarity": Field(TEXT, "Whether the person is drawn to it or wants none of it.", values=POLARITIES),
    "began_at": Field(TIMESTAMP, "When the interest began."),
    "is_recent": Field(pa.bool_(), "Whether it is new: three months old at the most when the window begins."),
    "rate_factor": Field(
        pa.float64(),
        "How often the person does anything in the domain, relative to the mean over all people; 0 for never.",
        low=0,
    ),
    "attribute_factor": Field(
        pa.float64(), "The part of `rate_factor` that comes of the person's attributes; 1 where none has a say.", low=0
    ),
    # the population
    "attribute": Field(TEXT, "An attribute of people, by the name that configs have for it."),
    "column_name": Field(TEXT, "The column of `personas` that holds it, or the number behind it."),
    "given": Field(TEXT, "Attributes that say who is meant, joined by ` | `; empty for everybody."),
    "among": Field(TEXT, "Their values, in that order; empty for everybody."),
    "place": Field(pa.int16(), "Place of the value among those of the attribute, in their order, from 0.", low=0),
    "label": Field(TEXT, "A value as text, or what a band of numbers is called."),
    "band_from": Field(pa.float64(), "The least number of the band; null where the value stands for itself."),
    "band_to": Field(
        pa.float64(), "Where the band ends: the next one begins there. Null where it is open, or no band."
    ),
    "share": Field(pa.float64(), "Share of the population that is meant by `among` and has the value.", low=0, high=1),
    "drawn_share": Field(
        pa.float64(), "The same of the people who are drawn: another share where groups are oversampled.", low=0, high=1
    ),
    # things
    "domain": Field(TEXT, DOMAINS_DOC),
    "domains": Field(TEXTS, "Every domain that the task touches."),
    "category": Field(TEXT, "The shelf a thing stands on, such as a department; of personal things the kind."),
    "title": Field(TEXT, "What a shop would call the thing."),
    "description": Field(TEXT, "A sentence or two in plain words."),
    "price_cents": Field(pa.int64(), "Price for one, in the smallest unit of the currency.", unit="cents", low=0),
    "currency": Field(TEXT, "ISO 4217 code."),
    "min_age": Field(
        pa.int16(), "Age from which people may have it; null for everybody.", unit="years", low=0, high=99
    ),
    "opens_hour": Field(
        pa.int16(), "Local hour from which it can be had; null for at all hours.", unit="hours", low=0, high=23
    ),
    "closes_hour": Field(
        pa.int16(), "Local hour at which that ends; above 24 after midnight.", unit="hours", low=1, high=28
    ),
    "dimension": Field(TEXT, "Something one can prefer inside a domain, such as `food.cuisine`."),
    "value": Field(TEXT, "A value of the dimension."),
    "image": Field(
        pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())]),
        "The picture, in the layout of `datasets`.",
    ),
    # the log
    "app": Field(TEXT, "The app that wrote the line."),
    "device": Field(TEXT, "The device it ran on."),
    "started_at": Field(TIMESTAMP, "When the session began."),
    "ended_at": Field(TIMESTAMP, "When it ended; in the ledger: when the effect ended."),
    "utc_offset_min": Field(
        pa.int16(), "Offset of the user's wall clock from UTC at that time.", unit="minutes", low=-840, high=840
    ),
    "event_count": Field(pa.int32(), "Lines of the log in this session.", unit="events", low=1),
    "seq": Field(
        pa.int32(), "Position of the line in the session, from 0. For show: it moves when lines are added.", low=0
    ),
    "at": Field(TIMESTAMP, "When it happened."),
    "logged_at": Field(TIMESTAMP, "When the line reached the log; never before `at`."),
    "action": Field(TEXT, "What was done.", values=ACTIONS),
    "options": Field(TEXTS, "Item ids on show, in the order they were shown."),
    "origin_item_id": Field(TEXT, "The place from which somebody came who arrived."),
    "starts_at": Field(TIMESTAMP, "When what was booked begins, or when somebody who arrived had set out."),
    "ends_at": Field(TIMESTAMP, "When what was booked ends, or when the way to the place ended."),
    "place_time_zone": Field(TEXT, "IANA name of the zone in which the stay lies that was booked."),
    "quantity": Field(pa.int32(), "How many; of a booking, for how many people.", unit="pieces", low=1),
    "rating": Field(pa.int16(), "Stars given.", unit="stars", low=1, high=5),
    "series": Field(
        pa.list_(pa.int32()), "One value for every hour of the local day, such as its steps, from midnight on.", low=0
    ),
    "text": Field(TEXT, "What was typed or said."),
    "source": Field(TEXT, "Where the line comes from, as a log would know.", values=("self", "notification", "import")),
    # the world
    "date": Field(pa.date32(), "A local day."),
    "weather": Field(TEXT, "The weather of the day, everywhere in the zone.", values=WEATHERS),
    "temperature_c": Field(pa.int16(), "Highest temperature of the day.", unit="°C", low=-60, high=60),
    "holiday": Field(
        TEXT, "What the public holiday is called, in English where it has such a name; several joined by `; `."
    ),
    # tools and tasks
    "name": Field(TEXT, "The name an agent calls the tool by."),
    "parameters": Field(
        TEXT, "JSON: in `tools` a JSON Schema of the arguments, in `injections` what the kind records."
    ),
    "state": Field(TEXT, "JSON of the tool state at the task's time."),
    "family": Field(TEXT, "Form of the task.", values=FAMILIES),
    "asked_at": Field(TIMESTAMP, "When the task is put. Only what lies strictly before may be used."),
    "request": Field(TEXT, "What the user asks, in words."),
    "tool_ids": Field(TEXTS, "Tools at hand."),
    # sealed
    "weights": Field(
        pa.list_(
            pa.struct(
                [pa.field("value", pa.string(), nullable=False), pa.field("weight", pa.float64(), nullable=False)]
            )
        ),
        "Share of choices that each value would get, all else equal. Sums to 1.",
    ),
    "strength": Field(pa.float64(), "How much a full match adds to the utility of an option.", unit="log-odds", low=0),
    "clock": Field(TEXT, "How fast the fact changes: years, weeks to months, or days.", values=CLOCKS),
    "valid_from": Field(TIMESTAMP, "From when on the fact holds."),
    "valid_to": Field(TIMESTAMP, "Until when, exclusive; null while it still holds at the end of the window."),
    "condition": Field(TEXT, "In which context the fact holds; null means always."),
    "cause": Field(TEXT, "Why: a life event, a state, or the injection that this one follows from."),
    "is_sensitive": Field(pa.bool_(), "Whether the fact belongs to health, religion, money or the like."),
    "kind": Field(TEXT, "Kind of the disturbance.", values=NOISE_KINDS + DRIFT_KINDS + CONTRADICTION_KINDS),
    "policy": Field(TEXT, "What a correct reader concludes.", values=POLICIES),
    "is_contested": Field(pa.bool_(), "Whether reasonable losses would change the conclusion."),
    "event_ids": Field(TEXTS, "The lines that the disturbance touched or made."),
    "before": Field(TEXT, "What stood in the clean record, or held before."),
    "after": Field(TEXT, "What stands there now, or holds after."),
    "onset_at": Field(TIMESTAMP, "When the effect began."),
    "is_noise": Field(pa.bool_(), "Whether the line tells nothing about the user, or not what it seems to tell."),
    "noise_kind": Field(
        TEXT, "The first kind of noise, in the written order, that touched the line.", values=NOISE_KINDS
    ),
    "injection_ids": Field(TEXTS, "Every ledger row that touched the line."),
    "driver_disposition_ids": Field(TEXTS, "The dispositions that held for the actor when the line came about."),
    "speaker": Field(TEXT, "Who put it in words.", values=("embedded", "llm", "fallback")),
    "alt_text": Field(TEXT, "What the picture shows."),
    "operator": Field(TEXT, "How the answer is compared with the value.", values=OPERATORS),
    "hardness": Field(TEXT, "Whether the answer fails without it.", values=("hard", "soft")),
    "weight": Field(pa.float64(), "Share of the constraint in the utility of an answer.", low=0, high=1),
    "status": Field(
        TEXT, "What kind of fact stands behind it.", values=("stable", "recent", "temporary", "conditional", "goal")
    ),
    "implicitness_intended": Field(
        TEXT, "How openly the fact was meant to show.", values=("L0", "L1", "L2", "L3", "L4", "L5")
    ),
    "implicitness_measured": Field(
        TEXT, "How openly it shows, by likelihood ratios.", values=("L0", "L1", "L2", "L3", "L4", "L5")
    ),
    "evidence_event_ids": Field(TEXTS, "Every line that speaks for or against the value."),
    "window_event_ids": Field(TEXTS, "The shortest stretch of lines that suffices."),
    "necessary_event_ids": Field(TEXTS, "Lines without which the value does not follow; null where others would do."),
    "effective_evidence": Field(
        pa.float64(), "Natural log of the odds that the evidence adds for the value.", unit="nats"
    ),
    "disposition_ids": Field(TEXTS, "The dispositions behind the constraint."),
    "family_true": Field(TEXT, "What the task truly is, where the form is shared.", values=FAMILIES),
    "proof": Field(TEXT, "How robust the gold is to wrong models.", values=("core", "model_dependent")),
    "is_hard": Field(pa.bool_(), "Whether simple counting fails here."),
    "gold": Field(TEXT, "JSON of the right answers."),
    "decoy_trajectories": Field(TEXT, "JSON: for every wrong option the calls that lead to it."),
    "reason": Field(TEXT, "Why the candidate did not ship."),
    "figures": Field(TEXT, "JSON of the numbers behind the reason."),
    "p_decision": Field(
        pa.float64(), "Probability that the gold options are best, given what is visible.", low=0, high=1
    ),
    "p_true": Field(pa.float64(), "Probability of the true value.", low=0, high=1),
    "top_value": Field(TEXT, "The value believed most."),
    "p_top": Field(pa.float64(), "Probability of that value.", low=0, high=1),
    "p_window_only": Field(pa.float64(), "Probability of the true value from its window alone.", low=0, high=1),
    "p_without_evidence": Field(
        pa.float64(), "Probability of the true value with its evidence removed.", low=0, high=1
    ),
    "p_prior": Field(pa.float64(), "Probability of the true value before any record.", low=0, high=1),
}
STRATA = Field(
    pa.struct(
        [
            pa.field("constraint_count", pa.int16()),
            pa.field("distance_days", pa.float64()),
            pa.field("implicitness", pa.string()),
            pa.field("noise_nearby", pa.float64()),
            pa.field("has_conflict", pa.bool_()),
            pa.field("domain_count", pa.int16()),
            pa.field("history_events", pa.int32()),
        ]
    ),
    "Difficulty of the task, by which results are reported.",
)
TASK_OPTIONS = Field(
    pa.list_(
        pa.struct(
            [
                pa.field("option_id", pa.string(), nullable=False),
                pa.field("label", pa.string(), nullable=False),
                pa.field("item_id", pa.string()),
            ]
        )
    ),
    "What the agent chooses from, in the order shown.",
)
ANSWER_OPTIONS = Field(
    pa.list_(
        pa.struct(
            [
                pa.field("option_id", pa.string(), nullable=False),
                pa.field("is_gold", pa.bool_(), nullable=False),
                pa.field("failures", pa.list_(pa.string()), nullable=False),
                pa.field("violated_constraint_ids", pa.list_(pa.string()), nullable=False),
            ]
        )
    ),
    "Every option with what choosing it would mean.",
)
LEDGER_FAMILY = Field(TEXT, "What kind of ledger row this is.", values=("noise", "drift", "contradiction"))


def pick(*names: str, **special: Field) -> dict[str, Field]:
    """Columns by name, in the order given; ``special`` replaces the field of a name whose shape differs in one table."""
    return {name: special.get(name) or FIELDS[name] for name in names}
