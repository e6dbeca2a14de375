// An agent of the OpenAI Agents SDK with baler's filter, and a scripted model.

import { Agent, MemorySession, run, setTracingDisabled, tool, Usage } from '@openai/agents'
import { balerFilter } from 'baler/agents'
import { z } from 'zod'

import { nextBed, soil, TASK } from './garden.mjs'

setTracingDisabled(true)
const sizes = []

/** Stands for a model such as `new OpenAIResponsesModel(new OpenAI(), 'gpt-5-mini')`. */
const scripted = {
  async getResponse({ input }) {
    sizes.push(input.length)
    const bed = nextBed(input.filter(({ type }) => type === 'function_call_result').map(({ callId }) => Number(callId)))
    const text = { type: 'output_text', text: 'All beds are fine.' }
    const answer =
      bed === undefined
        ? { type: 'message', role: 'assistant', status: 'completed', content: [text] }
        : { type: 'function_call', callId: String(bed), name: 'soil', arguments: JSON.stringify({ bed }), status: 'completed' }
    return { output: [answer], usage: new Usage() }
  },
}

const filter = balerFilter({ contextWindow: 2_000 })
const parameters = z.object({ bed: z.number() })
const agent = new Agent({
  name: 'gardener',
  tools: [tool({ name: 'soil', description: 'Measures the soil of a bed.', parameters, execute: soil })],
  model: filter.withRetry(scripted),
})
const session = new MemorySession()
const result = await run(agent, TASK, { session, callModelInputFilter: filter, maxTurns: 100 })

console.log(result.finalOutput)
console.log(`${(await session.getItems()).length} items in the session; the longest request had ${Math.max(...sizes)}`)
