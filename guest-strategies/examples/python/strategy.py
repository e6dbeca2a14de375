"""Keeps what must stay and, of the rest, the newest units: at most `units` of them, and no more than fit."""

from math import inf

from baler_strategy import BadConfig, compacted, spans, strategy, unchanged
from wit_world.exports.strategy import Piece_Keep, Plan, Reason, Report, Situation
from wit_world.imports import history
from wit_world.imports.history import Figures, Traits, UnitKind


class Free:
    """What the limits leave: tokens, bytes, and pictures and other files."""

    def __init__(self, situation: Situation):
        self.tokens = situation.budget - situation.overhead - situation.opening_note
        self.bytes = inf if situation.max_bytes is None else situation.max_bytes
        self.media = inf if situation.max_media is None else situation.max_media

    def take(self, figures: Figures, unit: int) -> bool:
        """Subtracts a unit, also one that does not fit. Returns whether all still fits."""
        # The overhead has the tokens of instructions already.
        if figures.kinds[unit] is not UnitKind.INSTRUCTIONS:
            self.tokens -= figures.tokens[unit]
        self.bytes -= figures.bytes[unit]
        self.media -= figures.media[unit]
        return min(self.tokens, self.bytes, self.media) >= 0


@strategy(
    name="keep-newest",
    version="0.1.0",
    description="Keeps the newest units that fit.",
    config={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "units": {
                "type": "integer",
                "minimum": 0,
                "default": 40,
                "description": "How many units to keep at most, beside those that must stay.",
            }
        },
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
        free = Free(situation)
        for unit, kept in enumerate(stays):
            if kept:
                free.take(figures, unit)
        left = config["units"]
        for unit in reversed(range(len(stays))):
            if stays[unit]:
                continue
            if left == 0 or not free.take(figures, unit):
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
