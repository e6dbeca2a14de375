"""Conversations of all formats as chat messages, made without baler, and the same in the format of Gemini."""

import json
from pathlib import Path

import corpus

#: The fewest messages of a conversation, and the most conversations that are made of one by ending it earlier.
LEAST, MOST = 10, 6


def conversations(folder: Path | None):
    """Yields names and conversations. Each ends as a request does: before a response of the model."""
    found = [*corpus.tau_bench(folder), *corpus.swe_agent(folder)] if folder else _examples()
    for name, chat in found:
        chat = [{**message, "content": corpus.text_of(message.get("content"))} for message in chat]
        chat = _with_own_ids(chat)
        for message in chat:
            # No format has empty messages.
            if not message["content"] and not message.get("tool_calls"):
                message["content"] = "…"
        ends = [end for end in range(LEAST, len(chat) + 1) if end == len(chat) or chat[end]["role"] == "assistant"]
        ends = [end for end in ends if chat[end - 1]["role"] != "assistant"]
        # The last ones of equal parts.
        for end in ends[:: -1][:: -(-len(ends) // MOST) or 1][::-1]:
            yield f"{name} to {end}", chat[:end]


def _with_own_ids(chat: list[dict]) -> list[dict]:
    """Returns the conversation with another id for each call: some recordings have an id twice."""
    ids: dict[str, str] = {}
    renamed = []
    for place, message in enumerate(chat):
        calls = []
        for number, call in enumerate(message.get("tool_calls") or []):
            ids[call["id"]] = f"call-{place}-{number}"
            calls.append({**call, "id": ids[call["id"]]})
        answered = {"tool_call_id": ids[message["tool_call_id"]]} if message["role"] == "tool" else {}
        renamed.append({**message, **answered, **({"tool_calls": calls} if calls else {})})
    return renamed


def _examples():
    for file in sorted((corpus.ROOT / "examples/conversations").iterdir()):
        if file.suffix == ".jsonl":
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            entries = [line["message"] for line in lines if line.get("type") in ("user", "assistant")]
            yield file.stem, corpus.of_anthropic({"messages": entries})
            continue
        body = json.loads(file.read_text())
        if "contents" in body:
            chat = _of_gemini(body["contents"])
        elif "input" in body:
            chat = corpus.of_responses(body)
        elif "anthropic" in file.name:
            chat = corpus.of_anthropic(body)
        else:
            chat = body["messages"]
        yield file.stem, chat


def _of_gemini(contents: list[dict]) -> list[dict]:
    chat, ids = [], []
    for content in contents:
        calls = []
        for part in content["parts"]:
            if call := part.get("functionCall"):
                id = f"call-{len(chat)}-{len(calls)}"
                function = {"name": call["name"], "arguments": json.dumps(call.get("args"))}
                calls.append({"id": id, "type": "function", "function": function})
            if result := part.get("functionResponse"):
                text = json.dumps(result["response"])
                chat.append({"role": "tool", "tool_call_id": ids.pop(0), "content": text})
        text = "\n".join(part["text"] for part in content["parts"] if "text" in part)
        if text or calls:
            role = "assistant" if content["role"] == "model" else "user"
            chat.append({"role": role, "content": text, **({"tool_calls": calls} if calls else {})})
        ids += [call["id"] for call in calls]
    return chat


def filled(chat: list[dict]) -> list[dict]:
    """Returns the conversation with other words of the same length: each has four characters and is one token, so that a
    count of tokens and a count of characters by four agree."""
    fill = lambda text: " the" * -(-len(text) // 4)
    copy = []
    for message in chat:
        calls = []
        for call in message.get("tool_calls") or []:
            arguments = json.dumps({"of": fill(call["function"]["arguments"][12:])})
            calls.append({**call, "function": {"name": call["function"]["name"], "arguments": arguments}})
        copy.append({**message, "content": fill(message["content"]), **({"tool_calls": calls} if calls else {})})
    return copy


def to_gemini(chat: list[dict]) -> list[dict]:
    """Returns the contents of Gemini, in which all outputs of a response are one."""
    contents: list[dict] = []
    names = {}
    for message in chat:
        parts = [{"text": message["content"]}] if message["content"] else []
        for call in message.get("tool_calls") or []:
            function = call["function"]
            names[call["id"]] = function["name"]
            parts.append({"functionCall": {"name": function["name"], "args": json.loads(function["arguments"] or "{}")}})
        match message["role"]:
            case "user":
                contents.append({"role": "user", "parts": parts})
            case "assistant":
                contents.append({"role": "model", "parts": parts})
            case "tool":
                response = {"name": names.get(message["tool_call_id"], "tool"), "response": {"output": message["content"]}}
                last = contents[-1]["parts"] if contents else []
                if last and "functionResponse" in last[0]:
                    last.append({"functionResponse": response})
                else:
                    contents.append({"role": "user", "parts": [{"functionResponse": response}]})
    return contents
