"""A LangChain agent with baler's middleware, and a scripted model."""

from garden import TASK, next_bed, soil
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from baler.langchain import BalerMiddleware

sizes = []


class Scripted(BaseChatModel):
    """Stands for `init_chat_model("openai:gpt-5-mini")`."""

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        sizes.append(len(messages))
        bed = next_bed([int(message.tool_call_id) for message in messages if isinstance(message, ToolMessage)])
        calls = [] if bed is None else [{"name": "soil", "args": {"bed": bed}, "id": str(bed)}]
        answer = AIMessage("All beds are fine." if bed is None else "", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=answer)])


agent = create_agent(Scripted(), [soil], middleware=[BalerMiddleware(context_window=2_000)])
result = agent.invoke({"messages": [HumanMessage(TASK)]}, {"recursion_limit": 300})

print(result["messages"][-1].content)
print(f"{len(result['messages'])} messages in the state; the longest request had {max(sizes)}")
