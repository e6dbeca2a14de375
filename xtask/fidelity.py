#!/usr/bin/env python3
"""Writes the tables of docs/fidelity.md from what `baler eval` measured.

    baler eval recorded/ --json plain.json --charts docs/charts
    baler eval recorded/ --recorded --json at-summaries.json
    cargo xtask fidelity plain.json at-summaries.json [--before older.json]

`--before` takes what an earlier program wrote by the first of these commands; without it the section
that compares the two stays as it is. Only what stands between `<!-- fidelity.py: NAME -->` and
`<!-- fidelity.py: end -->` is replaced, whole or not at all. Needs Python 3.9 and nothing else.
"""

import argparse
import json
import os
import re
import sys
from pathlib import Path

DOCUMENT = Path(__file__).parent.with_name("docs") / "fidelity.md"

# A figure's name in JSON and in the head of a column.
FIGURES = [
    ("recall", "recall"),
    ("in-context", "in context"),
    ("paths", "paths"),
    ("state", "state"),
    ("far", "far"),
    ("arguments", "arguments"),
    ("instructions", "instructions"),
    ("last-error", "last error"),
    ("wanted", "wanted"),
    ("unseen-kept", "unseen kept"),
    ("size", "size"),
    ("used", "used"),
]

# By which weights were set, and who is shown beside these sets and all others.
TUNED_BY = ["claude-code-entire", "codex-rollouts", "mini-swe-agent", "tau-bench"]
SHOWN_BY_WEIGHTS = ["tiered", "keep-last", "mask"]

# What is wanted of `tiered`, by budget in thousandths, beside twice the far recall of keep-last.
WANTED = {
    "recall": {50: 0.40, 100: 0.52, 250: 0.72, 500: 0.88},
    "instructions": {250: 0.95},
    "last-error": {50: 0.9, 100: 0.9, 250: 0.9, 500: 0.9},
}
# What is wanted of `tiered` at recorded compactions.
WANTED_AT_SUMMARIES = {"recall": 0.60, "far": 0.45, "instructions": 0.95, "last-error": 0.9}


class Wrong(Exception):
    """What is given cannot be used; the text says why and what to do."""


class Evaluation:
    """What one run of `baler eval --json` wrote."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, encoding="utf-8") as file:
                written = json.load(file)
            self.baselines = [name for name in written["baselines"] if name != "recorded"]
            self.results = written["conversations"]
            self.summary = {
                (row["budget_thousandths"], row["strategy"], row["set"]): row["figures"]
                for row in map(with_thousandths, written["summary"])
            }
            rows = [row for result in self.results for row in result["rows"]]
            self.budgets = sorted({row["budget"] for row in rows})
            self.strategies = list(dict.fromkeys(row["strategy"] for row in rows))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Wrong(
                f"`{path}` is not what `baler eval --json` writes ({error!r}); run that again"
            ) from error
        self.sets = sorted({result["set"] for result in self.results if result["rows"]})
        if any(row["measured"].get("evidence") is not None for row in rows):
            raise Wrong(
                f"`{path}` has a set with questions, whose table is not made here; leave it out (`--set`)"
            )

    def rows(self, strategy, budget):
        for result in self.results:
            for row in result["rows"]:
                if row["strategy"] == strategy and row["budget"] == budget:
                    yield result, row

    def interval(self, budget, strategy, group, figure):
        return self.summary.get((budget, strategy, group), {}).get(figure)

    def figure(self, budget, strategy, figure, group="all"):
        interval = self.interval(budget, strategy, group, figure)
        return None if interval is None else interval["mean"]

    def over_sets(self, budget, strategy, figure, sets):
        """The mean of these sets' means."""
        means = [self.figure(budget, strategy, figure, group) for group in sets]
        return mean([one for one in means if one is not None])


def with_thousandths(row):
    return {**row, "budget_thousandths": round(row["budget"] * 1000)}


def mean(values):
    return sum(values) / len(values) if values else None


def mean_of(found):
    """The mean over cuts, then over conversations, then over sets, of `(result, value)`."""
    sets = {}
    for result, value in found:
        if value is not None:
            sets.setdefault(result["set"], {}).setdefault(result["id"], []).append(value)
    return mean([mean([mean(cuts) for cuts in own.values()]) for own in sets.values()])


def plain(value):
    return "–" if value is None else f"{value:.2f}"


def with_interval(interval):
    if interval is None:
        return "–"
    # As `host/eval/src/statistics.rs`: of fewer conversations an interval says nothing.
    if interval["conversations"] < 10:
        return f"{interval['mean']:.2f} (of {interval['conversations']})"
    return f"{interval['mean']:.2f} ({interval['low']:.2f}–{interval['high']:.2f})"


def percent(budget):
    return f"{budget / 10:g} %"


def cell(text):
    """A name without what would end a line or a column."""
    return re.sub(r"[\n\r|]", " ", text)


def row_of(cells):
    return "| " + " | ".join(cells) + " |"


def table(head, rows):
    """A table; an empty first head is written as the command writes it."""
    first = row_of(head) if head[0] else "| " + row_of(head[1:])
    return "\n".join([first, "|" + "---|" * len(head), *map(row_of, rows)])


# The command's own tables.


def rests_on(evaluation):
    lines = []
    for group in evaluation.sets:
        own = [one for one in evaluation.results if one["set"] == group and one["rows"]]
        cuts = sum(len({row["cut"] for row in one["rows"]}) for one in own)
        lines.append(f"- {cell(group)}: {len(own)} conversations, {cuts} cuts")
    left_out = [one["skipped"] for one in evaluation.results]
    # Without their names, which the command prints.
    for why, said in [
        ("invalid", "break a rule of their format"),
        ("empty", "too little was needed later"),
        ("unread", "cannot be read"),
    ]:
        if why in left_out:
            lines.append(f"- left out, {said}: {left_out.count(why)}")
    return "\n".join(lines)


def fell_back(rows):
    ends = {}
    for row in rows:
        if row["measured"]["fell-back"]:
            end = row["measured"]["ended"] or "unknown"
            ends[end] = ends.get(end, 0) + 1
    return ", ".join(f"{times} {end}" for end, times in sorted(ends.items())) or "0"


def least_used(rows):
    # Baselines have no such figure, and neither has what an earlier program wrote.
    return plain(min((used for row in rows if (used := row["measured"].get("used")) is not None), default=None))


def times(rows):
    measured = sorted(
        row["measured"]["time-ms"] for row in rows if row["measured"]["time-ms"] is not None
    )
    if not measured:
        return "–"
    median, high = (measured[int(len(measured) * share)] for share in (0.5, 0.95))
    return f"{median:.1f}, {high:.1f}"


def all_sets(evaluation, budget):
    head = ["all sets, equal weight", *(name for _, name in FIGURES)]
    head += ["least used", "recent gone", "invalid", "over", "fell back", "ms median, 95 %"]
    rows = []
    for strategy in evaluation.strategies:
        own = [row for _, row in evaluation.rows(strategy, budget)]
        figures = [
            with_interval(evaluation.interval(budget, strategy, "all", figure))
            for figure, _ in FIGURES
        ]
        counts = [
            # Baselines have no such figure, and neither has what an earlier program wrote.
            str(sum(row["measured"].get(name) or 0 for row in own))
            for name in ("recent-gone", "is-invalid", "is-over")
        ]
        rows.append([strategy, *figures, least_used(own), *counts, fell_back(own), times(own)])
    return table(head, rows)


def by_set(evaluation, budget):
    rows = []
    for strategy in evaluation.strategies:
        cells = []
        for group in evaluation.sets:
            recall, far = (
                evaluation.figure(budget, strategy, figure, group) for figure in ("recall", "far")
            )
            cells.append(f"{plain(recall)} / {plain(far)}")
        rows.append([strategy, *cells])
    return table(["", *map(cell, evaluation.sets)], rows)


def has_choice(row):
    return row["room"] > row["floor"]


def where_chosen(evaluation, strategy, budget, figure):
    """A figure without the cuts at which the protected units take the whole budget."""
    return mean_of(
        (result, row["measured"][figure])
        for result, row in evaluation.rows(strategy, budget)
        if has_choice(row)
    )


def with_choice(evaluation, budget):
    first = [row for _, row in evaluation.rows(evaluation.strategies[0], budget)]
    without = sum(not has_choice(row) for row in first)
    if not without:
        return []
    rows = [
        [
            strategy,
            *(
                plain(where_chosen(evaluation, strategy, budget, figure))
                for figure in ("recall", "far", "last-error")
            ),
        ]
        for strategy in evaluation.strategies
    ]
    told = f"At {without} of {len(first)} cuts the protected units take the whole budget. Without these:"
    return [told, table(["", "recall", "far", "last error"], rows)]


def tables(evaluation):
    parts = []
    for budget in evaluation.budgets:
        at = f"At {percent(budget)} of the history"
        if budget == 0:
            at = "At recorded compactions, at the size of the recorded summary"
        parts += [f"### {at}", all_sets(evaluation, budget), "Recall / far, by set:"]
        parts += [by_set(evaluation, budget), *with_choice(evaluation, budget)]
    return parts


# What is worked out from them.


def not_reached(evaluation, at_summaries):
    """What is wanted and not there."""
    missed = []
    names = dict(FIGURES)

    def misses(name, value, wanted):
        # As it is shown: what is rounded up is reached.
        return value is not None and round(value, 2) < wanted and f"{names[name]} {plain(value)}"

    for figure, by_budget in WANTED.items():
        for budget, wanted in by_budget.items():
            value = evaluation.figure(budget, "tiered", figure)
            missing = misses(figure, value, wanted)
            if missing:
                told = f"- `tiered` at {percent(budget)}: {missing}, wanted {wanted:.2f}"
                if figure == "last-error":
                    chosen = where_chosen(evaluation, "tiered", budget, figure)
                    told += "; without the cuts at which the protected units take the whole budget "
                    told += plain(chosen)
                missed.append(told)
    for budget in evaluation.budgets:
        far = evaluation.figure(budget, "tiered", "far")
        last = evaluation.figure(budget, "keep-last", "far")
        if far is not None and last is not None and far < 2 * last:
            missed.append(
                f"- `tiered` at {percent(budget)}: far {plain(far)}, where keep-last has {plain(last)}"
            )
    for figure, wanted in WANTED_AT_SUMMARIES.items():
        missing = misses(figure, at_summaries.figure(0, "tiered", figure), wanted)
        if missing:
            missed.append(
                f"- `tiered` at recorded compactions: {missing}, wanted {wanted:.2f}"
            )
    return "Not reached, beside the sets in bold:\n\n" + ("\n".join(missed) or "- nothing")


def best_baselines(evaluation):
    rows = []
    for budget in evaluation.budgets:
        cells = []
        for group in evaluation.sets:
            own = evaluation.figure(budget, "tiered", "recall", group)
            others = [
                (figure, name)
                for name in evaluation.baselines
                if (figure := evaluation.figure(budget, name, "recall", group)) is not None
            ]
            if own is None or not others:
                cells.append("–")
                continue
            best, name = max(others)
            told = f"{own:.2f} / {best:.2f} {name}"
            cells.append(f"**{told}**" if round(own, 2) < round(best, 2) else told)
        rows.append([percent(budget), *cells])
    return table(["tiered / best baseline (which)", *map(cell, evaluation.sets)], rows)


def by_weights(evaluation):
    tuned = [group for group in evaluation.sets if group in TUNED_BY]
    others = [group for group in evaluation.sets if group not in TUNED_BY]
    rows = []
    for sets, name in [
        (tuned, "weights set by these four"),
        (others, "left out while tuning (tau-bench but for names)"),
    ]:
        for strategy in SHOWN_BY_WEIGHTS:
            cells = []
            for budget in evaluation.budgets:
                recall, far = (
                    evaluation.over_sets(budget, strategy, figure, sets)
                    for figure in ("recall", "far")
                )
                cells.append(f"{plain(recall)} / {plain(far)}")
            rows.append([f"{strategy}, {name}", *cells])
    return table(["recall / far, equal weight", *map(percent, evaluation.budgets)], rows)


# What stays has no part in the choice: outputs that nobody saw, and other protected units.
KINDS = [
    ("no unseen outputs", lambda row: row["measured"]["unseen-kept"] is None),
    (
        "unseen outputs and other protected units take less than half of the room",
        lambda row: row["measured"]["unseen-kept"] is not None and 2 * row["floor"] < row["room"],
    ),
    (
        "half and more",
        lambda row: row["measured"]["unseen-kept"] is not None and 2 * row["floor"] >= row["room"],
    ),
]


def unseen(before, after):
    """The same cuts with the same room, before and after."""
    figures = ["recall", "far", "instructions", "last-error"]
    rows = []
    for kind, is_of_kind in KINDS:
        for strategy in ("tiered",):
            for budget in after.budgets:
                known = {
                    (result["set"], result["id"], row["cut"], row["room"]): row
                    for result, row in before.rows(strategy, budget)
                }
                pairs = []
                for result, row in after.rows(strategy, budget):
                    old = known.get((result["set"], result["id"], row["cut"], row["room"]))
                    if old is not None and is_of_kind(row):
                        pairs.append((result, old, row))
                cells = []
                for figure in figures:
                    old = mean_of((result, old["measured"][figure]) for result, old, _ in pairs)
                    new = mean_of((result, row["measured"][figure]) for result, _, row in pairs)
                    cells.append(f"{plain(old)} → {plain(new)}")
                name = f"{strategy} at {percent(budget)}, {kind}"
                rows.append([name, str(len(pairs)), *cells])
    head = ["before → with unseen outputs kept", "cuts"]
    return table([*head, *(dict(FIGURES)[figure] for figure in figures)], rows)


def replaced(path, document, mark, text):
    """The document of this path with this text between its marks, such as `fidelity.py: tables`."""
    begin, end = f"<!-- {mark} -->\n", f"<!-- {mark.split(':')[0]}: end -->"
    if document.count(begin) != 1:
        raise Wrong(f"`{path}` has no single line `{begin.strip()}`; put it where the part belongs")
    head, rest = document.split(begin)
    if end not in rest:
        raise Wrong(f"`{path}` has no `{end}` behind `{begin.strip()}`; put it there")
    return f"{head}{begin}{text}\n{rest[rest.index(end):]}"


def write(path, text):
    staged = path.with_name(path.name + ".new")
    staged.write_text(text, encoding="utf-8")
    os.replace(staged, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("plain", help="what `baler eval DATA --json FILE` wrote")
    parser.add_argument("at_summaries", help="the same of `baler eval DATA --recorded`")
    parser.add_argument("--before", metavar="FILE", help="the first of these by an earlier program")
    arguments = parser.parse_args()
    try:
        after, at_summaries = Evaluation(arguments.plain), Evaluation(arguments.at_summaries)
        if 0 in after.budgets or at_summaries.budgets != [0]:
            raise Wrong("the first file is of a plain run, the second of one with `--recorded`")
        parts = {
            "tables": [rests_on(after), *tables(after), *tables(at_summaries)],
            "wanted": [not_reached(after, at_summaries)],
            "baselines": [best_baselines(after)],
            "weights": [by_weights(after)],
        }
        if arguments.before:
            parts["unseen"] = [unseen(Evaluation(arguments.before), after)]
        document = DOCUMENT.read_text(encoding="utf-8")
        for name, texts in parts.items():
            document = replaced(DOCUMENT, document, f"fidelity.py: {name}", "\n\n".join(texts))
        write(DOCUMENT, document)
    except Wrong as wrong:
        sys.exit(f"error: {wrong}")


if __name__ == "__main__":
    main()
