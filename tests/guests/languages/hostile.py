"""Attacks the host as its config says: loops, recurses, eats memory, or raises. It uses the layer of the example, which
makes a declared failure of what it raises."""

from baler_strategy import strategy, unchanged

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


@strategy(
    name="hostile-python",
    version="0.1.0",
    description="Attacks the host that runs it.",
    config=SCHEMA,
)
class Strategy:
    def compact(self, situation, config):
        attacks = {"loop": loop, "recurse": recurse, "memory": memory, "throw": throw}
        return unchanged(str(attacks[config["attack"]]()))
