// What a provider counts of a request takes the place of baler's estimate, wherever an answer passes.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Window } from 'baler'
import { balerFilter } from 'baler/agents'
import { balerMiddleware as forAi, balerPrepareStep } from 'baler/ai'
import { balerMiddleware as forAnthropic } from 'baler/anthropic'
import { baler as forApeira } from 'baler/apeira'
import { balerMiddleware as forLangChain } from 'baler/langchain'
import { BalerProcessor } from 'baler/mastra'
import { balerFetch } from 'baler/openai'

import { chatHistory, claudeHistory, output, responsesHistory, small, TASK } from './provider.mjs'

/** What baler counts of these histories is far below; what the provider counts, just. */
const at = { ...small, at: 6_000 }
const COUNTED = 5_990

/** Asks with a history, and with the same that has grown. Returns how many of its messages the model was sent then. */
async function twice(history, ask) {
  const first = history(40)
  assert.equal(await ask(first), first.length)
  const next = history(41)
  return [await ask(next), next.length]
}

/** Checks that the second request was compacted. */
function assertCompacted([sent, all]) {
  assert.ok(sent < all - 20, `${sent} of ${all} messages`)
}

test('a window believes what it is told, unless it cannot be', async () => {
  const made = []
  const window = new Window({ ...at, onCompaction: (one) => made.push(one) })
  const show = async (beds) => window.show('openai-chat', { messages: chatHistory(beds) })
  const first = await show(40)
  for (const nonsense of [0, -1, 3, 1.5, 2 ** 60, NaN, Infinity, '5990', null, undefined, {}]) first.noteCount(nonsense)
  assert.ok((await show(41)).isWhole)
  first.noteCount(COUNTED)
  assert.ok((await show(40)).isWhole)
  assert.ok(!(await show(41)).isWhole)
  assert.equal(made.length, 1)
  // The budget is one of the provider's tokens, too.
  const { after, budget } = made[0].receipt.tokens
  assert.equal(budget, Math.floor((3_000 * first.tokens) / COUNTED))
  assert.ok(after <= budget)
})

const ANSWERS = {
  'in JSON': ['application/json', [JSON.stringify({ choices: [], usage: { prompt_tokens: COUNTED, completion_tokens: 2 } })]],
  'in a stream': [
    'text/event-stream; charset=utf-8',
    ['data: {"choices":[{"delta":{"content":"潮', '"}}],"usage":null}\n\nda', `ta: {"choices":[],"usage":{"prompt_tokens":${COUNTED}}}\n\n`, 'data: [DONE]\n\n'],
  ],
}

for (const [name, [type, pieces]] of Object.entries(ANSWERS)) {
  const bytes = pieces.map((piece) => new TextEncoder().encode(piece))
  const answer = () => new Response(ReadableStream.from(bytes), { status: 200, statusText: 'Fine', headers: { 'content-type': type, 'x-request-id': 'r1' } })

  test(`fetch: ${name}`, async () => {
    let sent
    const fetch = balerFetch(at, async (_, { body }) => ((sent = JSON.parse(body).messages), answer()))
    assertCompacted(await twice(chatHistory, async (messages) => {
      const response = await fetch('https://models.example/v1/chat/completions', { method: 'POST', body: JSON.stringify({ messages }) })
      assert.equal(await response.text(), pieces.join(''))
      assert.deepEqual([response.status, response.statusText, response.headers.get('x-request-id')], [200, 'Fine', 'r1'])
      return sent.length
    }))
  })
}

test('fetch: an answer that nobody reads to its end tells nothing, and is given up', async () => {
  let sent
  let cancelled = 0
  const body = () => new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('data: {"choices":[]}\n\n')),
    cancel: () => (cancelled += 1),
  })
  const fetch = balerFetch(at, async (_, init) => {
    sent = JSON.parse(init.body).messages
    return new Response(body(), { headers: { 'content-type': 'text/event-stream' } })
  })
  const [last, all] = await twice(chatHistory, async (messages) => {
    const response = await fetch('https://models.example/v1/chat/completions', { method: 'POST', body: JSON.stringify({ messages }) })
    const reader = response.body.getReader()
    await reader.read()
    await reader.cancel('enough')
    return sent.length
  })
  assert.equal(last, all)
  assert.equal(cancelled, 2)
})

test('fetch: what is no stream of the platform passes as it is', async () => {
  const [used, locked] = [Response.json({}), Response.json({})]
  await used.text()
  locked.body.getReader()
  const answers = [new Response(null, { status: 204 }), { status: 200, ok: true, body: { pipe() {} }, headers: new Headers() }, Response.json({}, { status: 503 }), used, locked]
  for (const answer of answers) {
    const fetch = balerFetch(at, async () => answer)
    const body = JSON.stringify({ messages: chatHistory(2) })
    assert.equal(await fetch('https://models.example/v1/chat/completions', { method: 'POST', body }), answer)
  }
})

test('fetch: an answer that nobody reads is not touched', async () => {
  const answer = Response.json({})
  const fetch = balerFetch(at, async () => answer)
  const response = await fetch('https://models.example/v1/chat/completions', { method: 'POST', body: JSON.stringify({ messages: chatHistory(2) }) })
  await new Promise((resolve) => setTimeout(resolve, 10))
  // The runtime gives up the connections of those.
  assert.ok(!answer.body.locked)
  assert.deepEqual(await response.json(), {})
})

test("the middleware of Anthropic's client: what came from the cache counts", async () => {
  let sent
  const middleware = forAnthropic(at)
  const usage = { input_tokens: 90, cache_read_input_tokens: 5_000, cache_creation_input_tokens: 900, output_tokens: 7 }
  const next = async ({ body }) => ((sent = JSON.parse(body).messages), Response.json({ content: [], usage }))
  assertCompacted(await twice(claudeHistory, async (messages) => {
    const request = { url: 'https://models.example/v1/messages', method: 'POST', headers: new Headers(), body: JSON.stringify({ messages }) }
    await (await middleware(request, next)).json()
    return sent.length
  }))
})

/** A history of the AI SDK. */
function prompt(beds) {
  const messages = [{ role: 'user', content: [{ type: 'text', text: TASK }] }]
  for (let bed = 0; bed < beds; bed += 1) {
    const call = { toolCallId: `call-${bed}`, toolName: 'soil' }
    messages.push({ role: 'assistant', content: [{ type: 'tool-call', ...call, input: { bed } }] })
    messages.push({ role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'text', value: output(bed) } }] })
  }
  return messages
}

for (const [name, inputTokens] of [['a number', COUNTED], ['an object', { total: COUNTED, noCache: 90, cacheRead: 5_900 }]]) {
  test(`the AI SDK: usage as ${name}, in answers and streams`, async () => {
    const finish = { type: 'finish', usage: { inputTokens, outputTokens: 1 } }
    for (const isStream of [false, true]) {
      const middleware = forAi(at)
      const model = { modelId: 'gpt-5' }
      assertCompacted(await twice(prompt, async (messages) => {
        const params = await middleware.transformParams({ params: { prompt: messages }, model })
        if (isStream) {
          const stream = ReadableStream.from([{ type: 'text-delta', delta: 'x' }, finish])
          const { stream: passed, request } = await middleware.wrapStream({ doStream: async () => ({ stream, request: 'r' }), params, model })
          assert.deepEqual(await all(passed), [{ type: 'text-delta', delta: 'x' }, finish])
          assert.equal(request, 'r')
        } else {
          const answer = { content: [], usage: finish.usage }
          assert.equal(await middleware.wrapGenerate({ doGenerate: async () => answer, params, model }), answer)
        }
        return params.prompt.length
      }))
    }
  })
}

test('the AI SDK: usage that says nothing does no harm', async () => {
  const middleware = forAi(at)
  for (const usage of [undefined, null, {}, { inputTokens: null }, { inputTokens: {} }, { inputTokens: '9' }]) {
    const params = await middleware.transformParams({ params: { prompt: prompt(2) }, model: { modelId: 'gpt-5' } })
    assert.equal((await middleware.wrapGenerate({ doGenerate: async () => ({ usage }), params, model: { modelId: 'gpt-5' } })).usage, usage)
  }
})

test("the AI SDK's `prepareStep`: what a step used that it did not see counts for no other", async () => {
  const prepare = balerPrepareStep(at)
  const whole = prompt(41)
  const ask = async (beds, steps) => (await prepare({ messages: whole.slice(0, 1 + 2 * beds), model: 'gpt-5', steps })).messages
  const usage = { inputTokens: COUNTED }
  assert.equal(await ask(39, []), undefined)
  assert.equal(await ask(41, [{}, { usage }]), undefined)
})

test("the AI SDK's `prepareStep`: with the next step, tools included", async () => {
  const prepare = balerPrepareStep(at)
  const steps = []
  // Version 6 hands over the whole history with each step.
  const whole = prompt(41)
  assertCompacted(await twice((beds) => whole.slice(0, 1 + 2 * beds), async (messages) => {
    const made = await prepare({ messages, model: 'gpt-5', steps })
    steps.push({ usage: { inputTokens: COUNTED } })
    return (made.messages ?? messages).length
  }))
})

async function all(stream) {
  const parts = []
  for await (const part of stream) parts.push(part)
  return parts
}

test('the Agents SDK: where a model is wrapped', async () => {
  const items = (beds) => responsesHistory(beds).map(({ type, call_id: callId, ...rest }) =>
    type === 'function_call_output' ? { type: 'function_call_result', callId, name: 'soil', status: 'completed', ...rest } : { type, ...(callId && { callId, status: 'completed' }), ...rest },
  )
  const usage = { inputTokens: COUNTED, outputTokens: 1 }
  const inner = {
    getResponse: async () => ({ output: [], usage }),
    async *getStreamedResponse() {
      yield { type: 'response_started' }
      yield { type: 'response_done', response: { output: [], usage } }
    },
  }
  for (const isStream of [false, true]) {
    const filter = balerFilter(at)
    const model = filter.withRetry(inner)
    assertCompacted(await twice(items, async (input) => {
      const shown = await filter({ modelData: { input }, agent: {} })
      // The SDK hands over a copy.
      const request = { input: structuredClone(shown.input) }
      if (isStream) assert.equal((await all(model.getStreamedResponse(request))).length, 2)
      else await model.getResponse(request)
      return shown.input.length
    }))
  }
})

test('LangChain', async () => {
  const middleware = forLangChain(at)
  const history = (beds) => chatHistory(beds).map(({ role, content, tool_calls, tool_call_id }) => {
    const calls = tool_calls?.map(({ id, function: { name, arguments: args } }) => ({ id, name, args: JSON.parse(args) }))
    return { type: { system: 'system', user: 'human', assistant: 'ai', tool: 'tool' }[role], content: content ?? '', tool_calls: calls, tool_call_id }
  })
  const answer = { type: 'ai', content: 'Done.', usage_metadata: { input_tokens: COUNTED, output_tokens: 1, total_tokens: COUNTED + 1 } }
  assertCompacted(await twice(history, async (messages) => {
    let sent
    const request = { model: {}, messages, tools: [], state: { messages }, runtime: {} }
    assert.equal(await middleware.wrapModelCall(request, (one) => ((sent = one.messages), answer)), answer)
    return sent.length
  }))
})

test('Mastra', async () => {
  const processor = new BalerProcessor(at)
  const state = {}
  assertCompacted(await twice(prompt, async (messages) => {
    processor.processInputStep({ state })
    const made = await processor.processLLMRequest({ prompt: messages, model: { modelId: 'gpt-5' }, state })
    const finish = { type: 'finish', payload: { output: { usage: { inputTokens: COUNTED } } } }
    processor.processLLMResponse({ state, chunks: [{ type: 'text-delta', payload: { text: 'x' } }, finish] })
    return (made?.prompt ?? messages).length
  }))
})

test('Apeira: with the next step of the same agent, whatever its forks do', async () => {
  const plugin = forApeira(at)
  const ask = async (input, steps) => ((await plugin.prepareStep({ input, model: 'gpt-5', steps })).input ?? input).length
  const other = [{ role: 'user', content: 'Und die Kräuter?' }]
  const usage = { inputTokens: COUNTED, totalTokens: COUNTED + 1 }
  const steps = []
  assertCompacted(await twice(responsesHistory, async (input) => {
    const sent = await ask(input, steps)
    await ask(other, [])
    steps.push({ usage })
    return sent
  }))
  // What the fork is told is of no other history.
  const fork = (beds) => responsesHistory(beds).toSpliced(1, 0, ...other)
  assert.equal(await ask(fork(40), []), fork(40).length)
  await ask([...other, ...other], [{ usage }])
  assert.equal(await ask(fork(41), [{}]), fork(41).length)
})
