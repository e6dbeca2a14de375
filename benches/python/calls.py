"""Compares calls from Python with the same calls from Rust, on one conversation.

    cargo build --release --package baler-benches --bin one-call
    python benches/python/calls.py

Prints medians in milliseconds, and their ratios; then what two threads do compared with one, how long the package takes
to import, and what ten thousand compactions leave behind. Needs the package `baler-compaction`.
"""

import copy
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROUNDS = 41
BYTES = 1_000_000


def conversation(size: int) -> dict:
    """Returns the example of an agent that fixes a bug, as often as fits, with ids of its own each time."""
    body = json.loads((ROOT / "examples/conversations/fix-a-bug.openai.json").read_text())
    first, *rest = body["messages"]
    messages = [first]
    turn = 0
    while len(json.dumps(messages)) < size:
        for message in copy.deepcopy(rest):
            for call in message.get("tool_calls") or []:
                call["id"] += f"-{turn}"
            if "tool_call_id" in message:
                message["tool_call_id"] += f"-{turn}"
            messages.append(message)
        turn += 1
    return {**body, "messages": messages}


def median(work, rounds: int = ROUNDS) -> float:
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1_000


def threads(work, count: int, seconds: float = 3) -> float:
    """Returns the calls per second of some threads."""
    done, end = [0] * count, time.perf_counter() + seconds

    def loop(place: int) -> None:
        while time.perf_counter() < end:
            work()
            done[place] += 1

    running = [threading.Thread(target=loop, args=(place,)) for place in range(count)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return sum(done) / seconds


def import_time() -> float:
    program = "import time; start = time.perf_counter(); import baler; print((time.perf_counter() - start) * 1000)"
    times = [float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(9)]
    return statistics.median(times)


def main() -> None:
    import baler

    body = conversation(BYTES)
    text = json.dumps(body).encode()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "conversation.json"
        file.write_bytes(text)
        # Without an archive, whose disk would be measured.
        host = baler.Host(state=Path(folder) / "state", archive="off")
        print(f"a conversation of {len(text):,} bytes and {len(body['messages']):,} messages, to half of its size, without an archive")
        for strategy in ("sliding-window", "tiered"):
            rust = float(subprocess.check_output([ROOT / "target/release/one-call", file, strategy, str(ROUNDS)]))
            of_bytes = median(lambda s=strategy: baler.compact(text, strategy=s, host=host).body)
            of_dicts = median(lambda s=strategy: baler.compact(body, strategy=s, host=host).body)
            print(
                f"{strategy}: Rust {rust:.1f} ms; Python, bytes {of_bytes:.1f} ms ({of_bytes / rust:.2f}); "
                f"dictionaries {of_dicts:.1f} ms ({of_dicts / rust:.2f})"
            )
        work = lambda: baler.compact(text, strategy="sliding-window", host=host)  # noqa: E731
        one, two = threads(work, 1), threads(work, 2)
        print(f"two threads: {two:.0f} calls/s, one: {one:.0f} ({two / one:.2f})")
        print(f"import: {import_time():.0f} ms")
        small = conversation(20_000)
        memory = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() >> 20  # noqa: E731
        before = None
        for number in range(10_001):
            baler.compact(small, strategy="sliding-window", budget="40%", host=host)
            if number == 1_000:
                before = memory()
        print(f"memory: {before} MiB after 1,000 compactions, {memory()} MiB after 10,000")


if __name__ == "__main__":
    main()
