"""Claims about names: none of them is a brand that exists."""

from __future__ import annotations

import re

from schemas.domain import Domain
from schemas.load import domain_names, load_domains

WELL_KNOWN = """
adidas aldi amazon armani asics asus audi audible bosch bmw burberry canon chanel chipotle chrysler citroen coca
colgate costco danone deezer dell deliveroo disney doordash duolingo dyson ebay expedia facebook fendi ferrari fiat
fitbit garmin gillette goodreads google grubhub gucci heineken heinz hilton honda hulu hyatt hyundai ikea instacart
instagram kellogg kia kindle kroger lego lenovo levi lexus lidl lululemon lyft marriott mastercard mazda mcdonald
microsoft myfitnesspal nescafe nestle netflix nike nikon nintendo nissan nokia nvidia oreo oppo panasonic paypal
peloton pepsi peugeot philips pinterest playstation porsche prada puma reebok renault roblox rolex roomba ryanair
safeway samsung shein siemens skype snapchat sonos sony spotify starbucks strava subaru tesco tesla tiktok toyota
tripadvisor tupperware twitch twitter uber uniqlo vimeo vodafone volkswagen volvo walmart whatsapp xbox xiaomi yelp
youtube zalando zara
"""
BRANDS = frozenset(WELL_KNOWN.split())


def names_in(domain: Domain) -> list[str]:
    """Everything in a domain file that may end up in a table."""
    shop = domain.catalogue
    return [
        *(app.name for app in domain.apps),
        *(noun for spec in shop.categories.values() for noun in spec.nouns),
        *(word for spec in domain.dimensions.values() for value in spec.values.values() for word in value.words),
        *(text for spec in domain.dimensions.values() for text in (*spec.says, *spec.contrasts)),
        *(phrase for spec in domain.distractors.values() for phrase in spec.words.values()),
        *shop.titles,
        *shop.asides,
        *(text for spec in domain.personal.values() for text in (*spec.titles, spec.description)),
    ]


def brands_in(text: str) -> set[str]:
    """Brands that stand in the text as a word, or that a word without spaces and hyphens is."""
    whole = text.casefold()
    return BRANDS & {*re.findall(r"[a-z]+", whole), re.sub(r"[^a-z]", "", whole)}


def test_no_domain_names_a_brand_that_exists() -> None:
    found = {
        f"{name}: {text}": sorted(brands_in(text))
        for name, domain in load_domains(domain_names()).items()
        for text in names_in(domain)
        if brands_in(text)
    }
    assert not found


def test_a_brand_is_found_whatever_its_case_and_place() -> None:
    assert len(BRANDS) > 100
    assert brands_in("A pair of NIKE-style shoes") == {"nike"}
    assert brands_in("You Tube") == {"youtube"}
    assert brands_in("a zaragoza plate") == set()


def test_no_two_domains_share_an_app() -> None:
    apps = [app.name.casefold() for domain in load_domains(domain_names()).values() for app in domain.apps]
    assert len(apps) == len(set(apps))
