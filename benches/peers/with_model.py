"""The originals, with a model that always answers the same. Each function returns the indices of the messages that are kept.

Messages of the chat that the system does not know as messages, such as system prompts, are in no result.
"""

import asyncio
import json
import logging
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

# A look at versions and prices in the network would only take time.
logging.disable()
os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1", "LANGSMITH_TRACING": "false"}


def langchain(chat: list[dict], answer: str, keep: int) -> set[int]:
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.messages import convert_to_messages

    messages = convert_to_messages(chat)
    for place, message in enumerate(messages):
        message.id = str(place)
    # An agent has its system prompt elsewhere.
    own = [message for message in messages if message.type != "system"]
    middleware = SummarizationMiddleware(
        FakeListChatModel(responses=[answer]), trigger=("messages", 1), keep=("messages", keep)
    )
    changed = middleware.before_model({"messages": own}, None)
    kept = changed["messages"] if changed else own
    return {int(message.id) for message in kept if message.id and message.id.isdigit()}


def openhands(chat: list[dict], answer: str, max_size: int = 240, keep_first: int = 2, demand: bool = False) -> set[int]:
    from openhands.sdk import LLM
    from openhands.sdk.context.condenser import LLMSummarizingCondenser
    from openhands.sdk.context.view import View
    from openhands.sdk.event import Condensation, CondensationRequest
    from openhands.sdk.llm import TextContent

    events, places = _events(chat)
    view = View.from_events([*events, CondensationRequest()] if demand else events)
    llm = LLM(model="openai/scripted", api_key="none", usage_id="scripted")
    answered = SimpleNamespace(message=SimpleNamespace(content=[TextContent(text=answer)]), id="1")
    with mock.patch.object(LLM, "generate", lambda *_, **__: answered):
        result = LLMSummarizingCondenser(llm=llm, max_size=max_size, keep_first=keep_first).condense(view)
    forgotten = result.forgotten_event_ids if isinstance(result, Condensation) else set()
    return {places[event.id] for event in events if event.id in places and event.id not in forgotten}


def _events(chat: list[dict]):
    """Returns the events of OpenHands, and the message of each. The first call of a response stands for its message."""
    from openhands.sdk.event import ActionEvent, AgentErrorEvent, MessageEvent, SystemPromptEvent
    from openhands.sdk.llm import Message, MessageToolCall, TextContent

    events, places = [SystemPromptEvent(system_prompt=TextContent(text="…"), tools=[])], {}
    for place, message in enumerate(chat):
        text = [TextContent(text=message.get("content") or "…")]
        match message["role"]:
            case "user" | "assistant" as role if not message.get("tool_calls"):
                source = "user" if role == "user" else "agent"
                new = [MessageEvent(source=source, llm_message=Message(role=role, content=text))]
            case "assistant":
                new = [
                    ActionEvent(
                        thought=text,
                        tool_name=call["function"]["name"],
                        tool_call_id=call["id"],
                        tool_call=MessageToolCall(
                            id=call["id"],
                            name=call["function"]["name"],
                            arguments=call["function"]["arguments"],
                            origin="completion",
                        ),
                        llm_response_id=str(place),
                    )
                    for call in message["tool_calls"]
                ]
            # To the condenser, an output is like another, whatever it says.
            case "tool":
                new = [AgentErrorEvent(tool_name="tool", tool_call_id=message["tool_call_id"], error=text[0].text)]
            case _:
                continue
        events += new
        places |= {event.id: place for event in new}
    return events, places


def agent_framework(chat: list[dict], answer: str, **settings) -> set[int]:
    from agent_framework import Content, Message
    from agent_framework._compaction import CharacterEstimatorTokenizer, SummarizationStrategy, apply_compaction

    own = []
    for place, message in enumerate(chat):
        contents = [Content.from_text(message["content"])] if message.get("content") else []
        if message["role"] == "tool":
            contents = [Content.from_function_result(message["tool_call_id"], result=message["content"])]
        for call in message.get("tool_calls") or []:
            function = call["function"]
            contents.append(Content.from_function_call(call["id"], function["name"], arguments=function["arguments"]))
        role = "system" if message["role"] == "developer" else message["role"]
        own.append(Message(role, contents, message_id=str(place)))

    class Client:
        async def get_response(self, *_, **__):
            return SimpleNamespace(text=answer)

    strategy = SummarizationStrategy(client=Client(), **settings)
    kept = asyncio.run(apply_compaction(own, strategy=strategy, tokenizer=CharacterEstimatorTokenizer()))
    return {int(message.message_id) for message in kept if message.message_id.isdigit()}


def in_javascript(folder: Path, system: str, conversations: list[dict]) -> list[int]:
    """Returns where the part begins that pi or gemini-cli keeps, for each conversation with its settings."""
    command = ["node", str(Path(__file__).with_suffix(".mjs")), str(folder), system]
    run = subprocess.run(command, input=json.dumps(conversations), capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])
