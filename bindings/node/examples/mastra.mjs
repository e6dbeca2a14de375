/** An agent of Mastra with baler's processor, and a scripted model. */

import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { BalerProcessor } from 'baler/mastra'
import { z } from 'zod'

const beds = 60
const sizes = []

/** Stands for a model such as `'openai/gpt-5-mini'`. */
const scripted = {
  specificationVersion: 'v2',
  provider: 'scripted',
  modelId: 'gpt-5-mini',
  supportedUrls: {},
  async doGenerate({ prompt }) {
    sizes.push(prompt.length)
    const outputs = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []))
    const bed = Math.max(-1, ...outputs.map(({ toolCallId }) => Number(toolCallId))) + 1
    const isDone = bed === beds
    const call = { type: 'tool-call', toolCallId: String(bed), toolName: 'soil', input: JSON.stringify({ bed }) }
    return {
      content: [isDone ? { type: 'text', text: 'All beds are fine.' } : call],
      finishReason: isDone ? 'stop' : 'tool-calls',
      usage: {},
      warnings: [],
    }
  },
}

const soil = createTool({
  id: 'soil',
  description: 'Measures the soil of a bed.',
  inputSchema: z.object({ bed: z.number() }),
  execute: async ({ bed }) => `bed ${bed}: soil 24 %, light 900 lx, measured at noon, between moss and ivy`,
})

const baler = new BalerProcessor({ contextWindow: 2_000 })
const agent = new Agent({
  id: 'gardener',
  name: 'Gardener',
  instructions: 'You are a gardener.',
  model: scripted,
  tools: { soil },
  inputProcessors: [baler],
  errorProcessors: [baler],
  maxProcessorRetries: 1,
})
const result = await agent.generate('Check the soil of all beds. Never water the cacti.', { maxSteps: 100 })

const outputs = result.steps.flatMap(({ toolResults }) => toolResults)
console.log(result.text)
console.log(`${outputs.length} outputs in the result; the longest request had ${Math.max(...sizes)} messages`)
