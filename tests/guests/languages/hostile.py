"""Attacks the host as its config says: loops, recurses, eats memory, or raises."""

import json

import wit_world
from wit_world.exports.strategy import Decision_HostDecides, Introspection, Outcome_Unchanged, Report

SCHEMA = {"type": "object", "properties": {"attack": {"enum": ["loop", "recurse", "memory", "throw"]}}}


def loop():
    while True:
        pass


def recurse():
    return recurse() + 1


def memory():
    kept = []
    while True:
        kept.append(bytearray(b"x") * (1 << 20))


def throw():
    raise ValueError("on purpose")


class Strategy(wit_world.exports.Strategy):
    def introspect(self, config):
        return Introspection(
            "hostile-python", "0.1.0", "Attacks the host that runs it.", json.dumps(SCHEMA), [], [], None, None, None, []
        )

    def should_compact(self, situation, config):
        return Decision_HostDecides()

    def compact(self, situation, config):
        why = {"loop": loop, "recurse": recurse, "memory": memory, "throw": throw}[json.loads(config)["attack"]]()
        return Report(Outcome_Unchanged(str(why)), [])
