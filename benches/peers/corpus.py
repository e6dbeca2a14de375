"""Conversations for the comparison, as messages of OpenAI Chat Completions, which all peers can take."""

import copy
import json
from pathlib import Path

ROOT = Path(__file__).parents[2]


def conversations(folder: Path | None) -> list[tuple[str, list[dict]]]:
    """Returns named conversations: recorded ones from a folder if it is there, else the project's examples."""
    if folder is None or not folder.is_dir():
        return list(_examples())
    found = [*tau_bench(folder), *swe_agent(folder), *_logs(folder)]
    return [(name, _plain(messages)) for name, messages in found if len(messages) >= 12]


def _examples():
    for file in sorted((ROOT / "examples/conversations").glob("*.openai.json")):
        yield file.stem, json.loads(file.read_text())["messages"]


def tau_bench(folder: Path):
    for file in sorted((folder / "tau-bench").glob("*.json")):
        for number, run in enumerate(json.loads(file.read_text())):
            yield f"tau-bench {number}", run["traj"]


def swe_agent(folder: Path):
    for file in sorted((folder / "swe-agent-fc").glob("*.traj")):
        messages = []
        for message in json.loads(file.read_text())["history"]:
            ids = message.get("tool_call_ids") or []
            kept = {name: message[name] for name in ("role", "content", "tool_calls") if message.get(name)}
            messages.append({**kept, "tool_call_id": ids[0]} if ids else kept)
        yield f"swe-agent {file.stem}", messages


def _logs(folder: Path):
    """Session logs of Claude Code, pi and Codex: the request that the session would send next, as chat messages."""
    import baler

    host = baler.Host(state=None)
    for pattern in ("claude-code-*/*.jsonl", "pi-session/*.jsonl", "codex-rollouts/*.jsonl"):
        for file in sorted(folder.glob(pattern)):
            body = json.loads(baler.compact(file.read_bytes(), budget=10**9, host=host).body)
            of = of_anthropic if "messages" in body else of_responses
            yield f"{file.parent.name} {file.stem}", of(body)


def of_anthropic(body: dict) -> list[dict]:
    messages: list[dict] = []
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
        for block in blocks:
            if block["type"] == "tool_result":
                messages.append({"role": "tool", "tool_call_id": block["tool_use_id"], "content": text_of(block.get("content"))})
        calls = [
            {"id": b["id"], "type": "function", "function": {"name": b["name"], "arguments": json.dumps(b["input"])}}
            for b in blocks
            if b["type"] == "tool_use"
        ]
        if message["role"] == "assistant":
            messages.append({"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})})
        elif text:
            messages.append({"role": "user", "content": text})
    return join_responses(messages)


def of_responses(body: dict) -> list[dict]:
    messages: list[dict] = []
    for item in body["input"]:
        match item.get("type", "message"):
            case "message":
                role = "system" if item["role"] == "developer" else item["role"]
                messages.append({"role": role, "content": text_of(item["content"])})
            case "function_call":
                function = {"name": item["name"], "arguments": item["arguments"]}
                call = {"id": item["call_id"], "type": "function", "function": function}
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            case "function_call_output":
                messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": text_of(item["output"])})
    return join_responses(messages)


def join_responses(messages: list[dict]) -> list[dict]:
    """Joins the parts of one response, which chat has as one message."""
    joined: list[dict] = []
    for message in messages:
        last = joined[-1] if joined else {}
        if message["role"] == last.get("role") == "assistant" and not (last.get("content") and message.get("content")):
            calls = [*last.get("tool_calls", []), *message.get("tool_calls", [])]
            joined[-1] = {**last, "content": last["content"] or message["content"], **({"tool_calls": calls} if calls else {})}
        else:
            joined.append(message)
    return joined


def text_of(content) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


def _plain(messages: list[dict]) -> list[dict]:
    """Returns a valid conversation whose texts are texts."""
    import baler

    messages = copy.deepcopy(messages)
    for message in messages:
        if not isinstance(message.get("content"), (str, type(None))):
            message["content"] = text_of(message["content"])
        if message["role"] != "assistant" and not message.get("content"):
            message["content"] = "…"
    return baler.repair(messages, format="openai-chat", host=baler.Host(state=None)).body


def cut(messages: list[dict], share: float = 0.6) -> int:
    """Returns where to cut: before an answer of the model, so that what it is given ends as a request does."""
    places = [place for place, message in enumerate(messages) if place > 3 and message["role"] == "assistant"]
    return min(places, key=lambda place: abs(place - share * len(messages)), default=len(messages))
