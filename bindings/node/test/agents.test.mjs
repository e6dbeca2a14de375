// The OpenAI Agents SDK with scripted models.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { count, OptionError, setLog, validate } from 'baler'
import { balerFilter } from 'baler/agents'
import { balerFetch } from 'baler/openai'

import { described } from '../dist/items.js'
import { counted, framework, host, output, provider, small, stream as events, TASK, without } from './provider.mjs'

const agents = framework('@openai/agents')
const openai = framework('openai')
const { z } = framework('zod')
const { Agent, MemorySession, OpenAIResponsesModel, Runner, RunState, run, setTracingDisabled, tool, Usage } = agents
const skip = without(agents, openai, framework('zod'))
setTracingDisabled?.(true)

const say = (text) => ({ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] })
const bedOf = ({ callId }) => Number(callId)

/** Checks the soil of two beds at a time, and refuses requests of more than `limit` characters. */
class Scripted {
  seen = []
  #beds
  #limit

  constructor({ beds = 30, limit = Infinity } = {}) {
    this.#beds = beds
    this.#limit = limit
  }

  #answer({ input }) {
    this.seen.push(input)
    if (JSON.stringify(input).length > this.#limit) {
      throw Object.assign(new Error('400 Please use fewer words.'), { code: 'context_length_exceeded' })
    }
    const next = Math.max(-1, ...input.filter(({ type }) => type === 'function_call_result').map(bedOf)) + 1
    if (next >= this.#beds) return [say('All beds are fine.')]
    return [next, next + 1].map((bed) => ({
      type: 'function_call', callId: `${bed}`, name: 'soil', status: 'completed', arguments: `{"bed":${bed}}`,
    }))
  }

  async getResponse(request) {
    return { output: this.#answer(request), usage: new Usage({}) }
  }

  async *getStreamedResponse(request) {
    const answer = this.#answer(request)
    yield { type: 'response_started' }
    for (const { content } of answer) if (content) yield { type: 'output_text_delta', delta: content[0].text }
    yield { type: 'response_done', response: { id: `${this.seen.length}`, output: answer, usage: new Usage({}) } }
  }

  getRetryAdvice() {
    return { suggested: this.#limit === 0 }
  }
}

const gardener = (model, more = {}) => {
  const execute = ({ bed }) => output(bed)
  const soil = tool({ name: 'soil', description: 'Measures the soil.', parameters: z.object({ bed: z.number() }), execute, ...more })
  return new Agent({ name: 'gardener', instructions: 'You are a gardener.', tools: [soil], model })
}

const go = (agent, filter, more = {}, text = TASK) => run(agent, text, { callModelInputFilter: filter, maxTurns: 100, ...more })

const format = 'openai-responses'

/** Whether the provider accepts the items. */
async function isValid(items) {
  const { isValid, violations } = await validate({ input: items.map(described) }, { format, host })
  assert.ok(isValid, JSON.stringify(violations))
}

/** A history of the SDK's. */
function history(beds = 40) {
  const items = [{ type: 'message', role: 'user', content: TASK }]
  for (let bed = 0; bed < beds; bed += 1) {
    items.push({ type: 'function_call', callId: `${bed}`, name: 'soil', status: 'completed', arguments: `{"bed":${bed}}` })
    items.push({ type: 'function_call_result', callId: `${bed}`, name: 'soil', status: 'completed', output: output(bed) })
  }
  return items
}

/** What a filter shows of items. */
const shown = async (filter, input) => (await filter({ modelData: { input }, agent: { model: 'gpt-4o' } })).input

for (const stream of [false, true]) {
  test(`the model is shown a view, and the session keeps the history${stream ? ', with streams' : ''}`, { skip }, async () => {
    const model = new Scripted({ beds: 90 })
    const compactions = []
    const filter = balerFilter({ ...small, at: 2_000, onCompaction: () => compactions.push(model.seen.length) })
    const session = new MemorySession()
    const result = await go(gardener(model), filter, { session, stream })
    if (stream) {
      let text = ''
      for await (const { data } of result) if (data?.type === 'output_text_delta') text += data.delta
      await result.completed
      assert.equal(text, 'All beds are fine.')
    }
    assert.equal(result.finalOutput, 'All beds are fine.')
    assert.equal(model.seen.length, 46)
    assert.ok(compactions.length >= 2 && compactions.length < 10, `${compactions.length} compactions`)
    const stored = await session.getItems()
    assert.equal(stored.length, 1 + 180 + 1)
    assert.deepEqual(stored.filter(({ type }) => type === 'function_call_result').map(bedOf), [...Array(90).keys()])
    assert.doesNotMatch(JSON.stringify([stored, result.history]), /baler/)
    assert.equal(result.history.length, stored.length)
    for (const [index, items] of model.seen.entries()) {
      await isValid(items)
      assert.ok((await count({ input: items.map(described) }, { format, host })) < 2_000)
      assert.deepEqual(items[0], stored[0])
      if (index === 0 || compactions.includes(index)) continue
      // Between compactions, each request begins with the one before.
      assert.deepEqual(items.slice(0, model.seen[index - 1].length), model.seen[index - 1])
    }
    assert.ok(model.seen.at(-1).length < stored.length)
    // A second run continues from the view.
    const before = compactions.length
    await go(gardener(model), filter, { session }, 'Und die Kräuter?')
    assert.equal(compactions.length, before)
    assert.ok(model.seen.at(-1).length < stored.length)
    assert.deepEqual((await session.getItems()).slice(-2).map(({ role }) => role), ['user', 'assistant'])
  })
}

test('a history from a store is compacted at once, and only what is new is stored', { skip }, async () => {
  const before = JSON.parse(JSON.stringify([...history(), say('All beds are fine.')]))
  const session = new MemorySession({ initialItems: before })
  const model = new Scripted({ beds: 0 })
  await go(gardener(model), balerFilter({ ...small, at: 1_500 }), { session }, '仙人掌は？')
  const [sent] = model.seen
  assert.ok(sent.length < before.length && /baler:summary/.test(JSON.stringify(sent)))
  await isValid(sent)
  assert.deepEqual([sent[0], sent.at(-1).content], [before[0], '仙人掌は？'])
  const stored = await session.getItems()
  assert.deepEqual(stored.slice(0, -2), before)
  assert.deepEqual(stored.slice(-2).map(({ role }) => role), ['user', 'assistant'])
})

test('a run that waited for an approval goes on from its stored state', { skip }, async () => {
  const model = new Scripted({ beds: 42 })
  const filter = balerFilter({ ...small, at: 1_500 })
  const agent = gardener(model, { needsApproval: async (_, { bed }) => bed === 40 })
  const session = new MemorySession()
  const waits = await go(agent, filter, { session })
  assert.equal(waits.interruptions.length, 1)
  const state = await RunState.fromString(agent, waits.state.toString())
  for (const one of state.getInterruptions()) state.approve(one)
  const result = await run(agent, state, { callModelInputFilter: filter, maxTurns: 100, session })
  assert.equal(result.finalOutput, 'All beds are fine.')
  await isValid(model.seen.at(-1))
  const stored = await session.getItems()
  assert.ok(model.seen.at(-1).length < stored.length - 20)
  const outputs = stored.filter(({ type }) => type === 'function_call_result').map(bedOf)
  assert.deepEqual(outputs.toSorted((a, b) => a - b), [...Array(42).keys()])
})

for (const stream of [false, true]) {
  test(`an overflow leads to one smaller request${stream ? ', before a stream began' : ''}`, { skip }, async () => {
    const limit = 6_000
    const model = new Scripted({ beds: 60, limit })
    const filter = balerFilter({ ...small, contextWindow: 1_000_000 })
    const session = new MemorySession()
    const result = await go(gardener(filter.withRetry(model)), filter, { session, stream })
    if (stream) await result.completed
    assert.equal(result.finalOutput, 'All beds are fine.')
    const isRefused = model.seen.map((items) => JSON.stringify(items).length > limit)
    const refused = isRefused.filter(Boolean).length
    // Each refusal is followed by a smaller request, and what was refused is not sent again.
    assert.ok(refused > 0 && refused < model.seen.length / 4, `${refused} of ${model.seen.length}`)
    assert.ok(isRefused.every((is, index) => !is || !isRefused[index + 1]))
    for (const items of model.seen) await isValid(items)
    assert.equal((await session.getItems()).length, 122)
  })
}

test('an overflow that cannot be helped is the own error of the model, and so are others', { skip }, async () => {
  const filter = balerFilter({ ...small, contextWindow: 1_000_000 })
  const model = new Scripted({ limit: 1 })
  await assert.rejects(go(gardener(filter.withRetry(model)), filter), /fewer words/)
  assert.equal(model.seen.length, 1)
  const stays = new Scripted({ limit: 1 })
  await assert.rejects(run(gardener(filter.withRetry(stays)), history(), { callModelInputFilter: filter }), /fewer words/)
  assert.equal(stays.seen.length, 2)
  let calls = 0
  const getResponse = async () => {
    calls += 1
    throw new Error('429 Rate limit reached: too many tokens per min')
  }
  await assert.rejects(run(gardener(filter.withRetry({ getResponse })), history(), { callModelInputFilter: filter }), /Rate limit/)
  assert.equal(calls, 1)
})

test('a stream that began is not asked for again', { skip }, async () => {
  const filter = balerFilter({ ...small, contextWindow: 1_000_000 })
  let calls = 0
  const model = filter.withRetry({
    async *getStreamedResponse() {
      calls += 1
      yield { type: 'response_started' }
      throw new Error('Your input exceeds the context window of this model. context_length_exceeded')
    },
  })
  const events = []
  await assert.rejects(async () => {
    for await (const event of model.getStreamedResponse({ input: history() })) events.push(event)
  }, /context window/)
  assert.deepEqual([calls, events.length], [1, 1])
})

test('a signal ends the compaction for a second request', { skip }, async () => {
  const filter = balerFilter({ host, strategy: () => new Promise(() => {}), contextWindow: 1_000_000 })
  const model = filter.withRetry(new Scripted({ limit: 1 }))
  const reason = new Error('The gardener left.')
  const controller = new AbortController()
  setTimeout(() => controller.abort(reason), 50)
  await assert.rejects(model.getResponse({ input: history(), signal: controller.signal }), reason)
})

test('a wrapped model is the model otherwise', { skip }, async () => {
  const model = new Scripted({ limit: 0 })
  const wrapped = balerFilter({ ...small, at: 1_500 }).withRetry(model)
  assert.ok(wrapped instanceof Scripted)
  assert.equal(wrapped.constructor, Scripted)
  assert.equal(wrapped.seen, model.seen)
  assert.deepEqual(wrapped.getRetryAdvice(), { suggested: true })
  await assert.rejects(wrapped.getResponse({ input: [], previousResponseId: 'r' }), /fewer words/)
})

test('items that are shown as they are stay the same objects', async () => {
  const items = [...history(), { role: 'user', content: 'And now?' }]
  const sent = await shown(balerFilter({ ...small, at: 1_500 }), items)
  assert.ok(sent.length < items.length)
  assert.equal(sent[0], items[0])
  assert.equal(sent.at(-1), items.at(-1))
  assert.equal(sent.filter((item) => !items.includes(item)).length, 1)
  const few = history(3)
  assert.equal(await shown(balerFilter({ ...small, at: 1_500 }), few), few)
})

test('what is new of the user is never rewritten, since the session would store that', { skip }, async () => {
  const long = (word) => ({ type: 'message', role: 'user', content: `${word}, `.repeat(2_000) })
  const fresh = [long('Rose'), { role: 'system', content: 'Sei kurz.' }, long('Lilie'), long('薔薇')]
  const session = new MemorySession({ initialItems: [...history(), say('Fine.')] })
  const model = new Scripted({ beds: 0 })
  await run(gardener(model), structuredClone(fresh), { session, callModelInputFilter: balerFilter({ ...small, at: 1_500 }) })
  assert.deepEqual(model.seen[0].slice(-4), fresh)
  assert.ok(model.seen[0].length < 40)
  assert.deepEqual((await session.getItems()).slice(-5, -1), fresh)
})

test('a message that is too long for the model alone is shortened in the second request, and stored whole', { skip }, async () => {
  const text = 'Die Lilie braucht Licht, der Efeu nicht. '.repeat(1_000)
  const filter = balerFilter({ ...small, contextWindow: 1_000_000 })
  const model = new Scripted({ beds: 0, limit: text.length })
  const session = new MemorySession()
  await go(gardener(filter.withRetry(model)), filter, { session }, text)
  assert.deepEqual(model.seen.map(([{ content }]) => content === text), [true, false])
  assert.equal((await session.getItems())[0].content, text)
})

test('texts that nothing was removed for are not shown, since the session would store them', { skip }, async (t) => {
  const warnings = []
  setLog((message) => warnings.push(message))
  t.after(() => setLog(null))
  const items = history(6).map((item) => (item.type === 'function_call_result' ? { ...item, output: item.output.repeat(20) } : item))
  const session = new MemorySession({ initialItems: [...items, say('Fine.')] })
  const model = new Scripted({ beds: 0 })
  // Shortens outputs, and adds notes.
  const strategy = ({ units }) =>
    units.flatMap(({ editable: [place] = [] }, unit) => {
      if (place === undefined) return [unit]
      const { message, part } = place
      return ['A note.', { rewrite: { unit, edits: [{ message, part, change: { text: 'Dry.' } }] } }]
    })
  await go(gardener(model), balerFilter({ host, at: 1_500, strategy }), { session }, 'And now?')
  assert.match(warnings.join(), /^baler: a history is sent as it is, because the SDK would store texts/)
  assert.deepEqual((await session.getItems()).slice(0, -2), [...items, say('Fine.')])
})

test('what the provider stores is not compacted', { skip }, async () => {
  const filter = balerFilter({ ...small, at: 100 })
  const model = new Scripted({ beds: 10 })
  await go(gardener(filter.withRetry(model)), filter, { previousResponseId: 'resp_0' })
  assert.doesNotMatch(JSON.stringify(model.seen), /baler/)
})

test('what failed does not fail the run', { skip }, async (t) => {
  const warnings = []
  setLog((message) => warnings.push(message))
  t.after(() => setLog(null))
  const filter = balerFilter({ ...small, at: 100 })
  for (const items of [[{ role: 'user', content: 'x', providerData: { big: 1n } }], [{ odd: true }], [null], [{ role: 'user', content: [null] }]]) {
    assert.equal(await shown(filter, items), items)
  }
  assert.equal(warnings.length, 4)
  assert.throws(() => balerFilter({ host }), OptionError)
  // Nor where answers pass, too.
  const input = [{ role: 'user', content: 'x', providerData: { big: 1n } }]
  const model = filter.withRetry({ getResponse: async () => ({ output: [], usage: new Usage({ inputTokens: 9 }) }) })
  assert.equal(await shown(filter, input), input)
  assert.equal((await model.getResponse({ input })).usage.inputTokens, 9)
})

test('outputs of every form are shortened in a copy', async () => {
  const long = 'Der Boden ist trocken, das Licht ist hell. '.repeat(400)
  const image = { type: 'input_image', image: 'data:image/png;base64,AAAA' }
  const outputs = [long, { type: 'text', text: long }, [{ type: 'input_text', text: long }, image]]
  for (const one of outputs) {
    const items = history(2)
    items.at(-1).output = one
    const before = structuredClone(items)
    const sent = await shown(balerFilter({ ...small, at: 1_500 }), items)
    assert.deepEqual(items, before)
    const { output: short, ...others } = sent.at(-1)
    const { output: _, ...given } = items.at(-1)
    assert.deepEqual(others, given)
    const text = typeof short === 'string' ? short : short[0].text
    assert.ok(text.length < long.length && text.includes('Der Boden'), text)
    if (Array.isArray(one)) assert.equal(short[1], image)
  }
})

test('items are described as the SDK sends them', { skip }, async () => {
  const sent = []
  const response = { id: 'r', object: 'response', created_at: 1, model: 'm', output: [], status: 'completed', usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } }
  const fetch = async (_, { body }) => {
    sent.push(JSON.parse(body))
    return Response.json(response)
  }
  const model = new OpenAIResponsesModel(new openai.default({ apiKey: 'k', fetch }), 'gpt-5-mini')
  const result = (given) => ({ type: 'function_call_result', callId: 'c', name: 'soil', status: 'completed', output: given })
  const input = [
    { role: 'user', content: 'plain' },
    {
      type: 'message', role: 'user', content: [
        { type: 'input_text', text: 'text' }, { type: 'input_image', image: 'https://x.org/a.png', detail: 'low' },
        { type: 'input_image', image: { id: 'file_1' }, detail: 'auto' }, { type: 'input_file', file: { url: 'https://x.org/a.pdf' } },
        { type: 'input_file', file: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' }, { type: 'input_file', file: { id: 'file_2' } },
      ],
    },
    { role: 'system', content: 'system' },
    {
      type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', phase: 'commentary',
      content: [{ type: 'output_text', text: 'answer', providerData: { annotations: [{ type: 'url_citation', url: 'u' }] } }, { type: 'refusal', refusal: 'no' }],
    },
    { type: 'message', id: 'FAKE_ID', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'answer', providerData: { annotations: [] } }] },
    { type: 'reasoning', id: 'rs_1', content: [{ type: 'input_text', text: 'I think' }], rawContent: [{ type: 'reasoning_text', text: 'raw' }], providerData: { encryptedContent: 'xyz' } },
    { type: 'function_call', id: 'fc_1', callId: 'c', name: 'soil', arguments: '{"bedNo":1}', status: 'completed' },
    result('text'),
    result({ type: 'text', text: 'bed' }),
    result({ type: 'image', image: { data: new Uint8Array([1, 2, 3]), mediaType: 'image/png' }, detail: 'low' }),
    result({ type: 'image', image: { url: 'https://x.org/b.png' }, detail: 'low' }),
    result({ type: 'file', file: { data: 'AAAA', mediaType: 'application/pdf', filename: 'b.pdf' } }),
    result({ type: 'file', file: { id: 'file_3' } }),
    result([{ type: 'input_text', text: 'a' }, { type: 'input_image', image: 'data:image/png;base64,AAAA', detail: 'low' }, { type: 'input_file', file: { id: 'f' } }]),
    { type: 'computer_call', id: 'cu_1', callId: 'c2', status: 'completed', action: { type: 'click', x: 1, y: 2, button: 'left' } },
    { type: 'computer_call_result', callId: 'c2', output: { type: 'computer_screenshot', data: 'data:image/png;base64,AAAA' } },
    { type: 'shell_call', id: 'sh_1', callId: 'c3', status: 'completed', action: { commands: ['ls'], timeoutMs: 5, maxOutputLength: 9 } },
    { type: 'shell_call_output', callId: 'c3', output: [{ stdout: 'a', stderr: 'b', outcome: { type: 'exit', exitCode: 1 } }] },
    { type: 'apply_patch_call', callId: 'c4', status: 'completed', operation: { type: 'create_file', path: 'a', diff: '+x' } },
    { type: 'apply_patch_call_output', callId: 'c4', status: 'completed', output: 'ok' },
    { type: 'hosted_tool_call', id: 'ws_1', name: 'web_search_call', status: 'completed', providerData: { type: 'web_search_call', action: { type: 'search', query: 'moss' } } },
    { type: 'hosted_tool_call', id: 'mcpr_1', name: 'mcp_approval_request', providerData: { type: 'mcp_approval_request', id: 'mcpr_1', name: 'n', arguments: '{}', server_label: 's' } },
    { type: 'hosted_tool_call', name: 'mcp_approval_response', providerData: { type: 'mcp_approval_response', approve: true, approval_request_id: 'mcpr_1' } },
    { type: 'compaction', id: 'cmp_1', encrypted_content: 'zzz' },
    { type: 'unknown', id: 'u_1', providerData: { type: 'future_item', someThing: 1 } },
  ]
  const ask = () => model.getResponse({ input, modelSettings: {}, tools: [], outputType: 'text', handoffs: [], tracing: false })
  await agents.withTrace('garden', ask)
  // Names that only the SDK knows, and a type that may be left out, are the only differences.
  const alike = ({ name, ...item }) => ({ type: 'message', ...item, ...(item.type === 'function_call' && { name }) })
  const json = (value) => JSON.parse(JSON.stringify(value))
  assert.equal(sent[0].input.length, input.length)
  assert.deepEqual(json(input.map(described)).map(alike), sent[0].input.map(alike))
})

test("the size of a request is what the provider counts, where a model is wrapped", { skip }, async (t) => {
  let tokens
  const { seen, url } = await provider(t, (asked, response) => {
    const bed = asked.body.input.findLast(({ type }) => type === 'function_call_output')?.call_id ?? -1
    const next = Number(bed) + 1
    const call = (bed) => ({ type: 'function_call', id: `fc_${bed}`, call_id: `${bed}`, name: 'soil', arguments: `{"bed":${bed}}`, status: 'completed' })
    const text = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Done.', annotations: [] }] }
    const usage = { input_tokens: tokens(asked), input_tokens_details: { cached_tokens: 9 }, output_tokens: 1, total_tokens: tokens(asked) + 1 }
    const json = { id: `resp_${next}`, object: 'response', created_at: 1, model: 'm', status: 'completed', tools: [], output: next < 90 ? [0, 1, 2].map((more) => call(next + more)) : [text], usage }
    if (!asked.body.stream) return { json }
    events(response, [{ type: 'response.created', response: { ...json, output: [], usage: null } }, { type: 'response.completed', response: json }])
  })
  const client = new openai.default({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0 })
  for (const stream of [false, true]) {
    const ask = async (isWrapped) => {
      seen.length = 0
      const compactions = []
      const filter = balerFilter({ ...small, at: 6_000, onCompaction: () => compactions.push(seen.length) })
      const model = new OpenAIResponsesModel(client, 'gpt-5-mini')
      const result = await go(gardener(isWrapped ? filter.withRetry(model) : model), filter, { stream, session: new MemorySession() })
      if (stream) await result.completed
      assert.equal(result.finalOutput, 'Done.')
      assert.equal(seen.length, 31)
      return compactions.length
    }
    tokens = () => 1
    assert.equal(await ask(true), 0)
    tokens = counted
    assert.equal(await ask(false), 0)
    assert.ok((await ask(true)) > 0)
    // What is added in a step is estimated.
    for (const asked of seen) assert.ok(counted(asked) < 6_500, `${counted(asked)} tokens`)
  }
})

test('a filter over the client of OpenAI, and its client alone', { skip }, async (t) => {
  const call = (bed) => ({ type: 'function_call', id: `fc_${bed}`, call_id: `${bed}`, name: 'soil', arguments: `{"bed":${bed}}`, status: 'completed' })
  const text = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Done.', annotations: [] }] }
  const { seen, url } = await provider(t, ({ body }) => {
    const last = body.input.findLast(({ type }) => type === 'function_call_output')
    const bed = last === undefined ? 0 : Number(last.call_id) + 1
    const reasoning = { type: 'reasoning', id: `rs_${bed}`, summary: [{ type: 'summary_text', text: `Bed ${bed} is next.` }] }
    return {
      json: {
        id: `resp_${bed}`, object: 'response', created_at: 1, model: 'm', status: 'completed', tools: [],
        output: bed < 60 ? [reasoning, call(bed), call(bed + 1)] : [text], usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      },
    }
  })
  const options = { ...small, at: 2_000 }
  for (const isFilter of [true, false]) {
    seen.length = 0
    const fetch = isFilter ? globalThis.fetch : balerFetch(options)
    const asked = new openai.default({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0, fetch })
    const filter = isFilter ? balerFilter(options) : undefined
    const session = new MemorySession()
    const runner = new Runner({ tracingDisabled: true })
    if (!isFilter) agents.setDefaultOpenAIClient(asked)
    const agent = gardener(isFilter ? new OpenAIResponsesModel(asked, 'gpt-5-mini') : 'gpt-5-mini')
    const result = await runner.run(agent, TASK, { session, maxTurns: 100, ...(filter && { callModelInputFilter: filter }) })
    assert.equal(result.finalOutput, 'Done.')
    assert.equal((await session.getItems()).length, 1 + 30 * 5 + 1)
    assert.ok(seen.at(-1).body.input.length < 100)
    for (const { body } of seen) {
      assert.ok((await validate(body, { format, host })).isValid)
      assert.ok((await count(body, { format, host })) < 2_200)
      assert.equal(body.input[0].content, TASK)
    }
  }
})
