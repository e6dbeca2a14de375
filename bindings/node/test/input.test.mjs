/** Whatever cannot be used is a typed error that names the place, and changes nothing. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'

import {
  ArchiveError,
  BalerError,
  Compactor,
  ConfigError,
  ConversationError,
  Host,
  HostError,
  OptionError,
  Strategy,
  StrategyError,
  Window,
  compact,
  compactSync,
  count,
  countSync,
  introspect,
  introspectSync,
  repair,
  repairSync,
  setLog,
  shouldCompact,
  shouldCompactSync,
  validate,
  validateSync,
} from 'baler'

import { bug, garden, host, state, warningsOf } from './support.mjs'

const USER = { role: 'user', content: 'Water the ferns.' }

/** What reads a conversation, with what it needs besides. */
const READERS = { compact, count, validate, repair, shouldCompact }
const TWINS = { compact: compactSync, count: countSync, validate: validateSync, repair: repairSync, shouldCompact: shouldCompactSync }
const NEEDS = { compact: { strategy: 'native:digest' }, shouldCompact: { budget: 100 } }

function circle() {
  const messages = [USER]
  messages.push(messages)
  return messages
}

function deep(levels) {
  let value = 'x'
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { inner: value }
  return value
}

function revoked(target) {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

class Self {
  role = 'user'
  content = 'Water the ferns.'
  toJSON() {
    return this
  }
}

const boom = () => {
  throw new RangeError('boom')
}

/** Invalid conversations, and what the error says. */
const BAD = {
  'an empty text': ['', /empty/],
  'no JSON': ['hello', /not JSON/],
  'JSON that is cut off': [Buffer.from('{"messages": [{"role": "user", "content": "wa'), /not JSON/],
  'no UTF-8': [Buffer.from([...Buffer.from('[{"role":"user","content":"'), 0xff]), /byte at offset 27/],
  'no bytes': [new DataView(new ArrayBuffer(0)), /empty/],
  'a body without messages': [{ model: 'gpt-5' }, /no conversation/],
  'an unknown role': [[{ role: 'wizard', content: 'hi' }], /message 1: `wizard`/],
  'a wrong member of a message': [[{ role: 'assistant', content: null, tool_calls: 'none' }], /`tool_calls`/],
  'a lone surrogate': [[USER, { role: 'user', content: 'a\ud800b' }], /^`\[1\]\.content`: .*lone surrogate.*toWellFormed/],
  'the other half': [[{ ...USER, name: '\udc00' }], /^`\[0\]\.name`: .*lone surrogate/],
  'a lone surrogate in a text': ['[{"role":"user","content":"\ud800"}]', /lone surrogate/],
  'a lone surrogate in a key': [[{ ...USER, '\udcff': 1 }], /^`\[0\]\.\?`: .*lone surrogate/],
  'NaN': [[{ ...USER, x: NaN }], /^`\[0\]\.x`: NaN cannot be written/],
  'infinity': [{ messages: [{ ...USER, x: [1, -Infinity] }] }, /^`messages\[0\]\.x\[1\]`: -Infinity/],
  'a BigInt': [[{ ...USER, x: 10n }], /^`\[0\]\.x`: a BigInt/],
  'a BigInt as an object': [[{ ...USER, x: Object(10n) }], /^`\[0\]\.x`: a BigInt/],
  'undefined in a list': [[USER, undefined], /^`\[1\]`: .*found undefined/],
  'a hole in a list': [[USER, , USER], /^`\[1\]`: .*found undefined/], // eslint-disable-line no-sparse-arrays
  'a list of nothing but holes': [Object.assign([], { length: 4e9 }), /^`\[0\]`: .*found undefined/],
  'null in a list': [[USER, null], /message 2/],
  'a function': [[{ ...USER, act() {} }], /^`\[0\]\.act`: a function/],
  'a class': [[Self], /^`\[0\]`: a function/],
  'a symbol': [[{ ...USER, x: Symbol('x') }], /^`\[0\]\.x`: a symbol/],
  'a Map': [[new Map([['role', 'user']])], /^`\[0\]`: Map cannot be written.*plain object/],
  'a Set': [new Set([USER]), /^Set cannot be written.*array/],
  'a generator': [{ messages: (function* () { yield USER })() }, /^`messages`: .*give an array/],
  'an iterator': [{ messages: [USER].values() }, /^`messages`: .*give an array/],
  'a stream': [{ messages: (async function* () { yield USER })() }, /^`messages`: .*give an array/],
  'a Map of another realm': [[runInNewContext('new Map()')], /^`\[0\]`: Map cannot be written/],
  'a promise': [Promise.resolve([USER]), /^Promise cannot be written.*`await`/],
  'a promise inside': [[Promise.resolve(USER)], /^`\[0\]`: Promise.*`await`/],
  'an error': [[{ ...USER, x: new Error('lost') }], /^`\[0\]\.x`: Error cannot be written/],
  'a regular expression': [[{ ...USER, x: /fern/ }], /^`\[0\]\.x`: RegExp cannot be written/],
  'a Buffer inside': [[{ ...USER, content: Buffer.from('hi') }], /^`\[0\]\.content`: .*found Buffer; give base64/],
  'bytes inside': [[{ ...USER, content: new Uint8Array(2) }], /^`\[0\]\.content`: .*found Uint8Array/],
  'an ArrayBuffer inside': [[{ ...USER, content: new ArrayBuffer(2) }], /^`\[0\]\.content`: .*found ArrayBuffer/],
  'a Blob inside': [[{ ...USER, content: new Blob(['hi']) }], /^`\[0\]\.content`: .*found Blob/],
  'a list that contains itself': [circle(), /nested more than 120 deep, or contain themselves$/],
  'deep nesting': [[{ ...USER, x: deep(100_000) }], /nested more than 120 deep/],
  'a getter that throws': [[USER, { get role() { return boom() } }], /^`\[1\]\.role`: .*threw/, RangeError],
  'a proxy that throws': [[new Proxy({}, { ownKeys: boom })], /^`\[0\]`: .*threw/, RangeError],
  'a proxy without a prototype': [new Proxy({}, { getPrototypeOf: boom }), /threw/, RangeError],
  'a revoked proxy': [revoked({}), /threw/, TypeError],
  'a revoked list': [[revoked([])], /^`\[0\]`: .*threw/, TypeError],
  'a toJSON that throws': [[USER, { toJSON: boom }], /^`\[1\]`: .*threw/, RangeError],
  'a toJSON of a Map': [[{ toJSON: () => new Map() }], /^`\[0\]`: Map/],
  'a toJSON of a BigInt': [[{ toJSON: () => 1n }], /^`\[0\]`: a BigInt/],
  'a toJSON of a function': [[{ toJSON: () => () => {} }], /^`\[0\]`: a function/],
  'a toJSON of nothing': [[{ toJSON() {} }], /^`\[0\]`: .*found undefined/],
  'a toJSON that is awaited': [[{ toJSON: async () => USER }], /^`\[0\]`: Promise/],
  'a date': [new Date(0), /an object or a list/],
}

for (const [name, [given, message, cause]] of Object.entries(BAD)) {
  test(`an invalid conversation is a ConversationError: ${name}`, async () => {
    for (const [reader, read] of Object.entries(READERS)) {
      const options = { host, ...NEEDS[reader] }
      const expected = (error) => {
        assert.ok(error instanceof ConversationError && error instanceof BalerError && error instanceof Error, `${reader}: ${error}`)
        assert.equal(error.name, 'ConversationError')
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /panic|napi|rust/i)
        assert.ok(error.message.length < 600, error.message)
        assert.equal(error.cause?.constructor, cause)
        return true
      }
      await assert.rejects(read(given, options), expected)
      assert.throws(() => TWINS[reader](given, options), expected)
    }
  })
}

/** What is of a wrong type altogether. */
const WRONG = [null, undefined, 7, true, 10n, Symbol('x'), () => [USER], Self, new Uint16Array(8), new Float64Array(8)]

test('what is of a wrong type is a TypeError', async () => {
  for (const given of WRONG) {
    for (const [reader, read] of Object.entries(READERS)) {
      const expected = (error) => error instanceof TypeError && /^expected (a conversation|bytes)/.test(error.message)
      await assert.rejects(read(given, { host, ...NEEDS[reader] }), expected)
      assert.throws(() => TWINS[reader](given, { host, ...NEEDS[reader] }), expected)
    }
    await assert.rejects(Compactor.start(given, { host, contextWindow: 1_000 }), TypeError)
    assert.throws(() => Compactor.startSync(given, { host, contextWindow: 1_000 }), TypeError)
  }
})

/** What is written as providers' clients write it. */
const GOOD = {
  'members that are undefined': [{ ...USER, name: undefined }],
  'symbols as keys': [{ ...USER, [Symbol('mine')]: () => {} }],
  'an object without a prototype': [Object.assign(Object.create(null), USER)],
  'an instance of a class': [new (class Message { role = 'user'; content = 'Water the ferns.' })()],
  'an object with inherited members': [Object.assign(Object.create({ inherited: () => {} }), USER)],
  'members that are not enumerable': [Object.defineProperty({ ...USER }, 'hidden', { value: () => {} })],
  'a proxy': [new Proxy({ ...USER }, {})],
  'a getter': [{ role: 'user', get content() { return 'Water the ferns.' } }],
  'an object of another realm': runInNewContext('[{ role: "user", content: "Water the ferns." }]'),
  'a toJSON': [{ toJSON: () => USER }],
  'a toJSON that returns itself': [new Self()],
  'a toJSON that returns itself with it': [(() => { const own = { ...USER }; own.toJSON = () => own; return own })()],
  'a text as an object': [{ role: 'user', content: new String('Water the ferns.') }],
}

test('objects are written as JSON.stringify writes them', async () => {
  for (const [name, messages] of Object.entries(GOOD)) {
    const result = await compact(messages, { host, budget: 10_000 })
    assert.equal(result.messages[0], messages[0], name)
    assert.deepEqual(await result.undo(), [USER], name)
    assert.deepEqual((await compact(JSON.stringify([...messages]), { host, budget: 10_000 })).messages, [USER], name)
  }
  const x = [new Date(0), new Date(NaN), new Number(5), new Boolean(false), -0, 1e21, { a: undefined, b: null }, 120, deep(115)]
  const [message] = JSON.parse((await compact(JSON.stringify([{ ...USER, x }]), { host, budget: 10_000 })).body)
  assert.deepEqual((await compact([{ ...USER, x }], { host, budget: 10_000 })).undoSync()[0], message)
})

test('what is given is never changed', async () => {
  const freeze = (value) => {
    if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze)
    return value
  }
  const body = freeze(bug())
  const options = freeze({ strategy: 'native:digest', budget: '30%', pins: [0, 2], policy: { excerpts: true }, context: { bed: [1] } })
  const result = await compact(body, { ...options, host })
  assert.equal(result.isCompacted, true)
  compactSync(body, { ...options, host })
  await repair(body, { host })
  const compactor = await Compactor.start(body, freeze({ contextWindow: 2_000, triggers: { share: 0.5 }, strategy: 'native:digest' }))
  compactor.append(freeze({ role: 'user', content: 'Go on.' }))
  await compactor.step()
  const window = new Window({ host, contextWindow: 2_000, strategy: 'native:digest' })
  await window.show('openai-chat', body)
  assert.deepEqual(body, bug())
})

/** Options of `compact` that are not allowed, and the option that the error names. */
const OPTIONS = [
  [{ budget: 0 }, 'budget', /whole number above 0/],
  [{ budget: -5 }, 'budget', /8000/],
  [{ budget: '150%' }, 'budget', /at most 100%/],
  [{ budget: NaN }, 'budget', /^`budget`: NaN/],
  [{ budget: 2 ** 70 }, 'budget'],
  [{ budget: true }, 'budget'],
  [{ budget: 10n }, 'budget', /BigInt/],
  [{ budget: {} }, 'budget'],
  [{ budget: () => 5 }, 'budget', /function/],
  [{ pins: 'last' }, 'pins', /"first-user"/],
  [{ pins: [-1] }, 'pins'],
  [{ pins: [1.5] }, 'pins'],
  [{ pins: [undefined] }, 'pins', /^`pins\[0\]`/],
  [{ pins: new Set([1]) }, 'pins', /array/],
  [{ pins: [4_000] }, undefined, /4000/],
  [{ format: 'xml' }, 'format', /openai-chat/],
  [{ format: 5 }, 'format'],
  [{ trigger: 'noon' }, 'trigger', /"overflow"/],
  [{ trigger: 'overflow', instructions: 'keep' }, 'instructions', /`trigger`/],
  [{ instructions: 5 }, 'instructions'],
  [{ instructions: '\ud800' }, 'instructions', /surrogate/],
  [{ timeout: 0 }, 'timeout', /found 0$/],
  [{ timeout: -1 }, 'timeout'],
  [{ timeout: NaN }, 'timeout', /found NaN$/],
  [{ timeout: Infinity }, 'timeout', /found Infinity$/],
  [{ timeout: '5' }, 'timeout', /found "5"$/],
  [{ timeout: 5n }, 'timeout', /found bigint$/],
  [{ used: 0 }, 'used'],
  [{ used: 1.5 }, 'used'],
  [{ used: '7' }, 'used'],
  [{ used: 2 ** 40 }, 'used'],
  [{ repair: 'yes' }, 'repair', /true or false, found "yes"/],
  [{ required: 1 }, 'required'],
  [{ verify: 'no' }, 'verify'],
  [{ freeText: 'a' }, 'freeText', /^`freeText`/],
  [{ maxBytes: 0 }, 'maxBytes', /^`maxBytes`/],
  [{ maxBytes: NaN }, 'maxBytes', /^`maxBytes`/],
  [{ maxMedia: -1 }, 'maxMedia', /^`maxMedia`/],
  [{ contextWindow: '200000' }, 'contextWindow', /^`contextWindow`/],
  [{ contextWindow: NaN }, 'contextWindow', /^`contextWindow`/],
  [{ context: { beds: [1, undefined] } }, 'context', /^`context\.beds\[1\]`/],
  [{ policy: 5 }, 'policy'],
  [{ policy: { excerpt: true } }, 'policy', /`excerpts`/],
  [{ budgets: 5 }, undefined, /no option is called `budgets`; known: budget, /],
  [{ max_bytes: 5 }, undefined, /no option is called `max_bytes`; known: .*maxBytes/],
  [{ model: 'x' }, undefined, /no option is called `model`/],
]

test('options that are not allowed are an OptionError that names them as JavaScript does', async () => {
  for (const [options, option, message = /./] of OPTIONS) {
    const shown = Object.keys(options)[0]
    const expected = (error) => {
      assert.ok(error instanceof OptionError && error instanceof BalerError, `${shown}: ${error}`)
      assert.equal(error.option, option, `${shown}: ${error}`)
      assert.match(error.message, message)
      return true
    }
    await assert.rejects(compact(garden(2), { host, strategy: 'native:digest', ...options }), expected)
    assert.throws(() => compactSync(garden(2), { host, strategy: 'native:digest', ...options }), expected)
  }
})

test('options of a wrong type altogether are a TypeError', async () => {
  const wrong = [null, 5, 'budget', true, () => {}]
  for (const options of wrong) {
    const expected = (error) => error instanceof TypeError && /^expected options, found /.test(error.message)
    for (const [reader, read] of Object.entries(READERS)) {
      await assert.rejects(read(garden(2), options), expected)
      assert.throws(() => TWINS[reader](garden(2), options), expected)
    }
    await assert.rejects(introspect('tiered', options), expected)
    assert.throws(() => introspectSync('tiered', options), expected)
    await assert.rejects(host.expand('x', options), expected)
    assert.throws(() => host.expandSync('x', options), expected)
    await assert.rejects(host.undo({ undo: 'x' }, options), expected)
    assert.throws(() => host.undoSync({ undo: 'x' }, options), expected)
    await assert.rejects(Compactor.start(garden(2), options), expected)
    await assert.rejects(Compactor.start(garden(2), { contextWindow: 5 }, options), expected)
    await assert.rejects(Compactor.resume('{}', options), expected)
    for (const made of [() => new Host(options), () => new Window(options), () => new Strategy('tiered', options)]) assert.throws(made, expected)
    assert.throws(() => Strategy.of(() => null, options), expected)
    assert.throws(() => Strategy.load('x.wasm', options), expected)
    assert.throws(() => Strategy.component('x', new Uint8Array(1), options), expected)
    const unchanged = await compact(garden(2), { host, budget: 10_000 })
    await assert.rejects(unchanged.undo(options), expected)
    assert.throws(() => unchanged.undoSync(options), expected)
    const compactor = Compactor.startSync(garden(2), { host, contextWindow: 1_000, strategy: 'native:digest' })
    for (const step of ['step', 'overflow', 'compact']) {
      await assert.rejects(compactor[step](options), expected)
      assert.throws(() => compactor[`${step}Sync`](options), expected)
    }
    await assert.rejects(new Window({ host, at: 100, strategy: 'native:digest' }).show('openai-chat', bug(), options), expected)
  }
})

test('unknown options are refused everywhere', async () => {
  const expected = (error) => error instanceof OptionError && /^no option is called `sede`; known: /.test(error.message)
  const sede = { sede: 5 }
  for (const [reader, read] of Object.entries(READERS)) {
    await assert.rejects(read(garden(2), { host, ...NEEDS[reader], ...sede }), expected)
    assert.throws(() => TWINS[reader](garden(2), { host, ...NEEDS[reader], ...sede }), expected)
  }
  await assert.rejects(introspect('tiered', sede), expected)
  await assert.rejects(host.expand('x', sede), expected)
  await assert.rejects(host.undo({ undo: 'x' }, sede), expected)
  await assert.rejects(Compactor.start(garden(2), { ...sede, contextWindow: 5 }), expected)
  await assert.rejects(Compactor.start(garden(2), { contextWindow: 5 }, sede), expected)
  for (const made of [() => new Host(sede), () => new Window(sede), () => new Strategy('tiered', sede)]) assert.throws(made, expected)
  for (const made of [() => Strategy.of(() => null, sede), () => Strategy.load('x', sede)]) assert.throws(made, expected)
  const compactor = Compactor.startSync(garden(2), { host, contextWindow: 1_000, strategy: 'native:digest' })
  await assert.rejects(compactor.step(sede), expected)
  await assert.rejects(compactor.compact(sede), expected)
})

test('hosts, strategies, signals and functions of a wrong type are a TypeError', async () => {
  const rejected = (options, message) => assert.rejects(compact(garden(2), options), (error) => error instanceof TypeError && message.test(error.message))
  await rejected({ host: 'localhost' }, /^`host`: expected a Host, found string/)
  await rejected({ host: {} }, /^`host`/)
  for (const strategy of [5, {}, [5], ['native:digest', null], [['native:digest']]]) await rejected({ host, strategy }, /^`strategy`: expected a name/)
  await rejected({ host, strategy: new URL('https://example.org/mine.wasm') }, /file: URL/)
  await rejected({ host, signal: {} }, /^`signal`: expected an AbortSignal, found Object/)
  await rejected({ host, signal: new AbortController() }, /^`signal`/)
  await assert.rejects(shouldCompact(garden(2), { host, budget: 5, strategy: ['tiered'] }), /one strategy/)
  for (const twin of Object.values(TWINS)) {
    assert.throws(() => twin(garden(2), { host, budget: 5, signal: AbortSignal.timeout(1_000) }), /`signal`: nothing can abort|no option is called `budget`/)
  }
  assert.throws(() => new Host({ model: 5 }), TypeError)
  assert.throws(() => new Window({ host, at: 100, onCompaction: 5 }), TypeError)
  assert.throws(() => setLog(5), TypeError)
  assert.throws(() => setLog(undefined), TypeError)
})

test('options of a host', () => {
  const refused = (options, Class, message) => assert.throws(() => new Host({ state: null, ...options }), (error) => {
    assert.ok(error instanceof Class, `${error}`)
    assert.match(error.message, message)
    return true
  })
  refused({ state: 5 }, TypeError, /^`state`: expected a path/)
  refused({ state: '' }, HostError, /folder/)
  refused({ state: new URL('https://example.org') }, OptionError, /^`state`/)
  refused({ state: 'file:///tmp/baler' }, OptionError, /^`state`/)
  refused({ archive: 'ftp://example.org/a' }, OptionError, /s3:/)
  refused({ archive: new Map() }, TypeError, /^`archive`/)
  refused({ archive: 's3://bucket', archiveOptions: 5 }, OptionError, /^`archiveOptions`/)
  refused({ archive: 's3://bucket', archiveOptions: { region: 5 } }, OptionError, /^`archiveOptions`/)
  refused({ project: '/nowhere/baler.toml' }, OptionError, /nowhere/)
  refused({ model: 'gpt' }, OptionError, /^`model`: .*openai:MODEL/)
  refused({ model: 'openai:gpt-5-mini', modelKey: 'env:BALER_NO_SUCH_KEY' }, OptionError, /BALER_NO_SUCH_KEY/)
  refused({ modelWindow: 5 }, OptionError, /^`modelWindow` is an option of a model/)
  refused({ model: () => '', modelWindow: -5 }, OptionError, /^`modelWindow`/)
  refused({ tokenizer: 'abacus' }, OptionError, /o200k_base/)
  refused({ concurrentCalls: 0 }, OptionError, /^`concurrentCalls`/)
  refused({ wasi: 'no' }, OptionError, /^`wasi`/)
  refused({ compiler: ['sh'] }, OptionError, /no option is called `compiler`/)
  assert.equal(new Host({ state: null, archive: undefined, model: null }).hasModel, false)
})

test('options of a strategy', async () => {
  const refused = (make, Class, message) => assert.throws(make, (error) => {
    assert.ok(error instanceof Class, `${error}`)
    assert.match(error.message, message)
    return true
  })
  for (const [name, value] of [['timeout', 0], ['timeout', 'long'], ['timeout', 1e9], ['memory', -1], ['fuel', 0.5], ['mayAskModel', 'yes']]) {
    refused(() => new Strategy('tiered', { [name]: value }), OptionError, new RegExp(`^\`${name}\``))
  }
  refused(() => new Strategy('tiered', { config: { keep: 1n } }), OptionError, /^`config\.keep`: a BigInt/)
  for (const name of [undefined, null, 5, {}]) refused(() => new Strategy(name), TypeError, /name of a strategy/)
  refused(() => Strategy.load(5), TypeError, /path of a \.wasm file/)
  refused(() => Strategy.load('/nowhere.wasm'), StrategyError, /nowhere/)
  refused(() => Strategy.load('/nowhere.wasm', { name: 5 }), TypeError, /name/)
  refused(() => Strategy.component('x', 'text'), TypeError, /Uint8Array/)
  refused(() => Strategy.component(5, new Uint8Array(1)), TypeError, /name/)
  refused(() => Strategy.of('tiered'), TypeError, /function/)
  refused(() => Strategy.of(() => null, { name: 5 }), TypeError, /name/)
  refused(() => Strategy.of(() => null, { timeout: 'x' }), OptionError, /^`timeout`/)
  await assert.rejects(compact(garden(2), { host, strategy: new Strategy('native:digest', { config: { a: 1 } }) }), OptionError)
  await assert.rejects(compact(garden(2), { host, strategy: new Strategy('sliding-window', { config: 5 }) }), ConfigError)
  await assert.rejects(introspect(null, { host }), TypeError)
})

test('references and receipts', async () => {
  for (const reference of [undefined, null, 5, {}]) {
    await assert.rejects(host.expand(reference), TypeError)
    assert.throws(() => host.expandSync(reference), TypeError)
  }
  for (const reference of ['', 'x', '../../key', 'f'.repeat(20), '\ud800']) {
    await assert.rejects(host.expand(reference), ArchiveError)
    await assert.rejects(host.undo({ undo: reference }), ArchiveError)
  }
  for (const receipt of [undefined, null, 'x', {}, { undo: 5 }, { undo: null }]) {
    await assert.rejects(host.undo(receipt), OptionError)
    assert.throws(() => host.undoSync(receipt), OptionError)
  }
})

test('what a compactor is given', async () => {
  const start = (options) => Compactor.start(garden(2), { host, strategy: 'native:digest', ...options })
  for (const [options, message] of [
    [{}, /`contextWindow`/],
    [{ contextWindow: 0 }, /`contextWindow`/],
    [{ contextWindow: NaN }, /^`contextWindow`: NaN/],
    [{ context_window: 5 }, /no option is called/],
    [{ contextWindow: 1_000, targetShare: 2 }, /`targetShare`/],
    [{ triggers: { noon: 5 } }, /noon/],
    [{ triggers: { tokens: 1n } }, /^`triggers\.tokens`/],
    [{ preset: 'none' }, /planck/],
    [{ contextWindow: 1_000, format: 'xml' }, /^`format`/],
    [{ contextWindow: 1_000, timeout: 5 }, /no option is called `timeout`/],
  ]) await assert.rejects(start(options), (error) => error instanceof OptionError && message.test(error.message))
  const compactor = await start({ contextWindow: 1_000 })
  for (const [messages, message] of [
    [[5], /object/],
    [[null], /object/],
    [[undefined], /^`messages\[0\]`: .*undefined/],
    [[[USER]], /object/],
    [[{ role: 'wizard' }], /`wizard`/],
    [[USER, { role: 'user', content: NaN }], /^`messages\[1\]\.content`: NaN/],
    [[USER, { role: 'wizard' }], /message 7: `wizard`/],
  ]) assert.throws(() => compactor.append(...messages), (error) => error instanceof ConversationError && message.test(error.message))
  // The message before one that is none was appended.
  assert.equal(compactor.history.length, 6)
  for (const tokens of [-1, 1.5, '5', null, undefined, NaN, 2 ** 32, 5n]) assert.throws(() => compactor.reported(tokens), TypeError)
  await assert.rejects(compactor.compact({ instructions: 5 }), (error) => error.option === 'instructions')
  await assert.rejects(compactor.step({ instructions: 'x' }), /no option is called `instructions`/)
  for (const saved of [undefined, 5, {}]) await assert.rejects(Compactor.resume(saved, { host }), TypeError)
  for (const saved of ['', 'x', '{}', '[]', '\ud800']) await assert.rejects(Compactor.resume(saved, { host, contextWindow: 1_000 }), ConversationError)
})

test('what a window is given', async () => {
  const refused = (options, message) => assert.throws(() => new Window({ host, strategy: 'native:digest', ...options }), (error) => {
    assert.ok(error instanceof OptionError || error instanceof StrategyError, `${error}`)
    assert.match(error.message, message)
    return true
  })
  refused({}, /`contextWindow`/)
  refused({ contextWindow: 0 }, /^`contextWindow`/)
  refused({ contextWindow: 5, at: 10 }, /^`at`/)
  refused({ at: NaN }, /^`at`: NaN/)
  refused({ at: 100, budget: 200 }, /^`budget`/)
  refused({ at: 100, pins: 'x' }, /^`pins`/)
  refused({ at: 100, policy: 5 }, /^`policy`/)
  refused({ at: 100, strategy: 'tierd' }, /no strategy is called `tierd`/)
  const window = new Window({ host, at: 500, strategy: 'native:digest' })
  const history = { messages: garden() }
  // What cannot be read is sent as it is, with a warning.
  const warnings = await warningsOf(async () => {
    for (const [format, messages] of [['openai-chat', 5], ['anthropic', [{ role: 'wizard' }]]]) {
      const shown = await window.show(format, { messages })
      assert.deepEqual([shown.isWhole, shown.placed, shown.document, shown.tokens, shown.view, shown.madeAt], [true, [], '', 0, null, 0])
      shown.noteCount(500)
    }
  })
  assert.equal(warnings.length, 2)
  assert.match(warnings[0], /^baler: a history is sent as it is: /)
  // So is a view that somebody spoiled.
  for (const view of [5, {}, 'nonsense', null]) assert.ok((await window.show('openai-chat', history, { view })).tokens < 500)
})

test('texts of more characters than a text may have are refused, and as bytes read', { timeout: 120_000 }, async (context) => {
  if ('Bun' in globalThis) return context.skip('its texts may be longer')
  // Six messages of one text: it is in memory once.
  const content = 'tomato '.repeat(15e6)
  const messages = Array.from({ length: 6 }, () => ({ role: 'user', content }))
  const expected = (error) => error instanceof ConversationError && /give its JSON as bytes/.test(error.message)
  await assert.rejects(count(messages, { host }), expected)
  assert.throws(() => countSync(messages, { host }), expected)
  const bytes = Buffer.concat([Buffer.from('[{"role":"user","content":"'), Buffer.alloc(600e6, 'tomato '), Buffer.from('"}]')])
  await assert.rejects(count(bytes, { host, timeout: 1 }), /not read in time/)
  await assert.rejects(count(bytes, { host, signal: AbortSignal.timeout(500) }), { name: 'TimeoutError' })
})

test('nothing is thrown by a function that returns a promise', () => {
  // Each of these is wrong in all its arguments. `introspect` is tried above.
  const compactor = Compactor.startSync(garden(2), { host, contextWindow: 1_000, strategy: 'native:digest' })
  const window = new Window({ host, at: 100, strategy: 'native:digest' })
  const unchanged = compactSync(garden(2), { host, budget: 10_000 })
  const calls = [
    ...Object.values(READERS).map((read) => () => read(5, 5)),
    () => introspect(5, 5),
    () => host.expand(5, 5),
    () => host.undo(5, 5),
    () => unchanged.undo(5),
    () => Compactor.start(5, 5, 5),
    () => Compactor.resume(5, 5, 5),
    () => compactor.step(5),
    () => compactor.overflow(null),
    () => compactor.compact(null),
    () => window.show(5, 5, 5),
  ]
  return Promise.all(calls.map((call) => assert.rejects(call(), (error) => error instanceof TypeError || error instanceof OptionError)))
})

test('a state folder is taken from a URL', () => {
  assert.equal(new Host({ state: new URL(`file://${state}`) }).hasModel, false)
})
