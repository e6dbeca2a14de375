"""Whatever cannot be used raises a typed exception that names the place, and changes nothing."""

import math
from collections import OrderedDict
from collections.abc import Mapping
from types import MappingProxyType

import pytest

import baler

USER = {"role": "user", "content": "Water the ferns."}


class Raises(Mapping):
    def __getitem__(self, key):
        raise RuntimeError("no")

    def __iter__(self):
        return iter(["role"])

    def __len__(self):
        return 1


def circle() -> list:
    messages: list = [USER]
    messages.append(messages)
    return messages


BAD = {
    "nothing": (None, "an object or a list"),
    "a number": (7, "an object or a list"),
    "an empty text": ("", "empty"),
    "no JSON": ("hello", "not JSON"),
    "cut off": (b'{"messages": [{"role": "user", "content": "wa', "not JSON"),
    "not UTF-8": (b'[{"role": "user", "content": "\xff"}]', "byte at offset 30"),
    "no messages": ({"model": "gpt-4o"}, "no conversation"),
    "an unknown role": ([{"role": "wizard", "content": "hi"}], "message 1"),
    "a lone surrogate": ([USER, {"role": "user", "content": "a\ud800b"}], r"`\[1\]\.content`.*lone surrogate"),
    "a lone surrogate in a text": ('[{"role": "user", "content": "\ud800"}]', "lone surrogate"),
    "a surrogate as a key": ([{"\udcff": 1}], "lone surrogate"),
    "not a number": ([{**USER, "x": math.nan}], r"`\[0\]\.x`: nan|NaN"),
    "infinity": ([{**USER, "x": [1, -math.inf]}], r"`\[0\]\.x\[1\]`"),
    "a huge integer": ([{**USER, "x": 10**5000}], "too many digits"),
    "a generator": ((message for message in [USER]), r"generator.*list\("),
    "a generator inside": ({"messages": iter([USER])}, r"`messages`.*list\("),
    "a set": ([{1, 2}], "found set"),
    "bytes inside": ([{"role": "user", "content": b"hi"}], "found bytes"),
    "a key that is not a str": ([{1: 2}], "keys of type str, found one of type int"),
    "an object that raises": ([USER, Raises()], r"`\[1\]`.*Raises"),
    "a class": ([dict], "found type"),
    "a list that contains itself": (circle(), "nested more than"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("function", [baler.compact, baler.count, baler.validate, baler.repair])
def test_what_is_no_conversation_raises_a_conversation_error(host, name, function):
    given, message = BAD[name]
    with pytest.raises(baler.ConversationError, match=f"(?s){message}") as raised:
        function(given, host=host)
    assert isinstance(raised.value, baler.Error) and isinstance(raised.value, ValueError)
    assert "panic" not in str(raised.value) and len(str(raised.value)) < 600


def test_the_cause_of_an_object_that_raises_is_named(host):
    with pytest.raises(baler.ConversationError) as raised:
        baler.compact([Raises()], host=host)
    assert isinstance(raised.value.__cause__, RuntimeError)


def test_integers_of_any_size_and_other_mappings_are_read(host):
    numbers = [{**USER, "x": 2**64}, OrderedDict(USER), MappingProxyType(USER), {**USER, "x": (1, True, None, 1.5)}]
    assert baler.count(numbers, host=host) > 0
    result = baler.compact(numbers, budget=10_000, host=host)
    assert result.messages == numbers


OPTIONS = {
    "an unknown option": ({"budgets": 5}, "no option is called `budgets`"),
    "a budget of nothing": ({"budget": 0}, "`budget`"),
    "a negative budget": ({"budget": -5}, "`budget`"),
    "a share above all": ({"budget": "150%"}, "`budget`"),
    "a share that is not a number": ({"budget": math.nan}, "budget"),
    "a huge budget": ({"budget": 2**70}, "`budget`"),
    "a truth": ({"budget": True}, "`budget`"),
    "pins by another name": ({"pins": "last"}, '`pins`: expected "first-user"'),
    "a pin below 0": ({"pins": [-1]}, "`pins`"),
    "a pin that does not exist": ({"pins": [4_000]}, "4000|4,000"),
    "a format by another name": ({"format": "xml"}, "`format`: expected auto, openai-chat"),
    "a format that is not a str": ({"format": 5}, "`format`"),
    "a trigger by another name": ({"trigger": "noon"}, "`trigger`"),
    "instructions of nobody": ({"trigger": "overflow", "instructions": "keep"}, "`instructions`"),
    "no time": ({"timeout": -1.0}, "`timeout`"),
    "used by nobody": ({"used": 0}, "`used`"),
    "a policy by another name": ({"policy": {"excerpt": True}}, "`policy`"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_that_are_not_allowed_raise_an_option_error(body, host, name):
    options, message = OPTIONS[name]
    with pytest.raises((baler.OptionError, baler.ConversationError), match=message):
        baler.compact(body, host=host, **options)


def test_a_strategy_of_another_type_is_a_type_error(body, host):
    with pytest.raises(TypeError, match="`strategy`: expected a name"):
        baler.compact(body, strategy=5, host=host)
    with pytest.raises(TypeError, match="`host`"):
        baler.compact(body, host="localhost")


def test_should_compact_says_what_a_share_is_of(body, host):
    for budget in ("80%", 0.5, None):
        with pytest.raises(baler.OptionError, match="context_window"):
            baler.should_compact(body, budget=budget, host=host)
