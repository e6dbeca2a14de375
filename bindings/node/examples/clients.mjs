// The `openai` client with a `fetch` that compacts its requests. A function in this process answers them.

import { balerFetch } from 'baler/openai'
import OpenAI from 'openai'

import { nextBed, soil, TASK } from './garden.mjs'

const sizes = []

/** Stands for the provider. */
async function provider(_, { body }) {
  const { messages } = JSON.parse(body)
  sizes.push(messages.length)
  const bed = nextBed(messages.filter(({ role }) => role === 'tool').map((message) => Number(message.tool_call_id)))
  const call = { id: String(bed), type: 'function', function: { name: 'soil', arguments: JSON.stringify({ bed }) } }
  const message =
    bed === undefined
      ? { role: 'assistant', content: 'All beds are fine.' }
      : { role: 'assistant', content: null, tool_calls: [call] }
  const choices = [{ index: 0, finish_reason: 'stop', message }]
  return Response.json({ id: '1', object: 'chat.completion', created: 1, model: 'm', choices })
}

// For the real provider, leave out the second argument.
const client = new OpenAI({ apiKey: 'none', fetch: balerFetch({ contextWindow: 2_000 }, provider) })

const messages = [{ role: 'user', content: TASK }]
for (;;) {
  const completion = await client.chat.completions.create({ model: 'gpt-4o', messages })
  const { message } = completion.choices[0]
  messages.push(message)
  if (!message.tool_calls) break
  for (const call of message.tool_calls) {
    const output = soil(JSON.parse(call.function.arguments))
    messages.push({ role: 'tool', tool_call_id: call.id, content: output })
  }
}

console.log(messages.at(-1).content)
console.log(`${messages.length} messages; the longest request had ${Math.max(...sizes)}`)
