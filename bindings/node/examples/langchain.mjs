// A LangChain agent with baler's middleware, and a scripted model.

import { AIMessage, createAgent, fakeModel, HumanMessage, tool } from 'langchain'
import { balerMiddleware } from 'baler/langchain'
import * as z from 'zod'

const berths = 60
const sizes = []

// Stands for a model such as `openai:gpt-5-mini`.
const model = fakeModel()
for (let berth = 0; berth <= berths; berth += 1) {
  model.respond((messages) => {
    sizes.push(messages.length)
    const calls = [{ id: String(berth), name: 'sound', args: { berth } }]
    return berth === berths ? new AIMessage('All berths are sounded.') : new AIMessage({ content: '', tool_calls: calls })
  })
}

const sound = tool(
  ({ berth }) => `berth ${berth}: 4.2 m at low water, mud over gravel, two rings on the quay, and the tide is rising`,
  { name: 'sound', description: 'Sounds the depth at a berth.', schema: z.object({ berth: z.number() }) },
)

const agent = createAgent({ model, tools: [sound], middleware: [balerMiddleware({ contextWindow: 2_000 })] })
const task = new HumanMessage('Sound the depth at every berth. Never moor at berth 7.')
const { messages } = await agent.invoke({ messages: [task] }, { recursionLimit: 300 })

console.log(messages.at(-1).text)
console.log(`${messages.length} messages in the state; the longest request had ${Math.max(...sizes)}`)
