"""Keeps what must stay and, of the rest, the newest units: at most `units` of them, and no more than fit."""

from baler_strategy import BadConfig, compacted, spans, strategy, unchanged
from wit_world.exports.strategy import Piece_Keep, Plan, Reason, Report, Situation
from wit_world.imports import history
from wit_world.imports.history import Traits, UnitKind


@strategy(
    name="keep-newest",
    version="0.1.0",
    description="Keeps the newest units that fit.",
    config={
        "type": "object",
        "additionalProperties": False,
        "properties": {"units": {"type": "integer", "minimum": 0, "default": 40}},
    },
    reasons=["old"],
    metrics=["removed"],
)
class Strategy:
    def check(self, config: dict) -> None:
        units = config["units"]
        if not isinstance(units, int) or units < 0:
            raise BadConfig("`units` is a whole number, 0 or more")

    def compact(self, situation: Situation, config: dict) -> Report:
        # One list for each figure, in the order of the units.
        figures = history.units()
        stays = [Traits.PROTECTED in traits for traits in figures.traits]
        # Instructions are part of the overhead already.
        costs = [
            0 if kind is UnitKind.INSTRUCTIONS else tokens
            for kind, tokens in zip(figures.kinds, figures.tokens)
        ]
        free = situation.budget - situation.overhead - situation.opening_note
        free -= sum(cost for cost, kept in zip(costs, stays) if kept)
        left = config["units"]
        for unit in reversed(range(len(stays))):
            if stays[unit]:
                continue
            free -= costs[unit]
            if left == 0 or free < 0:
                break
            stays[unit] = True
            left -= 1
        removed = spans(not kept for kept in stays)
        count = sum(span.count for span in removed)
        if count == 0:
            return unchanged("all of it is new enough", removed=count)
        plan = Plan(
            pieces=[Piece_Keep(span) for span in spans(stays)],
            reasons=[Reason(units=span, code="old") for span in removed],
        )
        return compacted(plan, removed=count)
