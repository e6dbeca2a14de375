// `balerFetch`: alone, and below the clients of OpenAI and Google.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'

import { count, OptionError, setLog, validate } from 'baler'
import { balerFetch } from 'baler/openai'

import {
  bedrockHistory, chatAnswer, chatHistory, chatRefusal, claudeHistory, framework, geminiHistory, host, output, provider,
  responsesHistory, size, small, stream as events, TASK, toolConfig, upTo, without,
} from './provider.mjs'

const openai = framework('openai')
const genai = framework('@google/genai', '3.')
const langchain = framework('@langchain/openai')

const client = (url, options, more = {}) =>
  new openai.default({ apiKey: 'k', baseURL: `${url}/v1`, maxRetries: 0, fetch: balerFetch({ ...small, ...options }), ...more })

const model = 'gpt-4o'

const post = (body) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body })

test('requests of every format are compacted once they are too large', async (t) => {
  const { seen, url } = await provider(t, () => ({ json: {} }))
  const fetch = balerFetch({ ...small, at: 1_500 })
  const cases = [
    ['/v1/chat/completions?api-version=1', 'openai-chat', 'messages', chatHistory],
    ['/openai/v1/responses/', 'openai-responses', 'input', responsesHistory],
    ['/v1/messages?beta=true', 'anthropic', 'messages', claudeHistory],
    ['/v1beta/models/gemini-3-pro:generateContent', 'gemini', 'contents', geminiHistory],
    ['/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse', 'gemini', 'contents', geminiHistory],
    ['/model/claude/converse', 'bedrock-converse', 'messages', bedrockHistory],
    ['/model/claude/converse-stream', 'bedrock-converse', 'messages', bedrockHistory],
  ]
  for (const [path, format, member, history] of cases) {
    const whole = history()
    const frame = format === 'bedrock-converse' ? { toolConfig } : {}
    await fetch(url + path, post(JSON.stringify({ [member]: history(5), ...frame })))
    assert.deepEqual(seen.at(-1).body, { [member]: history(5), ...frame }, path)
    await fetch(url + path, post(JSON.stringify({ [member]: whole, ...frame })))
    const { body } = seen.at(-1)
    const { [member]: sent, ...others } = body
    assert.deepEqual(others, frame, path)
    assert.ok(sent.length < whole.length, path)
    assert.ok((await validate(body, { format, host })).isValid, path)
    assert.ok((await count(body, { format, host })) <= 1_500, path)
    assert.match(JSON.stringify(sent[format === 'openai-chat' ? 1 : 0]), new RegExp(TASK), path)
    assert.deepEqual(sent.at(-1), whole.at(-1), path)
  }
})

test('requests that hold no messages pass untouched', async () => {
  const seen = []
  const fetch = balerFetch({ ...small, at: 500 }, async (...sent) => {
    seen.push(sent)
    return new Response('{}')
  })
  const body = JSON.stringify({ messages: chatHistory(), input: 'x' })
  const form = new FormData()
  form.set('messages', 'x')
  const cases = [
    ['https://api.openai.com/v1/embeddings', post(body)],
    ['https://api.openai.com/v1/chat/completions', { method: 'GET' }],
    ['https://api.openai.com/v1/chat/completions'],
    ['https://api.openai.com/v1/chat/completions', { method: 'POST' }],
    ['https://api.anthropic.com/v1/messages/count_tokens', post(body)],
    [new URL('https://api.openai.com/v1/responses/resp_1/cancel'), post(body)],
    ['https://api.openai.com/v1/chat/completions', { method: 'POST', body: form }],
    [new Request('https://api.openai.com/v1/models', { method: 'POST', body })],
  ]
  for (const sent of cases) {
    await fetch(...sent)
    assert.equal(seen.at(-1).length, sent.length)
    for (const [index, argument] of sent.entries()) assert.equal(seen.at(-1)[index], argument)
  }
})

test('bodies of every form are read and sent', async (t) => {
  const { seen, url } = await provider(t, () => ({ json: {} }))
  const fetch = balerFetch({ ...small, at: 1_500 })
  const path = `${url}/v1/chat/completions`
  const bytes = (text) => new TextEncoder().encode(text)
  const stream = (text) => ReadableStream.from([bytes(text.slice(0, 50)), bytes(text.slice(50))])
  const more = { method: 'POST', duplex: 'half', headers: { 'x-bed': '7' } }
  const forms = {
    text: (text) => [path, { ...more, body: text }],
    bytes: (text) => [path, { ...more, body: bytes(text) }],
    buffer: (text) => [new URL(path), { ...more, method: 'post', body: bytes(text).buffer }],
    view: (text) => [path, { ...more, body: new DataView(bytes(text).buffer) }],
    blob: (text) => [path, { ...more, body: new Blob([text]) }],
    stream: (text) => [path, { ...more, body: stream(text) }],
    'request of a text': (text) => [new Request(path, { ...more, body: text })],
    'request of a stream': (text) => [new Request(path, { ...more, body: stream(text) })],
    'request with another body': (text) => [new Request(path, { ...more, body: 'x' }), { body: text }],
    'length in the headers': (text) => [path, { ...more, headers: { ...more.headers, 'Content-Length': `${bytes(text).length}` }, body: text }],
  }
  for (const [name, form] of Object.entries(forms)) {
    for (const beds of [5, 40]) {
      const text = JSON.stringify({ model, messages: chatHistory(beds) })
      const response = await fetch(...form(text))
      assert.deepEqual(await response.json(), {}, name)
      const { headers, text: sent, method } = seen.at(-1)
      assert.equal(method, 'POST', name)
      assert.equal(headers['x-bed'], '7', name)
      if (beds === 5) assert.equal(sent, text, name)
      else assert.ok(sent.length < text.length && (await validate(sent, { host })).isValid, name)
      // What was sent as a stream may still be one.
      if (headers['transfer-encoding'] === undefined) assert.equal(headers['content-length'], `${bytes(sent).length}`, name)
    }
  }
})

test('all but the messages is sent as it is', async (t) => {
  const { seen, url } = await provider(t, () => ({ json: {} }))
  const body = `{\n "seed": 12345678901234567890,"messages": ${JSON.stringify(chatHistory(), null, 1)}, "model": "gpt-4o"\n}`
  await balerFetch({ ...small, at: 1_500 })(`${url}/v1/chat/completions`, post(body))
  const { text } = seen.at(-1)
  assert.ok(text.startsWith('{\n "seed": 12345678901234567890,') && text.endsWith('"model": "gpt-4o"\n}'))
  assert.ok(text.length < body.length)
})

test('requests that are signed with their body pass, with one warning', async (t) => {
  const warnings = []
  setLog((message) => warnings.push(message))
  t.after(() => setLog(null))
  const { seen, url } = await provider(t, () => ({ json: {} }))
  const fetch = balerFetch({ ...small, at: 1_500 })
  const body = JSON.stringify({ messages: bedrockHistory(), toolConfig })
  for (const Authorization of ['AWS4-HMAC-SHA256 Credential=…', 'AWS4-HMAC-SHA256 Credential=…', 'Bearer k']) {
    await fetch(`${url}/model/claude/converse`, { method: 'POST', headers: { Authorization: encodeURI(Authorization) }, body })
  }
  assert.deepEqual(seen.map(({ text }) => text === body), [true, true, false])
  assert.equal(warnings.length, 1)
  assert.match(warnings[0], /signed/)
})

test('an answer passes unread, with all that it says', async (t) => {
  const { url } = await provider(t, (_, response) => {
    response.writeHead(201, 'Fine', { 'x-request-id': 'r1', 'set-cookie': ['a=1', 'b=2'] })
    response.write('{"choices": ')
    setTimeout(() => response.end('[]}'), 20)
  })
  const path = `${url}/v1/chat/completions`
  const request = post(JSON.stringify({ messages: chatHistory() }))
  const [answer, plain] = [await balerFetch({ ...small, at: 1_500 })(path, request), await fetch(path, request)]
  assert.ok(answer instanceof Response)
  assert.deepEqual([answer.bodyUsed, answer.status, answer.ok, answer.url], [false, 201, true, path])
  for (const member of ['statusText', 'redirected', 'type']) assert.equal(answer[member], plain[member])
  assert.equal(answer.headers.get('x-request-id'), 'r1')
  assert.deepEqual(answer.headers.getSetCookie(), ['a=1', 'b=2'])
  assert.deepEqual(await answer.clone().json(), { choices: [] })
  assert.equal(await answer.text(), '{"choices": []}')
})

test('a broken history is sent as it is, and told', async (t) => {
  const warnings = []
  setLog((message) => warnings.push(message))
  t.after(() => setLog(null))
  const { seen, url } = await provider(t, () => ({ json: {} }))
  const fetch = balerFetch({ ...small, at: 1_500 })
  const history = chatHistory().toSpliced(9, 1)
  await fetch(`${url}/v1/chat/completions`, post(JSON.stringify({ messages: history })))
  assert.deepEqual(seen.at(-1).body.messages, history)
  assert.match(warnings.join(), /message 9.*CHAT-2.*repair/)
  await fetch(`${url}/v1/chat/completions`, post('{"messages": [{'))
  assert.equal(seen.at(-1).text, '{"messages": [{')
  assert.equal(warnings.length, 2)
})

test('wrong options are told at once', () => {
  assert.throws(() => balerFetch({ host }), OptionError)
  assert.throws(() => balerFetch({ host, at: 100, budget: 100 }), OptionError)
  assert.throws(() => balerFetch({ host, at: 100, contextWindows: 5 }), /contextWindows/)
  assert.throws(() => balerFetch(), TypeError)
})

test('a signal ends a compaction', async () => {
  const never = () => new Promise(() => {})
  const fetch = balerFetch({ host, at: 1_500, strategy: never }, () => assert.fail('nothing was to be sent'))
  const body = JSON.stringify({ messages: chatHistory() })
  const path = 'https://x.org/v1/chat/completions'
  const reason = new Error('The gardener left.')
  await assert.rejects(fetch(path, { ...post(body), signal: AbortSignal.abort(reason) }), reason)
  const controller = new AbortController()
  setTimeout(() => controller.abort(reason), 50)
  await assert.rejects(fetch(path, { ...post(body), signal: controller.signal }), reason)
  await assert.rejects(fetch(new Request(path, { ...post(body), signal: AbortSignal.timeout(50) })), { name: 'TimeoutError' })
})

test('an agent of 45 turns with parallel calls', { skip: without(openai) }, async (t) => {
  const beds = 90
  const { seen, url } = await provider(t, ({ body }) => {
    const last = body.messages.findLast(({ role }) => role === 'tool')
    const bed = last === undefined ? 0 : Number(last.tool_call_id) + 1
    const calls = [bed, bed + 1].map((one) => ({ id: `${one}`, type: 'function', function: { name: 'soil', arguments: `{"bed":${one}}` } }))
    return chatAnswer(bed < beds ? { role: 'assistant', content: null, tool_calls: calls } : undefined)
  })
  const compactions = []
  const asked = client(url, { at: 2_000, onCompaction: (compaction) => compactions.push(seen.length) })
  const messages = chatHistory(0)
  for (;;) {
    const { message } = (await asked.chat.completions.create({ model, messages })).choices[0]
    messages.push(message)
    if (!message.tool_calls?.length) break
    for (const call of message.tool_calls) {
      messages.push({ role: 'tool', tool_call_id: call.id, content: output(JSON.parse(call.function.arguments).bed) })
    }
  }
  assert.equal(messages.at(-1).content, 'Done.')
  assert.equal(seen.length, 46)
  assert.equal(messages.length, 2 + 45 * 3 + 1)
  assert.ok(compactions.length >= 2 && compactions.length < 10, `${compactions.length} compactions`)
  for (const [index, { body }] of seen.entries()) {
    assert.ok((await validate(body, { format: 'openai-chat', host })).isValid)
    assert.ok((await count(body, { format: 'openai-chat', host })) < 2_000)
    assert.deepEqual(body.messages.slice(0, 2), messages.slice(0, 2))
    if (index === 0 || compactions.includes(index)) continue
    // Between compactions, each request begins with the one before.
    const before = seen[index - 1].body.messages
    assert.deepEqual(body.messages.slice(0, before.length), before)
  }
})

test('the view is repeated until it grew too large, for each conversation its own', { skip: without(openai) }, async (t) => {
  const { seen, url } = await provider(t, () => chatAnswer())
  const compactions = []
  const asked = client(url, { at: 1_500, onCompaction: (compaction) => compactions.push(compaction) })
  const history = chatHistory()
  const before = structuredClone(history)
  for (let step = 0; step < 4; step += 1) {
    await asked.chat.completions.create({ model, messages: history.slice(0, history.length - 8 + 2 * step) })
  }
  const [first, ...later] = seen.map(({ body }) => body.messages)
  for (const sent of later) assert.deepEqual(sent.slice(0, first.length), first)
  assert.equal(compactions.length, 1)
  assert.deepEqual(history, before)
  await asked.chat.completions.create({ model, messages: [history[0], { role: 'user', content: 'Another garden.' }, ...history.slice(2)] })
  assert.equal(compactions.length, 2)
  assert.match(seen.at(-1).text, /Another garden\./)
  await asked.chat.completions.create({ model, messages: chatHistory(80) })
  assert.equal(compactions.length, 3)
  assert.ok((await validate(seen.at(-1).body, { host })).isValid)
})

test('an overflow leads to one smaller request', { skip: without(openai) }, async (t) => {
  const history = chatHistory()
  const limit = JSON.stringify(history).length * 0.8
  const { seen, url } = await provider(t, upTo(limit, chatRefusal, () => chatAnswer()))
  const asked = client(url, { contextWindow: 1_000_000 })
  const answer = await asked.chat.completions.create({ model, messages: history })
  assert.equal(answer.choices[0].message.content, 'Done.')
  assert.equal(seen.length, 2)
  assert.ok(size(seen[0]) > limit && size(seen[1]) <= limit)
  assert.ok((await validate(seen[1].body, { host })).isValid)
  // The next request does not run into it again.
  await asked.chat.completions.create({ model, messages: [...history, { role: 'user', content: 'And now?' }] })
  assert.equal(seen.length, 3)
  // Nor does a stream.
  const stream = client(url, { contextWindow: 1_000_000 }).chat.completions.create({ model, messages: history, stream: true })
  await stream
  assert.equal(seen.length, 5)
})

test('an overflow that cannot be helped is the own error of the provider', { skip: without(openai) }, async (t) => {
  const { seen, url } = await provider(t, upTo(1, chatRefusal, () => chatAnswer()))
  const asked = client(url, { contextWindow: 1_000_000 })
  const refused = (error) => error instanceof openai.default.BadRequestError && /maximum context length/.test(error.message)
  await assert.rejects(asked.chat.completions.create({ model, messages: [{ role: 'user', content: TASK }] }), refused)
  assert.equal(seen.length, 1)
  await assert.rejects(asked.chat.completions.create({ model, messages: chatHistory() }), refused)
  assert.equal(seen.length, 3)
})

test('other errors pass', { skip: without(openai) }, async (t) => {
  const refusal = { error: { message: 'Rate limit reached: too many tokens per min', code: 'rate_limit_exceeded' } }
  const { seen, url } = await provider(t, () => ({ status: 429, json: refusal }))
  const asked = client(url, { at: 1_500 })
  await assert.rejects(asked.chat.completions.create({ model, messages: chatHistory() }), openai.default.RateLimitError)
  assert.equal(seen.length, 1)
})

test('what the provider stores is not compacted', { skip: without(openai) }, async (t) => {
  const response = { id: 'r', object: 'response', created_at: 1, model, output: [], status: 'completed', tools: [] }
  const { seen, url } = await provider(t, () => ({ json: response }))
  const asked = client(url, { at: 1_500 })
  const input = responsesHistory()
  await asked.responses.create({ model, input, previous_response_id: 'r0' })
  assert.deepEqual(seen.at(-1).body.input, input)
  await asked.responses.create({ model, input, store: false })
  assert.ok(seen.at(-1).body.input.length < input.length)
})

test('the size of a request is what the provider counts', { skip: without(openai) }, async (t) => {
  // Far more than baler does.
  const tokens = 5_990
  const response = { id: 'r', object: 'response', created_at: 1, model, output: [], status: 'completed', tools: [], usage: { input_tokens: tokens, output_tokens: 1 } }
  const chunk = { id: '1', object: 'chat.completion.chunk', created: 1, model }
  const usage = { prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 }
  const { seen, url } = await provider(t, ({ url: path, body, headers }, answer) => {
    const isChat = path.includes('chat')
    const json = isChat ? { ...chatAnswer().json, usage } : response
    if (!body.stream && headers['x-zip'] === undefined) return { json }
    if (!body.stream) return void answer.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(json)))
    const delta = { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Der Efeu.' }, finish_reason: null }], usage: null }
    const done = { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null }
    const chat = [delta, done, ...(body.stream_options?.include_usage ? [{ ...chunk, choices: [], usage }] : [])]
    events(answer, isChat ? chat : [{ type: 'response.created', response: { ...response, usage: null } }, { type: 'response.completed', response }])
  })
  const all = async (parts) => {
    const last = []
    for await (const part of parts) last[0] = part
    return last[0]
  }
  const streamed = { stream: true, stream_options: { include_usage: true } }
  const asks = {
    'an answer': ({ chat }, messages) => chat.completions.create({ model, messages }),
    'an answer with its response': ({ chat }, messages) => chat.completions.create({ model, messages }).withResponse(),
    'a response': async ({ chat }, messages) => (await chat.completions.create({ model, messages }).asResponse()).json(),
    'an answer that was compressed': ({ chat }, messages) => chat.completions.create({ model, messages }, { headers: { 'x-zip': '1' } }),
    'a stream': async ({ chat }, messages) => all(await chat.completions.create({ model, messages, ...streamed })),
    'both halves of a stream': async ({ chat }, messages) => {
      const [one, other] = (await chat.completions.create({ model, messages, ...streamed })).tee()
      assert.deepEqual(await all(one), await all(other))
    },
    'a stream that is read slowly': async ({ chat }, messages) => {
      for await (const _ of await chat.completions.create({ model, messages, ...streamed })) await new Promise((resolve) => setTimeout(resolve, 20))
    },
    'a stream of responses that is given up at its end': async ({ responses }, input) => {
      for await (const { type } of await responses.create({ model, input, stream: true })) if (type === 'response.completed') break
    },
  }
  for (const [name, ask] of Object.entries(asks)) {
    const history = name.includes('responses') ? responsesHistory : chatHistory
    const asked = client(url, { at: 6_000 })
    seen.length = 0
    for (const beds of [40, 41]) await ask(asked, history(beds))
    const [before, after] = seen.map(({ body }) => (body.messages ?? body.input).length)
    assert.equal(before, history(40).length, name)
    assert.ok(after < before - 20, `${name}: ${after}`)
  }
  // A stream without usage tells nothing.
  const asked = client(url, { at: 6_000 })
  for (const beds of [40, 41]) await all(await asked.chat.completions.create({ model, messages: chatHistory(beds), stream: true }))
  assert.equal(seen.at(-1).body.messages.length, chatHistory(41).length)
})

test('streams pass as they come', { skip: without(openai) }, async (t) => {
  const chunk = (content) =>
    `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta: { content } }] })}\n\n`
  let goOn
  const isRead = new Promise((resolve) => (goOn = resolve))
  const { seen, url } = await provider(t, async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk('Der Efeu '))
    // The rest comes after the client has read the beginning.
    await isRead
    response.end(`${chunk('ist 乾燥')}data: [DONE]\n\n`)
  })
  const words = []
  const stream = await client(url, { at: 1_500 }).chat.completions.create({ model, messages: chatHistory(), stream: true })
  for await (const { choices } of stream) {
    words.push(choices[0].delta.content)
    goOn()
  }
  assert.deepEqual(words, ['Der Efeu ', 'ist 乾燥'])
  assert.ok(seen[0].body.messages.length < chatHistory().length)
})

test('a signal of the client ends a request', { skip: without(openai) }, async (t) => {
  const controller = new AbortController()
  const { seen, url } = await provider(t, () => controller.abort())
  const ask = (options, signal) => client(url, options).chat.completions.create({ model, messages: chatHistory() }, { signal })
  const never = () => new Promise(() => {})
  await assert.rejects(ask({ at: 1_500, strategy: never }, AbortSignal.timeout(100)), openai.default.APIUserAbortError)
  assert.equal(seen.length, 0)
  await assert.rejects(ask({ at: 1_500 }, controller.signal), openai.default.APIUserAbortError)
  assert.equal(seen.length, 1)
})

test('the client of Google', { skip: without(genai) }, async (t) => {
  const answer = { candidates: [{ content: { role: 'model', parts: [{ text: 'Done.' }] }, finishReason: 'STOP' }] }
  const refusal = { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).' } }
  const contents = geminiHistory()
  const { seen, url } = await provider(
    t,
    upTo(JSON.stringify(contents).length * 0.8, refusal, (asked, response) => {
      if (!asked.url.includes('stream')) return { json: answer }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`data: ${JSON.stringify(answer)}\n\n`)
    }),
  )
  const httpOptions = (options) => ({ baseUrl: url, fetch: balerFetch({ ...small, ...options }) })
  const asked = new genai.GoogleGenAI({ apiKey: 'k', httpOptions: httpOptions({ at: 1_500 }) })
  assert.equal((await asked.models.generateContent({ model: 'gemini-3-pro', contents })).text, 'Done.')
  for await (const { text } of await asked.models.generateContentStream({ model: 'gemini-3-pro', contents })) assert.equal(text, 'Done.')
  for (const { body } of seen) {
    assert.ok(body.contents.length < contents.length)
    assert.deepEqual(body.contents[0], contents[0])
    assert.ok((await validate(body, { format: 'gemini', host })).isValid)
  }
  const refused = new genai.GoogleGenAI({ apiKey: 'k', httpOptions: httpOptions({ contextWindow: 1_000_000 }) })
  assert.equal((await refused.models.generateContent({ model: 'gemini-3-pro', contents })).text, 'Done.')
  assert.equal(seen.length, 4)
})

test('a framework that takes options of a client', { skip: without(langchain) }, async (t) => {
  const { seen, url } = await provider(t, () => chatAnswer())
  const fetch = balerFetch({ ...small, at: 1_500 })
  const chat = new langchain.ChatOpenAI({ model, apiKey: 'k', maxRetries: 0, configuration: { baseURL: `${url}/v1`, fetch } })
  const messages = chatHistory()
  assert.equal((await chat.invoke(messages)).content, 'Done.')
  assert.ok(seen[0].body.messages.length < messages.length)
})
