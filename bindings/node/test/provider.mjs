// A server in the place of a provider, and histories of agents that work in a garden.

import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Host } from 'baler'

/** Compiling strategies takes a while, so all tests share a state folder. */
export const host = new Host({ state: join(tmpdir(), 'baler-tests') })

/** Most tests do not depend on the strategy. This one has nothing to compile. */
export const small = { host, strategy: 'native:digest' }

const folder = process.env.BALER_FRAMEWORKS

/** Returns a package of the folder `BALER_FRAMEWORKS`, if it is there and its version begins with one of `versions`. */
export function framework(name, ...versions) {
  if (folder === undefined) return {}
  const require = createRequire(join(folder, 'package.json'))
  try {
    const module = require(name)
    const root = join(folder, 'node_modules', ...name.split('/').slice(0, name.startsWith('@') ? 2 : 1))
    const { version } = require(join(root, 'package.json'))
    if (versions.length > 0 && !versions.some((start) => version.startsWith(start))) return {}
    return { ...module, version, default: module.default ?? module }
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return {}
    throw error
  }
}

/** Why a test is skipped; `false` if it runs. */
export function without(...packages) {
  if (packages.every(({ version }) => version !== undefined)) return false
  return folder === undefined ? 'BALER_FRAMEWORKS is not set' : 'BALER_FRAMEWORKS has no such package'
}

/** Starts a server. `answer` gets each request, and returns `{ status?, json }`, or writes the answer itself. */
export async function provider(t, answer) {
  const seen = []
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const { method, url, headers } = request
    const asked = { method, url, headers, text, get body() { return JSON.parse(text) } }
    seen.push(asked)
    const answered = await answer(asked, response)
    if (answered === undefined) return
    response.writeHead(answered.status ?? 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answered.json))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { seen, url: `http://127.0.0.1:${server.address().port}` }
}

/** Characters of a request. Some clients write JSON with spaces. */
export const size = ({ body }) => JSON.stringify(body).length

/** Refuses requests of more than `limit` characters, as the provider does. */
export const upTo = (limit, refusal, answer) => (asked, response) =>
  size(asked) > limit ? { status: 400, json: refusal } : answer(asked, response)

/** What the provider counts of a request: more than twice as many tokens as baler. */
export const counted = (asked) => Math.round(size(asked) / 2)

/** Sends events as a stream. */
export function stream(response, events) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) response.write(`event: ${event.type ?? 'message'}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
}

export const chatAnswer = (message = { role: 'assistant', content: 'Done.' }) => ({
  json: { id: '1', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, finish_reason: 'stop', message }] },
})

export const chatRefusal = {
  error: {
    message: "This model's maximum context length is 9 tokens.",
    type: 'invalid_request_error',
    param: 'messages',
    code: 'context_length_exceeded',
  },
}

export const claudeAnswer = () => ({
  json: {
    id: '1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null,
    content: [{ type: 'text', text: 'Done.' }], usage: { input_tokens: 1, output_tokens: 1 },
  },
})

export const claudeRefusal = {
  type: 'error',
  error: { type: 'invalid_request_error', message: 'prompt is too long: 208310 tokens > 200000 maximum' },
  request_id: 'r',
}

export const TASK = 'Check the soil of all beds. Never water the cacti. 仙人掌に水をやらないで。'

export const output = (bed) => `bed ${bed}: soil 24 %, light 900 lx, measured at noon by the north wall, moss and ivy, Efeu`

export function chatHistory(beds = 40) {
  const messages = [{ role: 'system', content: 'You are a gardener.' }, { role: 'user', content: TASK }]
  for (let bed = 0; bed < beds; bed += 1) {
    const call = { id: `call_${bed}`, type: 'function', function: { name: 'soil', arguments: `{"bed":${bed}}` } }
    messages.push({ role: 'assistant', content: null, tool_calls: [call] })
    messages.push({ role: 'tool', tool_call_id: `call_${bed}`, content: output(bed) })
  }
  return messages
}

export function claudeHistory(beds = 40) {
  const messages = [{ role: 'user', content: TASK }]
  for (let bed = 0; bed < beds; bed += 1) {
    messages.push({ role: 'assistant', content: [{ type: 'tool_use', id: `toolu_${bed}`, name: 'soil', input: { bed } }] })
    messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${bed}`, content: output(bed) }] })
  }
  return messages
}

export function responsesHistory(beds = 40) {
  const items = [{ role: 'user', content: TASK }]
  for (let bed = 0; bed < beds; bed += 1) {
    items.push({ type: 'function_call', call_id: `call_${bed}`, name: 'soil', arguments: `{"bed":${bed}}` })
    items.push({ type: 'function_call_output', call_id: `call_${bed}`, output: output(bed) })
  }
  return items
}

export function geminiHistory(beds = 40) {
  const contents = [{ role: 'user', parts: [{ text: TASK }] }]
  for (let bed = 0; bed < beds; bed += 1) {
    contents.push({ role: 'model', parts: [{ functionCall: { name: 'soil', args: { bed } } }] })
    contents.push({ role: 'user', parts: [{ functionResponse: { name: 'soil', response: { output: output(bed) } } }] })
  }
  return contents
}

export const toolConfig = { tools: [{ toolSpec: { name: 'soil', inputSchema: { json: { type: 'object' } } } }] }

export function bedrockHistory(beds = 40) {
  const messages = [{ role: 'user', content: [{ text: TASK }] }]
  for (let bed = 0; bed < beds; bed += 1) {
    const toolUseId = `tooluse_${bed}`
    messages.push({ role: 'assistant', content: [{ toolUse: { toolUseId, name: 'soil', input: { bed } } }] })
    messages.push({ role: 'user', content: [{ toolResult: { toolUseId, content: [{ text: output(bed) }] } }] })
  }
  return messages
}
