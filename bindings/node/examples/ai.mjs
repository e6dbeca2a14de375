/** A tool loop of the AI SDK with baler's middleware, and a scripted model. */

import { generateText, jsonSchema, stepCountIs, tool, wrapLanguageModel } from 'ai'
import { balerMiddleware } from 'baler/ai'

const beds = 60
const sizes = []

/** Stands for a model such as `openai('gpt-5-mini')`. */
const scripted = {
  specificationVersion: 'v3',
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
      finishReason: { unified: isDone ? 'stop' : 'tool-calls' },
      usage: { inputTokens: {}, outputTokens: {} },
      warnings: [],
    }
  },
}

const soil = tool({
  description: 'Measures the soil of a bed.',
  inputSchema: jsonSchema({ type: 'object', properties: { bed: { type: 'integer' } } }),
  execute: ({ bed }) => `bed ${bed}: soil 24 %, light 900 lx, measured at noon by the north wall, between moss and ivy`,
})

const model = wrapLanguageModel({ model: scripted, middleware: balerMiddleware({ contextWindow: 2_000 }) })
const prompt = 'Check the soil of all beds. Never water the cacti.'
const result = await generateText({ model, tools: { soil }, prompt, stopWhen: stepCountIs(100) })

const messages = 1 + (result.responseMessages ?? result.response.messages).length
console.log(result.text)
console.log(`${messages} messages in the history; the longest request had ${Math.max(...sizes)}`)
