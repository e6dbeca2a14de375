"""Compares baler with the compaction of other packages, in one process, on the same conversations.

    benches/peers/run.sh [FOLDER] [--output FILE]

FOLDER: recorded conversations. Without them, the project's examples. Prints tables in Markdown, never text of messages.
"""

import argparse
import json
import re
import statistics
import sys
from collections import defaultdict
from pathlib import Path

import corpus
import peers

import baler

#: Paths, identifiers and ids: what an agent uses again.
NAMES = re.compile(r"[\w.-]*[/_.#-][\w./#-]+|\b[A-Z]+\d{3,}\b|\b\d{4,}\b")


def text_of(messages: list[dict]) -> str:
    return json.dumps(messages, ensure_ascii=False)


def names(text: str) -> set[str]:
    return {name.strip(".-/") for name in NAMES.findall(text) if len(name.strip(".-/")) >= 5}


def unseen(messages: list[dict]) -> list[str]:
    """Returns the outputs that came after the model's newest answer."""
    outputs = []
    for message in reversed(messages):
        if message["role"] == "assistant":
            break
        if message["role"] == "tool":
            outputs.append(message["content"])
    return outputs


class Tally:
    """What was measured of one method."""

    def __init__(self) -> None:
        self.times, self.sizes, self.recalls, self.equals = [], [], [], []
        self.valid = self.tasks = self.unseen = self.unseens = self.count = self.failed = 0


def measure(tally: Tally, before: list[dict], after: list[dict], needed: set[str], host: baler.Host) -> int:
    tally.count += 1
    try:
        is_valid = bool(baler.validate(after, format="openai-chat", host=host)) and begins(after)
        tokens = baler.count(after, format="openai-chat", host=host)
    except baler.ConversationError:
        tally.sizes.append(0)
        return 0
    tally.valid += is_valid
    tally.sizes.append(tokens / baler.count(before, format="openai-chat", host=host))
    text = text_of(after)
    task = next((message["content"] for message in before if message["role"] == "user"), "")
    tally.tasks += json.dumps(task, ensure_ascii=False)[1:-1] in text
    for output in unseen(before):
        tally.unseens += 1
        tally.unseen += json.dumps(output, ensure_ascii=False)[1:-1] in text
    if needed:
        tally.recalls.append(sum(name in text for name in needed) / len(needed))
    return tokens


def begins(messages: list[dict]) -> bool:
    """Decides whether the first message after the instructions is a user's, as Anthropic and Gemini have it."""
    roles = (message["role"] for message in messages)
    return next((role for role in roles if role not in ("system", "developer")), None) == "user"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--share", type=float, default=0.5, help="tokens of the result, as a share")
    arguments = parser.parse_args()
    host = baler.Host(archive="off")
    found = corpus.conversations(arguments.folder)
    methods = {**peers.ours(host), **peers.all_peers()}
    tallies: dict[str, Tally] = defaultdict(Tally)
    for number, (name, messages) in enumerate(found):
        print(f"\r{number + 1} of {len(found)}", end="", file=sys.stderr)
        place = corpus.cut(messages)
        before, later = messages[:place], messages[place:]
        needed = names(text_of(before)) & names(text_of(later))
        tokens = int(baler.count(before, format="openai-chat", host=host) * arguments.share)
        for method, (_, fit) in methods.items():
            tally = tallies[method]
            try:
                fit(before, tokens) if number == 0 else None
                after, took = fit(before, tokens)
            except Exception as error:
                tally.failed += 1
                print(f"\n{method} failed on {name}: {type(error).__name__}", file=sys.stderr)
                continue
            tally.times.append(took * 1_000)
            size = measure(tally, before, after, needed, host)
            if size and needed and not method.startswith("baler"):
                equal = baler.compact(before, budget=max(size, 1), strategy="tiered", host=host).messages
                text = text_of(equal)
                tally.equals.append(sum(one in text for one in needed) / len(needed))
    print(file=sys.stderr)
    report = table(found, methods, tallies, arguments.share)
    print(report)
    if arguments.output:
        arguments.output.write_text(report + "\n")


def table(found: list, methods: dict, tallies: dict, share: float) -> str:
    messages = sum(len(messages) for _, messages in found)
    lines = [
        f"{len(found)} conversations with {messages:,} messages; target: {share:.0%} of the tokens",
        "",
        "| method | job | valid | task kept | unseen outputs kept | size | recall | `tiered` at that size | ms, median | ms, sum |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for method, (job, _) in sorted(methods.items(), key=lambda one: (one[1][0] != "window", one[0])):
        t = tallies[method]
        if not t.times:
            lines.append(f"| {method} | {job} | failed on all | | | | | | | |")
            continue
        cells = [
            method + (f" ({t.failed} failed)" if t.failed else ""),
            job,
            f"{t.valid} of {t.count}",
            f"{t.tasks / t.count:.0%}",
            f"{t.unseen / t.unseens:.0%}" if t.unseens else "–",
            f"{statistics.mean(t.sizes):.0%}",
            f"{statistics.mean(t.recalls):.2f}" if t.recalls else "–",
            f"{statistics.mean(t.equals):.2f}" if t.equals else "",
            f"{statistics.median(t.times):.2f}",
            f"{sum(t.times):,.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
