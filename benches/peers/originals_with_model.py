"""Holds strategies of the gallery that ask a model against their originals: same messages kept?

    benches/peers/originals_with_model.py --baler PROGRAM --components FOLDER --state FOLDER [--npm FOLDER] [--data FOLDER]

Needs Python 3.12 or newer with langchain==1.5.2, agent-framework-core==1.23.0 and openhands-sdk==1.58.2, and for `--npm`
@mariozechner/pi-coding-agent@0.58.3 and @google/gemini-cli-core@0.61.0, installed with `--ignore-scripts`. The folder of
components has them by the names of the strategies. Both sides get the same conversations, and a model that answers with words of
what it was asked; which messages are kept does not depend on its words. Prints a table in Markdown, never text of messages.
"""

import argparse
import http.server
import json
import subprocess
import threading
from collections import Counter
from pathlib import Path

import chats
import with_model

#: A summary that is about any conversation, for the originals.
CANNED = "It was done so."

#: How the kept messages may differ.
SAME, SAME_AND_PROTECTED = "the same", "the same and protected ones"

#: The fewest tokens that strategies plan for a summary, and about those of the host's text around it.
SUMMARY, AROUND = 64, 50


def cases(npm: Path | None):
    """Yields the strategy, its config, more arguments of the program, the form of the conversations, and the original with
    the same settings: a function from conversations to the messages that are kept of each."""
    # Where an original counts tokens as characters by four, both get words for which that is right.
    plain, filled = (lambda chat: chat), chats.filled
    each = lambda original, **settings: lambda several: [original(chat, CANNED, **settings) for chat in several]
    yield "langchain-summarization", {}, [], plain, each(with_model.langchain, keep=20)
    yield "langchain-summarization", {"keep": {"messages": 6}}, [], plain, each(with_model.langchain, keep=6)
    yield "openhands-summarizing", {}, ["--trigger", "manual"], plain, each(with_model.openhands, demand=True)
    config = {"max-size": 20, "keep-first": 4}
    yield "openhands-summarizing", config, [], plain, each(with_model.openhands, max_size=20, keep_first=4)
    yield "agent-framework", {}, [], plain, each(with_model.agent_framework)
    yield "agent-framework", {}, [], filled, each(with_model.agent_framework)
    every = {"max-summary-input-tokens": None}
    yield "agent-framework", every, [], plain, each(with_model.agent_framework, max_summary_input_tokens=None)
    ten = each(with_model.agent_framework, max_summary_input_tokens=None, target_count=10)
    yield "agent-framework", {"target-count": 10, **every}, [], plain, ten
    if npm is None:
        return
    yield "gemini-cli", {"review": False}, [], chats.to_gemini, lambda several: gemini_cli(npm, several)
    for keep in (1_000, 2_000, 4_000):
        yield "pi", {"keep-recent-tokens": keep}, [], filled, lambda several, keep=keep: pi(npm, several, keep)


def gemini_cli(npm: Path, several: list[list[dict]]) -> list[set[int]]:
    asked = [{"contents": contents, "preserve": 0.3} for contents in several]
    begins = with_model.in_javascript(npm, "gemini-cli", asked)
    return [set(range(begin, len(contents))) for begin, contents in zip(begins, several, strict=True)]


def pi(npm: Path, several: list[list[dict]], keep: int) -> list[set[int]]:
    # pi has its system prompt elsewhere.
    starts = [sum(is_system(message) for message in chat) for chat in several]
    asked = [{"chat": chat[start:], "keep": keep} for chat, start in zip(several, starts, strict=True)]
    begins = with_model.in_javascript(npm, "pi", asked)
    return [set(range(start + begin, len(chat))) for start, begin, chat in zip(starts, begins, several, strict=True)]


def is_system(message: dict) -> bool:
    return message["role"] in ("system", "developer")


class Model(http.server.BaseHTTPRequestHandler):
    """A server in the format of OpenAI that answers with the beginning of what it was asked."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        asked = request["messages"][-1]["content"].split("<conversation>")[-1]
        answer = "In short: " + " ".join(asked.split()[:30]).replace("</conversation>", "")
        choice = {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        body = json.dumps({"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


def ours(options, url: str, strategy: str, config: dict, more: list[str], chat: list[dict]) -> "Result":
    """Has the program compact a conversation."""
    component = str(options.components / f"{strategy}.wasm")
    # Just under what is in use, so that the budget takes nothing from what the strategy wants to keep.
    command = [options.baler, "compact", "--strategy", component, "--config", json.dumps(config), "--budget", "99%"]
    command += ["--model", f"{url}#scripted", "--model-key", "none", "--model-window", "1000000", "--archive", "off"]
    command += ["--pin", "none", "--state", str(options.state), "--project", "off", "--json", *more]
    body = {"contents" if "parts" in chat[0] else "messages": chat}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 3):
        raise SystemExit(f"{strategy}: exit code {run.returncode}: {run.stderr}")
    return Result(json.loads(run.stdout))


class Result:
    """What the program did with the messages, by their indices."""

    def __init__(self, result: dict) -> None:
        self.kept, self.protected, self.tokens, at = set(), set(), {}, 0
        for unit in result["units"]:
            if unit["outcome"] == "inserted":
                continue
            places = range(at, at := at + unit["messages"])
            if unit["outcome"] != "removed":
                self.kept.update(places)
            if unit["protected"]:
                self.protected.update(places)
            # Those of the whole unit, at its first message. System prompts are part of the overhead.
            self.tokens[places[0]] = unit["tokens-before"] if unit["kind"] != "instructions" else 0
        self.free = result["receipt"]["tokens"]["budget"] - result["receipt"]["tokens"]["overhead"]
        self.why = result["receipt"].get("why")

    def leaves_room_for(self, wanted: set[int]) -> bool:
        """Returns whether these messages fit the budget with the protected ones and a summary. It has a quarter of the
        rest, at least SUMMARY tokens, and has to be shorter than the other messages."""
        cost = lambda places: sum(self.tokens.get(place, 0) for place in places)
        rest = self.free - cost(self.protected)
        others = cost(self.tokens.keys() - wanted - self.protected)
        return cost(wanted - self.protected) <= rest - max(rest // 4, SUMMARY) - AROUND and others > 2 * AROUND


def difference(chat: list[dict], mine: Result, theirs: set[int]) -> str:
    """Returns how the kept messages differ. System prompts always stay, and are no part of the originals' histories."""
    history = {place for place, message in enumerate(chat) if not is_system(message)}
    more, fewer = (mine.kept - theirs) & history, (theirs - mine.kept) & history
    if not more and not fewer:
        return SAME
    if mine.why:
        return f"not compacted ({mine.why})"
    if history <= theirs:
        return "fewer, where the original does nothing and the budget asks for it"
    if more <= mine.protected:
        if not fewer:
            return SAME_AND_PROTECTED
        return "fewer" if mine.leaves_room_for(theirs) else "fewer, for the budget"
    return "others" if fewer else "more"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baler", required=True)
    parser.add_argument("--components", type=Path, required=True)
    parser.add_argument("--state", type=Path, required=True, help="an empty folder for the program's state")
    parser.add_argument("--data", type=Path, help="a folder of conversations, instead of the project's examples")
    parser.add_argument("--npm", type=Path, help="a folder with the packages of npm; without it, those are left out")
    parser.add_argument("--details", action="store_true", help="print what is kept where it differs")
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    conversations = list(chats.conversations(options.data))
    kind = "recorded conversations" if options.data else "conversations, made of the project's examples"
    print(f"Those that ask a model, with {len(conversations)} {kind}:\n")
    print("| strategy | config | the same | and protected ones | otherwise |\n|---|---|---|---|---|")
    for strategy, config, more, form, original in cases(options.npm):
        own = [(name, form(chat)) for name, chat in conversations]
        counts: Counter[str] = Counter()
        for (name, chat), theirs in zip(own, original([chat for _, chat in own]), strict=True):
            mine = ours(options, url, strategy, config, more, chat)
            how = difference(chat, mine, theirs)
            counts[how] += 1
            if options.details and how not in (SAME, SAME_AND_PROTECTED):
                print(f"<!-- {name}: {how}: {sorted(mine.kept - theirs)} more, {sorted(theirs - mine.kept)} fewer -->")
        same, protected = (counts.pop(how, 0) for how in (SAME, SAME_AND_PROTECTED))
        others = "; ".join(f"{count}: {how}" for how, count in counts.most_common()) or "0"
        words = ", other words" if form is chats.filled else ""
        print(f"| {strategy} | `{json.dumps(config)}`{words} | {same} | {protected} | {others} |", flush=True)


if __name__ == "__main__":
    main()
