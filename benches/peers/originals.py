"""Holds the strategies of the gallery against their originals: the same messages of the same conversations.

    benches/peers/originals.sh

Each original runs on its own, without a budget. The component runs with a budget of one token less than the conversation,
so that its rule alone decides. Prints a table in Markdown, never text of messages. Differences are counted by their
reason, and the exit code is 1 if there is one without.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import generated
import rules

#: A text that baler marked as its own.
MARK = re.compile(r"<baler:(\w+)[^>]*>(.*)</baler:\1>", re.DOTALL)
#: A placeholder with baler's mark may be longer than an output with fewer characters.
SHORT = 300

REASONS = {
    "protected": "the contract protects it",
    "short": "the placeholder with baler's mark would be longer",
    "split": "a step is not split",
    "budget": "the rule saves no token here, so one old unit goes for the budget",
    "unexplained": "**unexplained**",
}


class Baler:
    """The program, with the components of a folder."""

    def __init__(self, program: str, components: Path, scratch: Path) -> None:
        self.program, self.components, self.scratch = program, components, scratch

    def compact(self, messages: list[dict], strategy: str, config: dict, budget: str) -> dict:
        file = self.scratch / "request.json"
        file.write_text(json.dumps({"model": "gpt-4o", "messages": messages}))
        options = ["--strategy", strategy, "--config", json.dumps(config), "--budget", budget]
        options += ["--state", str(self.scratch / "state"), "--archive", "off", "--project", "off", "--json"]
        done = subprocess.run([self.program, "compact", str(file), *options], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{strategy} with {config}: exit code {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def component(self, messages: list[dict], name: str, config: dict, budget: int) -> dict:
        return self.compact(messages, str(self.components / f"{name}.wasm"), config, str(budget))

    def size(self, messages: list[dict]) -> rules.Size:
        """Counts. Tokens of a unit are divided among its messages by their lengths."""
        result = self.compact(messages, "sliding-window", {}, "90%")
        counts, rest = [], iter(messages)
        for unit in result["units"]:
            if unit["unit"] is None:
                continue
            lengths = [len(json.dumps(next(rest))) for _ in range(unit["messages"])]
            shares = [unit["tokens-before"] * length // sum(lengths) for length in lengths]
            shares[-1] += unit["tokens-before"] - sum(shares)
            counts += shares
        tokens = result["receipt"]["tokens"]
        return rules.Size(tokens["before"], tokens["overhead"], counts)


def outcomes(messages: list[dict], result: dict) -> tuple[list, str | None, list[dict]]:
    """Returns the outcome of each message, as an original does, the summary, and the unit of each message."""
    inserted, kept = [], []
    for message in result["conversation"]["messages"]:
        mark = MARK.fullmatch(message["content"] or "") if message["role"] == "user" else None
        inserted.append(mark[2].strip()) if mark else kept.append(message)
    rest = iter(kept)
    outcome, unit_of = [], []
    # An inserted text has no number.
    for unit in (unit for unit in result["units"] if unit["unit"] is not None):
        for message in messages[len(unit_of) : len(unit_of) + unit["messages"]]:
            unit_of.append(unit)
            own = next(rest) if unit["outcome"] != "removed" else None
            mark = MARK.fullmatch(own["content"] or "") if own else None
            outcome.append(mark[2] if mark else own == message)
    return outcome, next(iter(inserted), None), unit_of


def reason(message: dict, unit: dict, whole: bool, for_budget: bool, ours, theirs) -> str:
    """Returns why an outcome differs. `whole`: the original keeps all messages of the unit. `for_budget`: the component says
    that the unit is removed for the budget.
    """
    if for_budget:
        return "budget"
    if ours is True and unit["protected"]:
        return "protected"
    if ours is True and isinstance(theirs, str) and len(message["content"]) < SHORT:
        return "short"
    return "unexplained" if ours or whole else "split"


def compare(baler: Baler, case: rules.Case, messages: list[dict], size: rules.Size) -> Counter | None:
    """Returns the differences by their reasons, `None` if the original changes nothing."""
    theirs = case.original(messages, size)
    if theirs is None or all(outcome is True for outcome in theirs):
        return None
    result = baler.component(messages, case.strategy, case.config(size), size.tokens - 1)
    ours, summary, unit_of = outcomes(messages, result)
    spans = [span for span in result["receipt"]["reasons"] if span["code"] == "budget"]
    for_budget = {unit for span in spans for unit in range(span["first"], span["first"] + span["count"])}
    differences = Counter()
    for place, (own, other) in enumerate(zip(ours, theirs, strict=True)):
        if own != other:
            unit = unit_of[place]
            whole = all(other for other, of in zip(theirs, unit_of) if of is unit)
            differences[reason(messages[place], unit, whole, unit["unit"] in for_budget, own, other)] += 1
    if case.summary and summary != case.summary(messages, [unit["protected"] for unit in unit_of]):
        differences["unexplained"] += 1
    return differences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("components", type=Path, help="folder with the components of the gallery")
    parser.add_argument("--generated", type=int, default=30, help="how many conversations are generated")
    parser.add_argument("--swe-agent", type=Path, help="a checkout of SWE-agent")
    arguments = parser.parse_args()
    unexplained = 0
    with tempfile.TemporaryDirectory() as scratch:
        baler = Baler(os.environ.get("BALER_PROGRAM", "baler"), arguments.components, Path(scratch))
        found = [(name, messages, baler.size(messages)) for name, messages in generated.conversations(arguments.generated)]
        messages = sum(len(messages) for _, messages, _ in found)
        print(f"Rules, with {len(found)} conversations of {messages:,} messages: the project's examples, and generated ones.")
        print("`max-tokens` is a share of each, and shown for the first.\n")
        print("| strategy | config | changed by the original | the same | but for the contract | messages that differ |")
        print("|---|---|---|---|---|---|")
        for case in rules.cases(arguments.swe_agent):
            changed = same = allowed = messages = 0
            total = Counter()
            for name, conversation, size in found:
                differences = compare(baler, case, conversation, size)
                if differences is None:
                    continue
                changed += 1
                same += not differences
                allowed += bool(differences) and not differences["unexplained"]
                messages += len(conversation)
                total += differences
                if differences["unexplained"]:
                    print(f"{case.strategy}: {name}: unexplained", file=sys.stderr)
            unexplained += total["unexplained"]
            why = "; ".join(f"{count}: {REASONS[key]}" for key, count in total.most_common())
            config = json.dumps(case.config(found[0][2]))
            print(f"| {case.strategy} | `{config}` | {changed} | {same} | {allowed} | {total.total():,} of {messages:,}. {why} |")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
