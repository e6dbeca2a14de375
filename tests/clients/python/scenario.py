"""A long session with an official client, and what else clients do: `scenario.py API MODE STEPS TASK`.

The base URL is that of the environment, and the provider behind it the scripted one, with two calls in each step. MODE is
`plain`, `stream` or `async`; the last one streams too.
"""

import asyncio
import contextlib
import os
import statistics
import subprocess
import sys
import time

from clients import CLIENTS, Output, each, settled


def run(call, number: int) -> Output:
    assert call.name == "bash" and call.arguments["description"] == f"Look at cellar {number}", call
    command = ["bash", "-c", call.arguments["command"]]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # Every 20th output is an error, and every 20th has a picture.
    return Output(call, f"棚 {text}", number % 20 == 7, number % 20 == 14)


async def session(client, is_stream: bool, steps: int, task: str) -> list:
    history = client.user(f"全部の蔵を数えて。 Count what all cellars hold, and {task}.")
    outputs: list[Output] = []
    for step in range(steps):
        answer = await client.ask(history, is_stream, has_tools=True)
        assert len(answer.calls) == 2, f"step {step} has two calls: {answer}"
        assert not client.shows_thinking or answer.thinking == "The next cellar.", answer
        new = [run(call, len(outputs) + place) for place, call in enumerate(answer.calls)]
        history += answer.said + client.outputs(new)
        outputs += new
    answer = await client.ask(history, is_stream, has_tools=True)
    assert (answer.calls, answer.text) == ([], text(steps)), answer
    if client.count:
        # The provider counts as many tokens as it gets bytes, by four, and the whole history has more than its outputs.
        least = sum(len(output.text) for output in outputs) // 4
        for manner in (None, "gzip"):
            counted = await client.count(history, manner)
            assert counted >= least, f"expected at least {least} tokens, found {counted}"
    return history


def text(steps: int) -> str:
    return f"All {steps} cellars are counted. 全部の蔵を数えました。"


async def pieces_arrive_as_they_are_sent(client, question: list) -> None:
    times = []
    async for _ in each(await settled(client.chunks(question, "slow"))):
        times.append(time.monotonic())
    gaps = [after - before for before, after in zip(times, times[1:])]
    # The provider pauses for 0.2 s after each.
    assert len(times) >= 3 and statistics.median(gaps) > 0.1, gaps


async def an_abort_harms_nothing(client, is_stream: bool, question: list, said: str) -> None:
    stream = await settled(client.chunks(question, "slow"))
    if hasattr(stream, "__aiter__"):
        pieces = aiter(stream)
        await anext(pieces)
        # Cancelled while it waits for more.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                async for _ in pieces:
                    pass
    else:
        next(iter(stream))
        stream.close()
    assert (await client.ask(question, is_stream)).text == said


async def a_busy_provider_is_asked_again(client, is_stream: bool, question: list, said: str) -> None:
    begun = time.monotonic()
    assert (await client.ask(question, is_stream, "busy")).text == said
    waited = time.monotonic() - begun
    # `Retry-After` is 2 s.
    assert waited > (1.9 if client.waits_as_told else 0.1), waited


async def a_refusal_is_the_clients_own_error(client, is_stream: bool, question: list) -> None:
    try:
        await client.ask(question, is_stream, "refused")
    except client.refusal as error:
        status = getattr(error, "status_code", None) or error.code
        assert status == 400 and "no cellar is called Δ, 蔵 or قبو" in error.message, repr(error)
        return
    raise AssertionError("expected a refusal")


async def main() -> None:
    api, mode, steps, task = sys.argv[1:]
    make, is_stream, is_async = CLIENTS[api], mode != "plain", mode == "async"
    client = make(is_async)
    await session(client, is_stream, int(steps), task)

    said = text(int(steps))
    question = client.user("蔵はいくつ？")
    await pieces_arrive_as_they_are_sent(client, question)
    await an_abort_harms_nothing(client, is_stream, question, said)
    await a_busy_provider_is_asked_again(client, is_stream, question, said)
    await a_refusal_is_the_clients_own_error(client, is_stream, question)
    assert (await client.ask(question, is_stream, "gzip")).text == said
    slashed = make(is_async, os.environ[make.variable].rstrip("/") + "/")
    assert (await slashed.ask(question, is_stream)).text == said


asyncio.run(main())
