"""An agent of Google's ADK with baler's plugin, and a scripted model."""

import asyncio

from garden import TASK, next_bed, soil
from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from baler.google_adk import BalerPlugin

sizes = []


class Scripted(BaseLlm):
    """Stands for a model such as `"gemini-3-pro"`."""

    async def generate_content_async(self, llm_request, stream=False):
        sizes.append(len(llm_request.contents))
        calls = [part.function_call for content in llm_request.contents for part in content.parts if part.function_call]
        bed = next_bed([call.args["bed"] for call in calls])
        call = None if bed is None else types.FunctionCall(name="soil", args={"bed": bed})
        part = types.Part(text="All beds are fine.") if call is None else types.Part(function_call=call)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def main():
    agent = LlmAgent(name="gardener", model=Scripted(model="scripted"), tools=[soil])
    app = App(name="garden", root_agent=agent, plugins=[BalerPlugin(context_window=2_000)])
    runner = InMemoryRunner(app=app)
    session = await runner.session_service.create_session(app_name="garden", user_id="me")
    message = types.Content(role="user", parts=[types.Part(text=TASK)])
    events = [event async for event in runner.run_async(user_id="me", session_id=session.id, new_message=message)]
    print(events[-1].content.parts[0].text)
    print(f"{len(events)} events in the session; the longest request had {max(sizes)} contents")


asyncio.run(main())
