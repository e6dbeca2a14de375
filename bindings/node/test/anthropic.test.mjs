// `balerMiddleware` in the client of Anthropic; `balerFetch` in those that have no middleware.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { count, OptionError, validate } from 'baler'
import { balerFetch, balerMiddleware } from 'baler/anthropic'

import { claudeAnswer, claudeHistory, claudeRefusal, framework, host, output, provider, small, stream as events, TASK, upTo, without } from './provider.mjs'

const anthropic = framework('@anthropic-ai/sdk')
const skip = without(anthropic)
/** Whether the client has `middleware`: since 0.101. */
const hasMiddleware = !skip && new anthropic.default({ apiKey: 'k' }).middleware !== undefined

const client = (url, options) => {
  const given = { ...small, ...options }
  const hook = hasMiddleware ? { middleware: [balerMiddleware(given)] } : { fetch: balerFetch(given) }
  return new anthropic.default({ apiKey: 'k', baseURL: url, maxRetries: 0, ...hook })
}

const ask = { model: 'claude-sonnet-4-5', max_tokens: 10, system: 'You are a gardener.' }

test('messages are compacted once they are too large', { skip }, async (t) => {
  const { seen, url } = await provider(t, claudeAnswer)
  const compactions = []
  const asked = client(url, { at: 1_500, onCompaction: (compaction) => compactions.push(compaction) })
  assert.equal(hasMiddleware, !anthropic.version.startsWith('0.39.'))
  const messages = claudeHistory(5)
  await asked.messages.create({ ...ask, messages })
  assert.deepEqual(seen.at(-1).body.messages, messages)
  const history = claudeHistory()
  const before = structuredClone(history)
  for (let step = 0; step < 4; step += 1) await asked.messages.create({ ...ask, messages: history.slice(0, 75 + 2 * step) })
  assert.deepEqual(history, before)
  assert.equal(compactions.length, 1)
  const [first, ...later] = seen.slice(1).map(({ body }) => body)
  assert.ok(first.messages.length < 75 && first.system === ask.system)
  assert.match(JSON.stringify(first.messages[0]), new RegExp(TASK))
  for (const body of [first, ...later]) {
    assert.ok((await validate(body, { format: 'anthropic', host })).isValid)
    assert.ok((await count(body, { format: 'anthropic', host })) <= 1_500)
    assert.deepEqual(body.messages.slice(0, first.messages.length), first.messages)
  }
})

test('an overflow leads to one smaller request', { skip }, async (t) => {
  const messages = claudeHistory()
  const { seen, url } = await provider(t, upTo(JSON.stringify(messages).length * 0.75, claudeRefusal, claudeAnswer))
  const asked = client(url, { contextWindow: 1_000_000 })
  assert.equal((await asked.messages.create({ ...ask, messages })).content[0].text, 'Done.')
  assert.equal(seen.length, 2)
  assert.ok((await validate(seen[1].body, { host })).isValid)
  // The next request does not run into it again.
  await asked.messages.create({ ...ask, messages: [...messages, ...claudeHistory(42).slice(-2)] })
  assert.equal(seen.length, 3)
})

test('an overflow that cannot be helped is the own error of the provider', { skip }, async (t) => {
  const { seen, url } = await provider(t, upTo(1, claudeRefusal, claudeAnswer))
  const refused = (error) => error instanceof anthropic.default.BadRequestError && /prompt is too long/.test(error.message)
  await assert.rejects(client(url, { contextWindow: 1_000_000 }).messages.create({ ...ask, messages: claudeHistory() }), refused)
  assert.equal(seen.length, 2)
  const unhelped = { status: 400, json: { error: { type: 'invalid_request_error', message: 'roles must alternate' } } }
  const other = await provider(t, () => unhelped)
  await assert.rejects(client(other.url, { at: 1_500 }).messages.create({ ...ask, messages: claudeHistory() }), /roles must alternate/)
  assert.equal(other.seen.length, 1)
})

test('what the provider compacts itself is not compacted, nor are other requests', { skip }, async (t) => {
  const { seen, url } = await provider(t, ({ url: path }) => (path.includes('count_tokens') ? { json: { input_tokens: 5 } } : claudeAnswer()))
  const asked = client(url, { at: 1_500 })
  const messages = claudeHistory()
  await asked.messages.create({ ...ask, messages, compaction: { type: 'summarize' } })
  assert.deepEqual(seen.at(-1).body.messages, messages)
  await asked.messages.countTokens({ model: ask.model, messages })
  assert.deepEqual(seen.at(-1).body.messages, messages)
  await asked.beta.messages.create({ ...ask, messages })
  assert.ok(seen.at(-1).body.messages.length < messages.length)
})

test('thinking that is bound to removed messages goes with them', { skip }, async (t) => {
  const { seen, url } = await provider(t, claudeAnswer)
  const messages = claudeHistory().map((message, index) => {
    if (message.role === 'user') return message
    return { ...message, content: [{ type: 'thinking', thinking: `Bed ${index} may be dry.`, signature: `s${index}` }, ...message.content] }
  })
  const body = { ...ask, model: 'claude-opus-5-5', max_tokens: 2_000, thinking: { type: 'adaptive' }, messages }
  await client(url, { at: 2_500 }).messages.create(body)
  const sent = seen[0].body.messages
  assert.ok(sent.length < messages.length && sent.length > 4)
  assert.doesNotMatch(JSON.stringify(sent), /"thinking"/)
})

test('the size of a request is what the provider counts', { skip }, async (t) => {
  // Far more than baler does.
  const usage = { input_tokens: 90, cache_read_input_tokens: 5_000, cache_creation_input_tokens: 900, output_tokens: 1 }
  const message = { ...claudeAnswer().json, usage }
  const { seen, url } = await provider(t, ({ body }, answer) => {
    if (!body.stream) return { json: message }
    events(answer, [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Done.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ])
  })
  const asks = {
    'an answer': ({ messages }, body) => messages.create(body),
    'an answer with its response': ({ messages }, body) => messages.create(body).withResponse(),
    'a response': async ({ messages }, body) => (await messages.create(body).asResponse()).text(),
    'a stream': async ({ messages }, body) => {
      for await (const _ of await messages.create({ ...body, stream: true }));
    },
    'a stream that is given up': async ({ messages }, body) => {
      for await (const { type } of await messages.create({ ...body, stream: true })) if (type === 'content_block_delta') break
    },
    'the helper for streams': async ({ messages }, body) => assert.equal(await messages.stream(body).finalText(), 'Done.'),
    'the helper, aborted': async ({ messages }, body) => {
      const stream = messages.stream(body)
      stream.on('text', () => stream.abort())
      await assert.rejects(stream.done(), anthropic.default.APIUserAbortError)
    },
    'the beta': ({ beta }, body) => beta.messages.create(body),
  }
  for (const [name, send] of Object.entries(asks)) {
    const asked = client(url, { at: 6_000 })
    seen.length = 0
    for (const beds of [40, 41]) await send(asked, { ...ask, messages: claudeHistory(beds) })
    const [before, after] = seen.map(({ body }) => body.messages.length)
    assert.equal(before, claudeHistory(40).length, name)
    assert.ok(after < before - 20, `${name}: ${after}`)
  }
})

test('streams pass as they come', { skip }, async (t) => {
  const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const delta = (text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
  let goOn
  const isRead = new Promise((resolve) => (goOn = resolve))
  const { seen, url } = await provider(t, async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(event({ type: 'message_start', message: { ...claudeAnswer().json, content: [] } }) + delta('Der Efeu '))
    // The rest comes after the client has read the beginning.
    await isRead
    response.end(delta('ist 乾燥') + event({ type: 'message_stop' }))
  })
  const words = []
  for await (const { delta: one } of await client(url, { at: 1_500 }).messages.create({ ...ask, messages: claudeHistory(), stream: true })) {
    if (one === undefined) continue
    words.push(one.text)
    goOn()
  }
  assert.deepEqual(words, ['Der Efeu ', 'ist 乾燥'])
  assert.ok(seen[0].body.messages.length < claudeHistory().length)
})

test('a signal ends a compaction, and a request', { skip }, async (t) => {
  const controller = new AbortController()
  const { seen, url } = await provider(t, () => controller.abort())
  const request = (options, signal) => client(url, options).messages.create({ ...ask, messages: claudeHistory() }, { signal })
  const never = () => new Promise(() => {})
  await assert.rejects(request({ at: 1_500, strategy: never }, AbortSignal.timeout(100)), anthropic.default.APIUserAbortError)
  assert.equal(seen.length, 0)
  await assert.rejects(request({ at: 1_500 }, controller.signal), anthropic.default.APIUserAbortError)
  assert.equal(seen.length, 1)
})

test('an agent of 45 turns with parallel calls', { skip }, async (t) => {
  const { seen, url } = await provider(t, ({ body }) => {
    const last = body.messages.at(-1).content
    const bed = Array.isArray(last) ? Number(last.at(-1).tool_use_id) + 1 : 0
    if (bed >= 90) return claudeAnswer()
    const content = [bed, bed + 1].map((one) => ({ type: 'tool_use', id: `${one}`, name: 'soil', input: { bed: one } }))
    return { json: { ...claudeAnswer().json, stop_reason: 'tool_use', content } }
  })
  const compactions = []
  const asked = client(url, { at: 2_000, onCompaction: () => compactions.push(seen.length) })
  const messages = claudeHistory(0)
  for (;;) {
    const { content, stop_reason: why } = await asked.messages.create({ ...ask, messages })
    messages.push({ role: 'assistant', content })
    if (why !== 'tool_use') break
    messages.push({ role: 'user', content: content.map(({ id, input }) => ({ type: 'tool_result', tool_use_id: id, content: output(input.bed) })) })
  }
  assert.equal(seen.length, 46)
  assert.equal(messages.length, 92)
  assert.ok(compactions.length >= 2 && compactions.length < 10, `${compactions.length} compactions`)
  for (const [index, { body }] of seen.entries()) {
    assert.ok((await validate(body, { format: 'anthropic', host })).isValid)
    assert.ok((await count(body, { format: 'anthropic', host })) < 2_000)
    assert.match(JSON.stringify(body.messages[0]), new RegExp(TASK))
    if (index === 0 || compactions.includes(index)) continue
    const before = seen[index - 1].body.messages
    assert.deepEqual(body.messages.slice(0, before.length), before)
  }
})

test('a middleware alone', async () => {
  assert.throws(() => balerMiddleware({ host }), OptionError)
  const middleware = balerMiddleware({ ...small, at: 1_500 })
  const body = JSON.stringify({ ...ask, messages: claudeHistory() })
  const request = { method: 'post', url: 'https://api.anthropic.com/v1/messages', headers: new Headers({ 'content-length': `${body.length}`, 'x-bed': '7' }), body }
  const seen = []
  const next = async (sent) => {
    seen.push(sent)
    return new Response('{}')
  }
  for (const other of [{ ...request, method: 'get' }, { ...request, body: undefined }, { ...request, url: 'https://x.org/v1/chat/completions' }]) {
    await middleware(other, next)
    assert.equal(seen.at(-1), other)
  }
  await middleware(request, next)
  const { headers, body: sent, ...others } = seen.at(-1)
  assert.deepEqual(others, { method: 'post', url: request.url })
  assert.deepEqual([...headers], [['x-bed', '7']])
  assert.ok(sent.length < body.length)
  assert.equal(request.headers.get('content-length'), `${body.length}`)
})
