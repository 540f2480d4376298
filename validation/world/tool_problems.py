"""Every way in which declared tools cannot work, told before anybody calls one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from schemas.tooling import Effect, ParameterSpec, Precondition, ToolSpec
from validation.world.effects import EFFECT_RULES, TAKING
from validation.world.preconditions import PRECONDITION_RULES
from validation.world.views import NARROWED_BY, READING, SEARCH_FILTERS

INSTANTS = ("starts_at", "ends_at")
NUMBERS = ("integer", "number")
KINDS: dict[str, tuple[tuple[str, ...], str]] = {
    "quantity": (("integer",), "counts pieces"),
    "level": (("integer",), "is a step of a device"),
    "max_price_cents": (NUMBERS, "is an amount"),
    "is_on": (("boolean",), "says yes or no"),
    **dict.fromkeys(("text", "title", "query"), (("string",), "is text")),
    **dict.fromkeys(INSTANTS, (("string",), "is an instant")),
}
"""Arguments that are no ids: their types, and what they are."""
COVERS: dict[Effect, dict[Effect, Precondition]] = {
    "charge_balance": {
        "add_order": "balance_covers_price",
        "add_booking": "balance_covers_price",
        "order_cart": "balance_covers_cart",
    },
    "take_stock": {
        "add_order": "item_is_in_stock",
        "add_booking": "item_is_in_stock",
        "order_cart": "cart_is_in_stock",
    },
}
"""What an effect needs before it, by what it follows."""


def tool_problems(tools: Iterable[ToolSpec]) -> list[str]:
    """Why the tools of a domain cannot work as declared, one sentence each with its fix; empty if all can."""
    tools = list(tools)
    problems: list[str] = []
    names: set[str] = set()
    for tool in tools:
        if tool.name in names:
            problems.append(f"two tools are called `{tool.name}`; rename one")
        names.add(tool.name)
        problems += [f"tool `{tool.name}`: {problem}" for problem in _of_one(tool)]
    return problems + list(_of_all(tools))


def _of_one(tool: ToolSpec) -> Iterator[str]:
    yield from _of_verb(tool)
    yield from _of_parameters(tool)
    yield from _of_preconditions(tool)
    yield from _of_effects(tool)
    yield from _of_money(tool)


def _of_verb(tool: ToolSpec) -> Iterator[str]:
    if tool.verb in READING and tool.effects:
        yield f"`{tool.verb}` only reads; take the effects {tool.effects} away"
    if tool.verb not in READING and not tool.effects:
        yield f"`{tool.verb}` does nothing; give it effects, or make it a `get`"
    if tool.verb == "search" and tool.target != "offers":
        yield f"`search` looks through `offers`, not `{tool.target}`; make it a `get`"
    changed = {target for effect in tool.effects for target in EFFECT_RULES[effect].shown_by}
    if tool.effects and tool.target not in changed:
        yield f"its answer shows `{tool.target}`, which it does not change; make the target one of {sorted(changed)}"


def _of_parameters(tool: ToolSpec) -> Iterator[str]:
    """What preconditions and effects read is there, required and of its type, and nothing is there that nothing reads."""
    by_preconditions = [name for rule in tool.requires for name in PRECONDITION_RULES[rule].arguments]
    by_effects = [name for effect in tool.effects for name in EFFECT_RULES[effect].reads]
    for who, names in (("preconditions", by_preconditions), ("effects", by_effects)):
        for name in dict.fromkeys(names):
            if name not in tool.parameters or not tool.parameters[name].required:
                yield f"its {who} read `{name}`; make it a required parameter"
    read = {*by_preconditions, *by_effects}
    read |= {name for effect in tool.effects for name in EFFECT_RULES[effect].may_read}
    read |= set(SEARCH_FILTERS) if tool.verb == "search" else set()
    read |= set(NARROWED_BY[tool.target]) if tool.verb == "get" else set()
    for name, spec in tool.parameters.items():
        if name not in read:
            readable = f"; what it can read is {', '.join(sorted(read))}" if read else ""
            yield f"nothing reads its parameter `{name}`; take it away{readable}"
        else:
            yield from _of_parameter(name, spec)


def _of_parameter(name: str, spec: ParameterSpec) -> Iterator[str]:
    types, what = KINDS.get(name, (("string",), "is an id"))
    whole = {"quantity": " with `minimum: 1`", "level": " with `minimum` and `maximum`"}.get(name, "")
    wrong = spec.type not in types
    wrong |= name == "quantity" and (spec.minimum is None or spec.minimum < 1)
    wrong |= name == "level" and (spec.minimum is None or spec.maximum is None)
    if wrong:
        article = "an" if types[0] == "integer" else "a"
        yield f"`{name}` {what}; make it {article} {types[0]}{whole}"
    if name in INSTANTS and spec.format != "date-time":
        yield f"`{name}` is an instant; give it `format: date-time`"
    if name not in INSTANTS and spec.format is not None:
        yield f"`{name}` is no instant; take its `format` away"
    if spec.enum is not None and (spec.type != "string" or not spec.enum or len(set(spec.enum)) < len(spec.enum)):
        yield f"`{name}` has an `enum` that is no list of different texts; list texts, or take it away"
    if (spec.minimum is not None or spec.maximum is not None) and spec.type not in NUMBERS:
        yield f"`{name}` has bounds and is no number; take `minimum` and `maximum` away"
    if spec.minimum is not None and spec.maximum is not None and spec.minimum > spec.maximum:
        yield f"`{name}` has a `minimum` above its `maximum`; swap them"


def _of_preconditions(tool: ToolSpec) -> Iterator[str]:
    for place, name in enumerate(tool.requires):
        if name in tool.requires[:place]:
            yield f"`{name}` is required twice; list it once"
        for earlier in PRECONDITION_RULES[name].after:
            if earlier not in tool.requires[:place]:
                yield f"`{name}` relies on `{earlier}`; require that before it"


def _of_effects(tool: ToolSpec) -> Iterator[str]:
    for place, effect in enumerate(tool.effects):
        if effect in tool.effects[:place]:
            yield f"`{effect}` happens twice; list it once"
        rule = EFFECT_RULES[effect]
        needs = [*rule.needs, *(name for taken, name in COVERS.get(effect, {}).items() if taken in tool.effects)]
        for name in needs:
            if name not in tool.requires:
                yield f"`{effect}` needs the precondition `{name}`; require it"
        if rule.follows and not set(rule.follows) & set(tool.effects[:place]):
            yield f"`{effect}` must come after one of {list(rule.follows)}; reorder the effects"
    taken = [effect for effect in tool.effects if effect in TAKING]
    if len(taken) > 1:
        yield f"{taken} take an item in several ways; keep one and make tools of the others"
    if {"close_order", "close_booking"} <= set(tool.effects):
        yield "it closes an order and a booking; make two tools of it"


def _of_money(tool: ToolSpec) -> Iterator[str]:
    """An order that is not paid could be refunded, and a cart that stays could be bought twice."""
    for effect in ("add_order", "order_cart"):
        if effect in tool.effects and "charge_balance" not in tool.effects:
            yield f"`{effect}` costs something; add `charge_balance` after it"
    if "order_cart" in tool.effects:
        if "clear_cart" not in tool.effects[tool.effects.index("order_cart") :]:
            yield "`order_cart` leaves the cart full; add `clear_cart` after it"
        if "clear_cart" in tool.effects[: tool.effects.index("order_cart")]:
            yield "`clear_cart` leaves nothing for `order_cart`; reorder the effects"
    if tool.fee_cents and "charge_fee" not in tool.effects:
        yield f"nothing charges its fee of {tool.fee_cents} cents; add `charge_fee`, or take `fee_cents` away"
    if "charge_fee" in tool.effects and not tool.fee_cents:
        yield "`charge_fee` charges nothing; give it `fee_cents`"


def _of_all(tools: Sequence[ToolSpec]) -> Iterator[str]:
    """What tools change, a `get` of the domain shows; what one puts back, another has taken."""
    got = {tool.target for tool in tools if tool.verb == "get"}
    for tool in tools:
        for effect in tool.effects:
            targets = EFFECT_RULES[effect].shown_by
            if not got & set(targets):
                yield f"tool `{tool.name}`: nothing shows what `{effect}` changes; add a `get` of {' or '.join(targets)}"
    for close, adds in (("close_order", ("add_order", "order_cart")), ("close_booking", ("add_booking",))):
        if not any({close, "return_stock"} <= set(tool.effects) for tool in tools):
            continue
        for tool in tools:
            if set(adds) & set(tool.effects) and "take_stock" not in tool.effects:
                yield f"tool `{tool.name}`: it takes no stock that a tool with `return_stock` puts back; add `take_stock`"
