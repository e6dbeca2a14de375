"""What every strategy in Python needs around its `compact`: what it declares, its config, and its errors.

An exception that leaves an export of a component is a trap: the host runs another strategy, and nobody learns why.
`strategy` makes of it a failure that the strategy declares, with a message, and logs where it was raised
(`baler compact --words` shows the log).
"""

import json
import traceback
from itertools import groupby
from typing import Any, Iterable, Optional

from componentize_py_types import Err
from wit_world.exports.strategy import (
    Decision_HostDecides,
    Failure_BadConfig,
    Failure_Other,
    Introspection,
    Metric,
    Outcome_Compacted,
    Outcome_Unchanged,
    Plan,
    Report,
    Span,
    Value_Count,
    Value_Flag,
    Value_Ratio,
    Value_Text,
)
from wit_world.imports import log


class BadConfig(Exception):
    """The config is not one. Its message is for people."""


def strategy(
    *,
    name: str,
    version: str,
    description: str,
    config: Optional[dict] = None,
    reasons: Iterable[str] = (),
    metrics: Iterable[str] = (),
):
    """Makes a class with `compact(self, situation, config)` a strategy. The class must be called `Strategy`.

    `config` is a JSON Schema. `compact` gets the config as a dict, with the schema's defaults. Other methods are
    optional: `check(self, config)` raises `BadConfig`, `should_compact(self, situation, config)` returns a decision.
    """
    schema = json.dumps(config) if config else ""
    declared = Introspection(
        name=name,
        version=version,
        description=description,
        config_schema=schema,
        reason_codes=list(reasons),
        metric_names=list(metrics),
        timeout_ms=None,
        memory_mib=None,
        fuel=None,
        metadata=[],
    )

    def decorate(cls):
        def settings(self, text: Optional[str]) -> dict:
            found = {key: value["default"] for key, value in (config or {}).get("properties", {}).items() if "default" in value}
            try:
                found.update(json.loads(text) if text else {})
            except (ValueError, TypeError) as error:
                raise BadConfig(f"not a JSON object: {error}") from None
            if check := getattr(self, "check", None):
                check(found)
            return found

        decide = getattr(cls, "should_compact", lambda *_: Decision_HostDecides())
        plan = cls.compact

        @_declares_failures
        def introspect(self, text):
            settings(self, text)
            return declared

        @_declares_failures
        def should_compact(self, situation, text):
            return decide(self, situation, settings(self, text))

        @_declares_failures
        def compact(self, situation, text):
            return plan(self, situation, settings(self, text))

        cls.introspect, cls.should_compact, cls.compact = introspect, should_compact, compact
        return cls

    return decorate


def _declares_failures(function):
    def declaring(*arguments):
        try:
            return function(*arguments)
        except Err:
            raise
        except BadConfig as error:
            raise Err(Failure_BadConfig(str(error))) from None
        except Exception as error:  # pylint: disable=broad-except
            log.emit(log.Level.ERROR, _where(error))
            raise Err(Failure_Other(f"{type(error).__name__}: {error}")) from None

    return declaring


def _where(error: BaseException) -> str:
    # `traceback.format_exc` looks for the source files, and without WASI that is a trap.
    lines = [f"{type(error).__name__}: {error}"]
    for frame, line in traceback.walk_tb(error.__traceback__):
        lines.append(f"  {frame.f_code.co_filename}:{line} in {frame.f_code.co_name}")
    return "\n".join(lines)


def spans(chosen: Iterable[bool]) -> list[Span]:
    """The runs of units for which `chosen` is true."""
    numbered = enumerate(chosen)
    runs = ([index for index, _ in run] for is_chosen, run in groupby(numbered, key=lambda unit: unit[1]) if is_chosen)
    return [Span(first=run[0], count=len(run)) for run in runs]


def compacted(plan: Plan, **metrics: Any) -> Report:
    """A report with a plan."""
    return Report(Outcome_Compacted(plan), _metrics(metrics))


def unchanged(why: str, **metrics: Any) -> Report:
    """A report that leaves the conversation as it is."""
    return Report(Outcome_Unchanged(why), _metrics(metrics))


def _metrics(metrics: dict) -> list[Metric]:
    kinds = {bool: Value_Flag, int: Value_Count, float: Value_Ratio, str: Value_Text}
    return [Metric(name.replace("_", "-"), kinds[type(value)](value)) for name, value in metrics.items()]
