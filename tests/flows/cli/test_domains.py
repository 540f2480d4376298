"""`habitus domains`, and a domain of one's own in a config."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.cli.main import main
from flows.common.config import load_config, show
from schemas.load import domain_names, load_domains
from schemas.source import SourceError
from tests.docs.pages import worked_domain


@pytest.fixture
def gardening(tmp_path: Path) -> Path:
    """The tenth domain, as the page on domains has it."""
    (tmp_path / "gardening.yaml").write_text(worked_domain())
    return tmp_path / "gardening.yaml"


def test_list_names_every_domain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["domains", "list"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in out[1:]] == domain_names()
    assert main(["domains", "list", "--json"]) == 0
    facts = {fact["domain"]: fact for fact in json.loads(capsys.readouterr().out)}
    assert facts["food"]["items"] == 5832 and len(facts["food"]["dimensions"]) == 6
    assert 10 <= sum(fact["records_per_day"] for fact in facts.values()) <= 12


@pytest.mark.parametrize("name", domain_names())
def test_show_tells_of_every_part(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["domains", "show", name]) == 0
    out = capsys.readouterr().out
    domain = load_domains([name])[name]
    for part in (*domain.dimensions, *domain.activities, *domain.catalogue.categories, domain.tools[-1].name):
        assert part in out
    assert main(["domains", "show", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == domain.model_dump(mode="json")


def test_show_of_an_unknown_one_helps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["domains", "show", "fod"]) == 2
    assert "Did you mean `food`?" in capsys.readouterr().err


def test_check_says_ok_and_how_to_build(gardening: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["domains", "check", str(gardening)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("ok: gardening, 1,458 items, 6 dimensions, 7 tools")
    assert "warning" not in err and f"--set data.domains.gardening={gardening}" in err


def test_check_lists_everything_with_its_line(gardening: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = gardening.read_text()
    text = text.replace("choose: buy", "choose: buys").replace("full: {share: 0.3", "full: {share: 0.5")
    gardening.write_text(text)
    assert main(["domains", "check", str(gardening)]) == 2
    err = capsys.readouterr().err
    for start in (" choose: buys", "  light:"):
        line = next(number for number, one in enumerate(text.splitlines(), start=1) if start in one)
        assert f"gardening.yaml:{line}:" in err
    assert main(["domains", "check", str(gardening), "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False and {one["line"] is not None for one in told["violations"]} == {True}


def test_an_own_domain_joins_those_of_the_base(gardening: Path) -> None:
    config = load_config("smoke", [f"data.domains.gardening={gardening}"])
    assert list(config.data.domains) == [*load_config("smoke").data.domains, "gardening"]
    assert load_domains(config.data.domains)["gardening"].title == "Gardening"
    (gardening.parent / "mine.yaml").write_text(
        "extends: smoke\nname: mine\ndata:\n  domains: {gardening: gardening.yaml}\n"
    )
    assert load_config(gardening.parent / "mine.yaml").data == config.data


def test_its_content_and_not_its_place_is_data(gardening: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.yaml").write_text("# moved\n" + gardening.read_text())
    one = load_config("smoke", [f"data.domains.gardening={gardening}"])
    two = load_config("smoke", [f"data.domains.gardening={tmp_path / 'elsewhere.yaml'}"])
    assert one.data_digest() == two.data_digest()
    gardening.write_text(gardening.read_text().replace("kept: 0.6", "kept: 0.5"))
    assert load_config("smoke", [f"data.domains.gardening={gardening}"]).data_digest() != one.data_digest()


def test_a_shown_config_with_an_own_domain_loads_back_equal(gardening: Path, tmp_path: Path) -> None:
    config = load_config("smoke", [f"data.domains.gardening={gardening}"])
    (tmp_path / "shown.yaml").write_text(show(config))
    assert load_config(tmp_path / "shown.yaml") == config


def test_what_is_wrong_in_an_own_domain_is_told_with_the_rest_of_the_config(gardening: Path) -> None:
    gardening.write_text(gardening.read_text().replace("kept: 0.6", "kept: 6"))
    with pytest.raises(SourceError) as caught:
        load_config("smoke", [f"data.domains.gardening={gardening}", "data.users=0", "data.market=mars"])
    files = {violation.file: violation.field for violation in caught.value.violations}
    assert files[str(gardening)].endswith("kept") and len(caught.value.violations) == 3


@pytest.mark.parametrize(
    ("sets", "field", "part"),
    [
        ("data.domains.gardening=nowhere.yaml", "", "cannot be read"),
        ("data.domains.gardening=yes", "data.domains.gardening", "built_in"),
        ("data.domains.roses=GARDENING", "name", "calls this domain `roses`"),
    ],
)
def test_an_own_domain_that_is_none_is_refused(gardening: Path, sets: str, field: str, part: str) -> None:
    with pytest.raises(SourceError) as caught:
        load_config("smoke", [sets.replace("GARDENING", str(gardening))])
    assert [(one.field, part in f"{one.rule} {one.fix}") for one in caught.value.violations] == [(field, True)]


def test_a_file_named_like_a_built_in_domain_takes_its_place(tmp_path: Path) -> None:
    food = load_domains(["food"])["food"].model_dump(mode="json")
    food["title"] = "My food"
    (tmp_path / "food.yaml").write_text(json.dumps(food))
    config = load_config("smoke", [f"data.domains.food={tmp_path / 'food.yaml'}"])
    assert load_domains(config.data.domains)["food"].title == "My food"


def test_a_domain_with_less_than_a_screen_shows_is_refused_before_anything_is_made(gardening: Path) -> None:
    content = json.loads(json.dumps(load_domains(["food"])["food"].model_dump(mode="json")))
    content |= {"name": "snacks", "gates": {}}
    keep = ("cuisine", "base")
    content["dimensions"] = {name: content["dimensions"][name] for name in keep}
    for spec in content["dimensions"].values():
        spec["values"] = {name: one | {"share": 0.5} for name, one in list(spec["values"].items())[:2]}
        spec["tilts"] = []
    content["catalogue"]["price_factors"] = {}
    (gardening.parent / "snacks.yaml").write_text(json.dumps(content))
    with pytest.raises(SourceError, match="has 4 things, and a screen shows 6"):
        load_config("smoke", [f"data.domains.snacks={gardening.parent / 'snacks.yaml'}"])
    load_config("smoke", [f"data.domains.snacks={gardening.parent / 'snacks.yaml'}", "data.timelines.options_shown=4"])
