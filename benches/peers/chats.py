"""Conversations in any format that the project's examples have, as chat messages that every original can take."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: The fewest messages of a conversation, and the most conversations that are made of one by ending it earlier.
LEAST, MOST = 10, 6


def conversations(folder: Path | None):
    """Yields names and conversations. Each ends as a request does: before a response of the model."""
    for file in sorted((folder or ROOT / "examples/conversations").rglob("*.json*")):
        try:
            chat = _chat(file)
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
        ends = [end for end in range(LEAST, len(chat) + 1) if end == len(chat) or chat[end]["role"] == "assistant"]
        ends = ends[:: -(-len(ends) // MOST)] if ends else []
        for end in ends:
            if chat[end - 1]["role"] != "assistant":
                yield f"{file.stem} to {end}", chat[:end]


def _chat(file: Path) -> list[dict]:
    if file.suffix == ".jsonl":
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        entries = [line["message"] for line in lines if line.get("type") in ("user", "assistant")]
        return _of_blocks(entries)
    body = json.loads(file.read_text())
    if "contents" in body:
        return _of_gemini(body["contents"])
    if "input" in body:
        return _of_responses(body["input"])
    if any(isinstance(block, dict) and block.get("type") == "tool_use" for m in body["messages"] for block in m["content"] or []):
        return _of_blocks(body["messages"])
    return [{**message, "content": _text(message.get("content"))} for message in body["messages"]]


def _of_blocks(messages: list[dict]) -> list[dict]:
    chat = []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results = [block for block in blocks if block["type"] == "tool_result"]
        chat += [_output(block["tool_use_id"], _text(block.get("content"))) for block in results]
        calls = [_call(b["id"], b["name"], json.dumps(b["input"])) for b in blocks if b["type"] == "tool_use"]
        text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
        _say(chat, message["role"], text, calls)
    return chat


def _of_responses(items: list[dict]) -> list[dict]:
    chat = []
    for item in items:
        match item.get("type", "message"):
            case "message":
                _say(chat, item["role"], _text(item["content"]), [])
            case "function_call":
                _say(chat, "assistant", "", [_call(item["call_id"], item["name"], item["arguments"])])
            case "function_call_output":
                chat.append(_output(item["call_id"], _text(item["output"])))
    return chat


def _of_gemini(contents: list[dict]) -> list[dict]:
    chat, ids = [], []
    for content in contents:
        calls = []
        for part in content["parts"]:
            if call := part.get("functionCall"):
                calls.append(_call(f"call-{len(chat)}-{len(calls)}", call["name"], json.dumps(call.get("args"))))
            if result := part.get("functionResponse"):
                chat.append(_output(ids.pop(0), json.dumps(result["response"])))
        text = "\n".join(part["text"] for part in content["parts"] if "text" in part)
        _say(chat, "assistant" if content["role"] == "model" else "user", text, calls)
        ids += [call["id"] for call in calls]
    return chat


def _say(chat: list[dict], role: str, text: str, calls: list[dict]) -> None:
    """Adds a message. Chat has all parts of a response in one."""
    last = chat[-1] if chat else {}
    if role == last.get("role") == "assistant":
        last["content"] = "\n".join(filter(None, [last["content"], text]))
        last["tool_calls"] = [*last.get("tool_calls", []), *calls]
    elif text or calls:
        chat.append({"role": role, "content": text, "tool_calls": calls})
    if chat and not chat[-1].get("tool_calls", True):
        del chat[-1]["tool_calls"]


def _call(id: str, name: str, arguments: str) -> dict:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _output(id: str, text: str) -> dict:
    return {"role": "tool", "tool_call_id": id, "content": text or "…"}


def _text(content) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))
