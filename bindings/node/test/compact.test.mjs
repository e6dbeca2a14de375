/** What goes in comes out in the same form, smaller, with kept messages unchanged. */

import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  ArchiveError,
  Host,
  compact,
  compactSync,
  count,
  countSync,
  introspect,
  introspectSync,
  repair,
  repairSync,
  shouldCompact,
  shouldCompactSync,
  strategies,
  validate,
  validateSync,
  version,
} from 'baler'

import { bug, conversations, everyThird, garden, host, state } from './support.mjs'

const digest = { host, strategy: 'native:digest' }

test('messages that are kept are the same objects', async () => {
  const { messages } = bug()
  const result = await compact(messages, { ...digest, budget: '30%' })
  assert.equal(result.isCompacted, true)
  assert.equal(result.messages.length, result.changes.length)
  const kinds = new Set()
  for (const [place, { kind, index }] of result.changes.entries()) {
    kinds.add(kind)
    const message = result.messages[place]
    if (kind === 'kept') assert.equal(message, messages[index])
    else assert.ok(!messages.includes(message))
    if (kind === 'changed') assert.equal(message.role, messages[index].role)
    assert.equal(index === null, kind === 'inserted')
  }
  assert.deepEqual([...kinds].sort(), ['changed', 'inserted', 'kept'])
  assert.equal(result.body, result.messages)
})

test('a body keeps its other members, which are the same objects', async () => {
  const body = bug()
  const result = await compact(body, { ...digest, budget: 6_000 })
  assert.equal(result.body.tools, body.tools)
  assert.deepEqual(Object.keys(result.body), Object.keys(body))
  assert.equal(result.body.messages, result.messages)
  assert.equal(await count(result.body, { host }), result.receipt.tokens.after)
  assert.ok(result.receipt.tokens.after <= 6_000)
  assert.equal((await validate(result.body, { host })).isValid, true)
})

test('objects give what their JSON gives, in every wire format', async () => {
  const formats = new Set()
  for (const [name, text] of Object.entries(conversations())) {
    if (!name.endsWith('.json')) continue
    // References of removed content are hashes of its bytes, so the text must be written as this package writes it.
    const written = JSON.stringify(JSON.parse(text))
    const given = JSON.parse(text)
    const [ofText, ofObjects] = await Promise.all([compact(written, { ...digest, budget: '30%' }), compact(given, { ...digest, budget: '30%' })])
    assert.equal(ofObjects.isCompacted, true, name)
    assert.deepEqual(ofObjects.body, JSON.parse(ofText.body), name)
    assert.deepEqual(ofObjects.messages, ofText.messages, name)
    assert.deepEqual(ofObjects.changes, ofText.changes, name)
    assert.deepEqual(await ofObjects.undo(), given, name)
    assert.equal((await validate(ofText.body, { host })).isValid, true, name)
    formats.add(ofText.receipt.format)
  }
  assert.deepEqual([...formats].sort(), ['anthropic', 'gemini', 'openai-chat', 'openai-responses'])
})

test('a conversation of Bedrock Converse is read and written too', async () => {
  const messages = Array.from({ length: 80 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: [{ text: `Berth ${index}: the ferry «Möwe» leaves at ${index} past seven. ${'tide '.repeat(30)}` }],
  }))
  messages.push({ role: 'user', content: [{ text: 'Which berth is free?' }] })
  const body = { modelId: 'anthropic.claude', messages, inferenceConfig: { maxTokens: 500 } }
  const result = await compact(body, { ...digest, format: 'bedrock-converse' })
  assert.equal(result.receipt.format, 'bedrock-converse')
  assert.equal(result.isCompacted, true)
  assert.deepEqual(result.body.inferenceConfig, { maxTokens: 500 })
  assert.equal(result.messages.at(-1), messages.at(-1))
})

test('text comes back as text, with every byte of it after an undo', async () => {
  const text = `\n  ${conversations()['book-a-flight.anthropic.json']}\n\n`
  const result = await compact(text, digest)
  assert.equal(typeof result.body, 'string')
  assert.deepEqual(JSON.parse(result.body).messages, result.messages)
  assert.equal(await result.undo(), text)
  assert.equal(result.undoSync(), text)
})

test('bytes come back in the form in which they were given', () => {
  const bytes = Buffer.from(conversations()['plan-a-sail.gemini.json'])
  const buffer = new Uint8Array(bytes).buffer
  // In the middle of a longer buffer, which is the form of all small Buffers.
  const inside = new Uint8Array(bytes.length + 20).fill(0x21)
  inside.set(bytes, 7)
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
  shared.set(bytes)
  const given = [
    bytes,
    new Uint8Array(buffer),
    buffer,
    new DataView(buffer),
    new Int8Array(buffer),
    new Uint8ClampedArray(buffer),
    inside.subarray(7, 7 + bytes.length),
    new DataView(inside.buffer, 7, bytes.length),
    shared,
  ]
  const expected = compactSync(bytes.toString(), digest)
  for (const form of given) {
    const result = compactSync(form, digest)
    const { name } = form.constructor
    assert.equal(result.body.constructor, form.constructor, name)
    assert.equal(Buffer.from(asBytes(result.body)).toString(), expected.body, name)
    assert.equal(Buffer.from(asBytes(result.undoSync())).equals(bytes), true, name)
    assert.equal(result.undoSync().constructor, form.constructor, name)
    assert.deepEqual(result.messages, expected.messages, name)
  }
})

function asBytes(form) {
  return ArrayBuffer.isView(form) ? new Uint8Array(form.buffer, form.byteOffset, form.byteLength) : new Uint8Array(form)
}

test('bytes may be overwritten as soon as a call has begun', async () => {
  const bytes = Buffer.from(JSON.stringify(bug()))
  const expected = (await compact(Buffer.from(bytes), digest)).body
  const result = compact(bytes, digest)
  bytes.fill(0)
  assert.deepEqual((await result).body, expected)
})

test('a list may be changed as soon as a call has begun', async () => {
  const body = bug()
  const messages = [...body.messages]
  const running = compact(body, digest)
  body.messages.length = 0
  body.model = 'another'
  const result = await running
  assert.equal(result.isCompacted, true)
  assert.notEqual(result.body.model, 'another')
  for (const [place, { kind, index }] of result.changes.entries()) {
    if (kind === 'kept') assert.equal(result.messages[place], messages[index])
  }
})

test('a session log is read as text and as bytes, and becomes a request body', async () => {
  const log = conversations()['fix-a-clock.claude-code.jsonl']
  const [ofText, ofBytes] = await Promise.all([compact(log, digest), compact(Buffer.from(log), digest)])
  assert.equal(ofText.isCompacted, true)
  assert.equal(ofText.receipt.format, 'anthropic')
  assert.deepEqual(Object.keys(JSON.parse(ofText.body)).sort(), ['messages', 'model'])
  assert.equal(ofBytes.body.toString(), ofText.body)
  const before = JSON.parse(await ofText.undo())
  assert.equal(before.messages.length, 10)
  assert.match(before.messages[0].content, /24:00/)
  assert.equal((await ofBytes.undo()).toString(), await ofText.undo())
})

test('the Sync twins give the same', async () => {
  const body = bug()
  const options = { ...digest, budget: '40%' }
  assert.deepEqual(compactSync(body, options).body, (await compact(body, options)).body)
  assert.deepEqual(compactSync(body, options).undoSync(), await (await compact(body, options)).undo())
  assert.equal(countSync(body, { host }), await count(body, { host }))
  assert.deepEqual(validateSync(body, { host }), await validate(body, { host }))
  assert.deepEqual(repairSync(body, { host }), await repair(body, { host }))
  assert.equal(shouldCompactSync(body, { host, budget: 100 }), await shouldCompact(body, { host, budget: 100 }))
  assert.deepEqual(introspectSync('sliding-window', { host }), await introspect('sliding-window', { host }))
})

test('a budget is a number or a share', async () => {
  const body = bug()
  const after = async (budget) => (await compact(body, { ...digest, budget })).receipt.tokens.after
  assert.ok((await after(5_000)) <= 5_000)
  assert.equal(await after('5k'), await after(5_000))
  assert.equal(await after('25%'), await after(0.25))
  assert.ok((await after(0.25)) < (await after(0.5)))
  assert.equal(await after(undefined), await after('50%'))
  assert.equal(await after(null), await after('50%'))
})

test('what fits stays as it is', async () => {
  const body = bug()
  const result = await compact(body, { ...digest, budget: 100_000 })
  assert.equal(result.isCompacted, false)
  assert.equal(result.receipt.why, 'within-budget')
  assert.deepEqual(result.body, body)
  assert.deepEqual(await result.undo(), body)
  assert.ok(result.messages.every((message, index) => message === body.messages[index]))
  assert.ok(result.units.every((outcome) => outcome === 'kept'))
  assert.match(`${result}`, /^Compaction: unchanged \(within-budget\), (\d+) → \1 tokens$/)
})

test('one message in place of the list is a message', async () => {
  const content = { role: 'user', parts: { text: 'Wie hoch steht das Wasser?' } }
  const request = await compact({ contents: content }, { host, budget: 6_000 })
  assert.deepEqual(request.body, { contents: content })
  assert.deepEqual(request.messages, [content])
  const asked = await compact({ input: 'Wie hoch steht das Wasser?' }, { host, budget: 6_000 })
  assert.deepEqual(asked.messages, [{ role: 'user', content: 'Wie hoch steht das Wasser?' }])
  assert.deepEqual(asked.body, { input: 'Wie hoch steht das Wasser?' })
})

test('conversations without messages stay so', async () => {
  for (const given of [[], { messages: [] }, '[]', Buffer.from('{"messages":[]}')]) {
    const result = await compact(given, digest)
    assert.deepEqual(result.messages, [])
    assert.deepEqual(result.body, given)
    assert.equal(await count(given, { host }), 0)
  }
})

test('a result is read often and stays the same', async () => {
  const result = await compact(bug(), digest)
  for (const member of ['body', 'messages', 'receipt', 'changes']) assert.equal(result[member], result[member], member)
  assert.deepEqual(result.units, result.units)
  assert.match(`${result}`, /^Compaction: compacted, \d+ → \d+ tokens$/)
  assert.match(`${await compact(bug(), { ...digest, budget: 50 })}`, /, over the budget of 50$/)
})

test('units say what became of each, and pins are kept', async () => {
  const options = { host, strategy: 'native:truncate', budget: '10%' }
  const unpinned = await compact(bug(), options)
  const removed = unpinned.units.indexOf('removed')
  assert.ok(removed > 0)
  assert.ok(unpinned.units.every((outcome) => ['kept', 'rewritten', 'removed'].includes(outcome)))
  const pinned = await compact(bug(), { ...options, pins: [0, removed] })
  assert.equal(pinned.units[removed], 'kept')
})

test('undo needs an archive', async () => {
  const result = await compact(bug(), { host: new Host({ state, archive: 'off' }), strategy: 'native:digest' })
  assert.equal(result.isCompacted, true)
  await assert.rejects(result.undo(), (error) => error instanceof ArchiveError && /no archive/.test(error.message))
  assert.throws(() => result.undoSync(), ArchiveError)
})

test('a host restores by a receipt, and expands by a reference', async () => {
  const text = JSON.stringify(bug())
  const result = await compact(text, { host, strategy: 'native:truncate' })
  const receipt = JSON.parse(JSON.stringify(result.receipt))
  assert.equal(await host.undo(receipt), text)
  assert.equal(host.undoSync(receipt), text)
  const { unit, reference } = receipt.archive[0]
  assert.equal(result.units[unit], 'removed')
  assert.match(await host.expand(reference), /tool_calls/)
  assert.equal(host.expandSync(reference), await host.expand(reference))
})

test('an archive in memory is that of one host', async () => {
  const own = new Host({ state: null, archive: 'memory' })
  const result = await compact(bug(), { host: own, strategy: 'native:digest' })
  assert.deepEqual(await result.undo(), bug())
  const other = new Host({ state: null, archive: 'memory' })
  await assert.rejects(other.undo(result.receipt), ArchiveError)
})

test('should-compact decides by size', async () => {
  const body = bug()
  const tokens = await count(body, { host })
  const decided = (options) => shouldCompact(body, { host, ...options })
  assert.equal(await decided({ budget: tokens - 1 }), true)
  assert.equal(await decided({ budget: tokens + 1 }), false)
  assert.equal(await decided({ budget: `${tokens - 1}` }), true)
  assert.equal(await decided({ contextWindow: tokens }), true)
  assert.equal(await decided({ contextWindow: tokens * 2, budget: '90%' }), false)
  assert.equal(await decided({ contextWindow: tokens * 2, budget: 0.4 }), true)
  assert.equal(await decided({ budget: tokens - 1, strategy: 'sliding-window' }), true)
  assert.equal(await decided({ budget: tokens - 1, strategy: everyThird }), true)
})

test('tokens that the provider reported correct the count', async () => {
  assert.ok((await count(garden(), { host })) < 2_000)
  assert.equal(await count(garden(), { host, used: 2_000 }), 2_000)
})

test('a broken conversation is named, repaired, or left alone', async () => {
  const broken = [...garden(1), { role: 'tool', tool_call_id: 'x', content: '?' }]
  const found = await validate(broken, { host })
  assert.deepEqual([found.format, found.isValid, found.errors], ['openai-chat', false, 1])
  assert.deepEqual([found.violations[0].rule, found.violations[0].severity, found.violations[0].message], ['CHAT-1', 'error', 4])
  assert.ok(found.violations[0].remedy.length > 0)
  const repaired = await repair(broken, { host })
  assert.equal(repaired.validation.isValid, true)
  assert.deepEqual(repaired.body, garden(1))
  assert.deepEqual([repaired.repairs[0].rule, repaired.repairs[0].message], ['CHAT-1', 4])
  assert.equal(broken.length, 4)
  assert.deepEqual((await repair(JSON.stringify(broken), { host })).body, JSON.stringify(garden(1)))
  assert.deepEqual((await repair(garden(1), { host })).body, garden(1))
  assert.equal((await compact(broken, { ...digest, budget: 1 })).receipt.why, 'invalid-input')
})

test('a repair is undone with the compaction', async () => {
  const broken = [...garden(3), { role: 'tool', tool_call_id: 'x', content: '?' }]
  for (const budget of [1, 100_000]) {
    const result = await compact(broken, { ...digest, budget, repair: true })
    assert.equal(result.receipt.repairs.length, 1)
    assert.equal(result.receipt.outcome, budget === 1 ? 'compacted' : 'repaired')
    assert.equal((await validate(result.messages, { host })).isValid, true)
    assert.deepEqual(await result.undo(), broken)
  }
})

test('introspection names permissions and the schema', async () => {
  const told = await introspect('sliding-window', { host })
  assert.equal(told.introspection.name, 'sliding-window')
  assert.equal(JSON.parse(told.introspection['config-schema']).type, 'object')
  assert.match(told.component.contract, /^baler:compaction@/)
  const ofFunction = await introspect(everyThird, { host })
  assert.equal(ofFunction.component, null)
  assert.equal(ofFunction.introspection.name, 'everyThird')
})

test('the package names its strategies and its version', () => {
  assert.ok(['tiered', 'sliding-window', 'native:digest', 'native:truncate'].every((name) => strategies().includes(name)))
  assert.match(version, /^\d+\.\d+\.\d+$/)
})

test('all kinds of text come through unchanged', async () => {
  const texts = ['', '\u0000\u001f\u007f', '"\\/\b\f\n\r\t', '\u2028\u2029', '日本語 🪴 e\u0301', '\ufeff', '</script>', '\ud83e\udeb4']
  const messages = texts.map((content) => ({ role: 'user', content }))
  const result = await compact(messages, { ...digest, budget: 10_000 })
  assert.deepEqual(JSON.parse(await compact(JSON.stringify(messages), { ...digest, budget: 10_000 }).then(({ body }) => body)), messages)
  assert.deepEqual(await result.undo(), messages)
})

test('all kinds of numbers come through unchanged', async () => {
  const x = [0, -0, 1, -1, 1.5, 1e21, 1e-7, 2 ** 53, Number.MAX_VALUE, Number.MIN_VALUE, 5e-324, 123456789012345680000]
  const message = { role: 'user', content: 'How many?', x }
  const { messages } = await compact(JSON.stringify([message]), { ...digest, budget: 10_000 })
  assert.deepEqual(messages[0].x, [0, ...x.slice(1).map((n) => (n === 0 ? 0 : n))])
})
