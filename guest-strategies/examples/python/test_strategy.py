"""Runs the strategy in this Python, with a conversation of its own. `baler build` makes the bindings that it needs."""

import json
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent / "build" / "bindings"))

from componentize_py_types import Err
from wit_world.exports.strategy import Failure_BadConfig, Failure_Other
from wit_world.imports import history, log
from wit_world.imports.history import Traits, UnitKind

import strategy


def figures(*units):
    kinds, traits, tokens, media = zip(*units)
    # Each token has four bytes.
    return SimpleNamespace(kinds=kinds, traits=traits, tokens=tokens, bytes=[count * 4 for count in tokens], media=media)


HARBOUR = figures(
    (UnitKind.INSTRUCTIONS, Traits.PROTECTED, 50, 0),
    (UnitKind.USER, Traits.PROTECTED, 20, 0),
    (UnitKind.STEP, Traits.CALLS, 300, 0),
    (UnitKind.STEP, Traits.CALLS, 200, 1),
    (UnitKind.USER, Traits.PROTECTED, 10, 0),
    (UnitKind.STEP, Traits.CALLS, 100, 0),
)


def situation(budget, max_bytes=None, max_media=None):
    return SimpleNamespace(budget=budget, overhead=50, opening_note=0, max_bytes=max_bytes, max_media=max_media)


class KeepsTheNewest(unittest.TestCase):
    def compact(self, budget, config="", **limits):
        with mock.patch.object(history, "units", return_value=HARBOUR):
            return strategy.Strategy().compact(situation(budget, **limits), config)

    def kept(self, budget, config="", **limits):
        plan = self.compact(budget, config, **limits).outcome.value
        return [(piece.value.first, piece.value.count) for piece in plan.pieces]

    def test_keeps_what_must_stay_and_the_newest_that_fit(self):
        self.assertEqual(self.kept(380), [(0, 2), (3, 3)])
        self.assertEqual(self.kept(379), [(0, 2), (4, 2)])
        self.assertEqual(self.kept(0), [(0, 2), (4, 1)])

    def test_keeps_what_fits_in_bytes_pictures_and_other_files(self):
        # Those that must stay have 320 bytes.
        self.assertEqual(self.kept(10_000, max_bytes=1520), [(0, 2), (3, 3)])
        self.assertEqual(self.kept(10_000, max_bytes=1519), [(0, 2), (4, 2)])
        self.assertEqual(self.kept(10_000, max_media=0), [(0, 2), (4, 2)])

    def test_keeps_at_most_units(self):
        self.assertEqual(self.kept(10_000, '{"units": 1}'), [(0, 2), (4, 2)])

    def test_leaves_a_conversation_that_fits(self):
        report = self.compact(10_000)
        self.assertEqual(report.outcome.value, "all of it is new enough")
        self.assertEqual([(metric.name, metric.value.value) for metric in report.metrics], [("removed", 0)])

    def test_says_of_a_config_what_is_wrong(self):
        for config in ['{"units": -1}', '{"units": "two"}', "[", "3"]:
            with self.assertRaises(Err) as raised:
                strategy.Strategy().introspect(config)
            self.assertIsInstance(raised.exception.value, Failure_BadConfig, config)
        self.assertEqual(json.loads(strategy.Strategy().introspect(None).config_schema)["type"], "object")

    def test_declares_an_exception_and_logs_where_it_was(self):
        with mock.patch.object(history, "units", side_effect=ZeroDivisionError("no units")):
            with mock.patch.object(log, "emit") as emit, self.assertRaises(Err) as raised:
                strategy.Strategy().compact(situation(100), "")
        self.assertEqual(raised.exception.value, Failure_Other("ZeroDivisionError: no units"))
        self.assertIn("strategy.py", emit.call_args.args[1])


if __name__ == "__main__":
    unittest.main()
