"""Compacts, validates and evaluates recorded sessions on a Ray cluster (`ray[data]` 2).

```python
sessions = baler.ray.read_files("s3://logs/sessions/")          # or read_lines, or any dataset with a column of sessions
compacted = baler.ray.compact(sessions, budget="30%")
compacted.write_parquet("s3://logs/compacted/")
```

A session is a request body, a list of messages or a session log, as bytes or text. Each worker process has one host. A
session that cannot be used is a row with an `error`, and never ends a job. If a worker or a node is lost, Ray does its
work again elsewhere.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Unpack

import ray
import ray.data

from . import _calls, _compaction, _options, _strategy
from ._errors import Error, HostError, OptionError
from ._host import Host
from ._options import CompactOptions, ReadOptions

#: The column of the sessions.
COLUMN = "session"


def read_files(paths: str | list[str], **options: Any) -> ray.data.Dataset:
    """Returns a dataset with a row for each file, which holds one session: columns `path` and `session`.

    Paths are files or folders, on disk or in an object store. Options: those of `ray.data.read_binary_files`.
    """
    files = ray.data.read_binary_files(paths, include_paths=True, **options)
    return files.rename_columns({"bytes": COLUMN})


def read_lines(paths: str | list[str], **options: Any) -> ray.data.Dataset:
    """Returns a dataset with a row for each line, which holds one session as JSON: column `session`.

    Options: those of `ray.data.read_text`.
    """
    return ray.data.read_text(paths, **options).rename_columns({"text": COLUMN})


def compact(
    dataset: ray.data.Dataset,
    *,
    column: str = COLUMN,
    host: Mapping[str, Any] | None = None,
    concurrency: int | tuple[int, int] | None = None,
    batch_size: int = 32,
    **options: Unpack[CompactOptions],
) -> ray.data.Dataset:
    """Compacts the sessions in a column. Adds the columns `compacted` (the session in the form that it has), `receipt`
    (JSON), `outcome`, `strategy`, `tokens_before`, `tokens_after` and `error`.

    `host`: arguments of the `baler.Host` of each worker; default: no state folder, so no archive. `concurrency`: the
    number of workers, or the fewest and the most; default: from one to one per core. `batch_size`: sessions that a
    worker gets at a time. Options: `baler.CompactOptions`; strategies may be names, files and `baler.Strategy`.
    """
    return _mapped(dataset, _compacted, column, host, concurrency, batch_size, dict(options))


def validate(
    dataset: ray.data.Dataset,
    *,
    column: str = COLUMN,
    concurrency: int | tuple[int, int] | None = None,
    batch_size: int = 32,
    **options: Unpack[ReadOptions],
) -> ray.data.Dataset:
    """Validates the sessions in a column. Adds the columns `format`, `valid`, `errors`, `warnings`, `violations` (JSON)
    and `error`. Arguments as in `compact`.
    """
    return _mapped(dataset, _validated, column, None, concurrency, batch_size, dict(options))


def _compacted(session: Any, options: dict[str, Any]) -> dict[str, Any]:
    result = _compaction.compact(session, **options)
    receipt = result.receipt
    return {
        "compacted": result.body,
        "receipt": json.dumps(receipt),
        "outcome": receipt["outcome"],
        "strategy": receipt["strategy"],
        "tokens_before": receipt["tokens"]["before"],
        "tokens_after": receipt["tokens"]["after"],
    }


def _validated(session: Any, options: dict[str, Any]) -> dict[str, Any]:
    found = _compaction.validate(session, **options)
    violations = [[violation.rule, violation.severity, violation.message] for violation in found.violations]
    return {
        "format": found.format,
        "valid": found.is_valid,
        "errors": found.errors,
        "warnings": found.warnings,
        "violations": json.dumps(violations),
    }


#: The columns that each function adds, with their values for a session that cannot be used.
_NONE: dict[Callable[..., Any], dict[str, Any]] = {
    _compacted: dict.fromkeys(("compacted", "receipt", "outcome", "strategy", "tokens_before", "tokens_after")),
    _validated: dict.fromkeys(("format", "valid", "errors", "warnings", "violations")),
}


class _Worker:
    """A process with a host."""

    def __init__(self, work: Callable[..., Any], column: str, host: dict[str, Any], options: dict[str, Any]) -> None:
        self._work, self._column = work, column
        self._options = {**options, "host": Host(**host)}

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        rows = [self._row(session) for session in batch[self._column].tolist()]
        added = {name: [row[name] for row in rows] for name in rows[0]}
        return {**batch, **added}

    def _row(self, session: Any) -> dict[str, Any]:
        try:
            return {**self._work(session, self._options), "error": None}
        except HostError:
            # The worker is unfit, not the session.
            raise
        except (Error, TypeError) as error:
            return {**_NONE[self._work], "error": f"{type(error).__name__}: {error}"}


def _mapped(
    dataset: ray.data.Dataset,
    work: Callable[..., Any],
    column: str,
    host: Mapping[str, Any] | None,
    concurrency: int | tuple[int, int] | None,
    batch_size: int,
    options: dict[str, Any],
) -> ray.data.Dataset:
    if "host" in options:
        raise TypeError("`host`: expected the arguments of a Host as a dict, since each worker makes its own")
    # Invalid options end the call here. Otherwise each session would report them.
    _, goal = _options.divide(options)
    chain = _strategy.chain(goal.pop("strategy", None), "tiered")
    Host(**{**(host or {}), "state": None, "archive": "off"})._native.check(
        chain, _options.as_json(goal), _calls.begin()
    )
    if concurrency is None:
        concurrency = (1, max(1, int(ray.cluster_resources().get("CPU", 1))))
    return dataset.map_batches(
        _Worker,
        fn_constructor_args=(work, column, dict(host or {"state": None}), options),
        batch_size=batch_size,
        concurrency=concurrency,
        # numpy arrays of objects keep bytes and texts as they are.
        batch_format="numpy",
    )


def evaluate(corpus: str | Path, *options: str, parts: int | None = None) -> str:
    """Runs `baler eval` over a folder of recorded conversations on the cluster, and returns what it prints.

    `corpus`: a folder that all nodes have under this path. `options`: those of `baler eval`. `parts`: how many pieces the
    work is cut into; default: four for each core. The figures are those of one machine: each piece measures its
    conversations with the same program, and the same program puts them together.
    """
    return _evaluated([str(corpus), *options], parts)


def _evaluated(arguments: list[str], parts: int | None) -> str:
    if any(one.split("=")[0] in ("--resume", "--part") for one in arguments):
        raise OptionError("`--resume` and `--part` are not for an evaluation on a cluster, which uses them itself")
    parts = parts or max(1, 4 * int(ray.cluster_resources().get("CPU", 1)))
    folder = os.getcwd()
    pending = [_part.remote(folder, _measuring(arguments), number + 1, parts) for number in range(parts)]
    lines: list[bytes] = []
    done = 0
    while pending:
        ready, pending = ray.wait(pending, num_returns=1)
        for part in ray.get(ready):
            # The first line says what was measured, and is the same in all parts.
            lines.extend(part if not lines else part[1:])
            done += 1
            print(f"{done} of {parts} parts are measured", file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "measured.jsonl"
        file.write_bytes(b"".join(lines))
        return _baler(["eval", *arguments, "--resume", str(file)], folder)


def _measuring(arguments: list[str]) -> list[str]:
    """Returns the arguments without those that say where results go, which are for the end."""
    kept: list[str] = []
    is_value = False
    for argument in arguments:
        if is_value:
            is_value = False
        elif argument in _RESULTS:
            is_value = True
        elif argument.split("=")[0] not in _RESULTS:
            kept.append(argument)
    return kept


_RESULTS = ("--json", "--markdown", "--charts", "--threads")


@ray.remote(max_retries=-1)
def _part(folder: str, arguments: list[str], number: int, parts: int) -> list[bytes]:
    """Measures a part, and returns the lines of its file."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "part.jsonl"
        part = ["--part", f"{number}/{parts}", "--threads", "1", "--resume", str(file)]
        _baler(["eval", *arguments, *part], folder)
        return file.read_bytes().splitlines(keepends=True)


def _baler(arguments: list[str], folder: str) -> str:
    """Runs the program that the package brings, in this folder."""
    here = Path(sysconfig.get_path("scripts")) / "baler"
    program = str(here) if here.exists() else shutil.which("baler")
    if program is None:
        raise HostError("the program `baler` is not in the path of this worker; install `baler-compaction` there")
    ended = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise HostError(f"`baler {arguments[0]}` failed: {ended.stderr.strip()[-2_000:]}")
    return ended.stdout


def main() -> None:
    """`python -m baler.ray eval CORPUS [OPTIONS of baler eval]`: what `baler eval --engine ray` runs."""
    if sys.argv[1:2] != ["eval"]:
        sys.exit(f"usage: {main.__doc__}")
    ray.init(address="auto" if "RAY_ADDRESS" in os.environ else None, log_to_driver=False)
    try:
        print(_evaluated(sys.argv[2:], None), end="")
    except (Error, ray.exceptions.RayTaskError) as error:
        cause = getattr(error, "cause", error)
        sys.exit(f"error: {cause}")


if __name__ == "__main__":
    main()
