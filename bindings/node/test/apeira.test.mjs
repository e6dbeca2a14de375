/** Apeira's agents, by a stand-in, with a scripted model. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'

import { Host, OptionError, count, setLog, validate } from 'baler'
import { baler } from 'baler/apeira'
import { createAgent } from './support/apeira.mjs'

const TASK = 'Taste every pot in the kitchen. Never salt the plum jam. 梅のジャムには決して塩を入れないこと。'
const DONE = 'All pots are tasted. Τέλος.'
const POTS = 44

/** A model that tastes two pots at a time, and refuses requests of more than `limit` characters. */
function cook({ limit = Infinity, answers = false } = {}) {
  const requests = []
  const model = async ({ input }) => {
    requests.push(input)
    if (JSON.stringify(input).length > limit) throw new Error('400 Your input exceeds the context window of this model.')
    const said = (text) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }], status: 'completed' })
    if (answers)
      return [said(`A stew of leeks, fennel and old cider, ${'slowly stirred, '.repeat(8)}and then rested. 美味しい。`)]
    const next = Math.max(
      0,
      ...input.flatMap(({ type, call_id }) => (type === 'function_call_output' ? [Number(call_id) + 1] : [])),
    )
    if (next >= POTS) return [said(DONE)]
    const calls = [next, next + 1].map((pot) => ({
      type: 'function_call',
      call_id: String(pot),
      name: 'taste',
      arguments: `{"pot":${pot}}`,
    }))
    const thought = {
      type: 'reasoning',
      id: `rs_${next}`,
      summary: [{ type: 'summary_text', text: 'The next two.' }],
      encrypted_content: 'eA==',
    }
    return [thought, said('Next.'), ...calls]
  }
  return { requests, model }
}

const taste = {
  type: 'function',
  function: {
    name: 'taste',
    description: 'Tastes a pot.',
    parameters: { type: 'object', properties: { pot: { type: 'number' } } },
  },
  execute: ({ pot }) =>
    `pot ${pot}: ${60 + (pot % 9)} °C, thick, a hint of thyme and bay, wants ten more minutes on a low flame; 火は弱く`,
}

describe('Apeira', () => {
  const state = mkdtempSync(join(tmpdir(), 'baler-apeira-'))
  const warnings = []
  let host

  before(() => {
    host = new Host({ state })
    setLog((warning) => warnings.push(warning))
  })
  afterEach(() => (warnings.length = 0))
  after(() => {
    setLog(null)
    rmSync(state, { recursive: true })
  })

  const plugin = (options) => baler({ host, strategy: 'native:digest', ...options })
  const kitchen = ({ model }, plugins, others) =>
    createAgent({ instructions: 'You are a cook.', tools: [taste], plugins, model, ...others })
  const stored = (agent) => agent.entries().map(({ data }) => data)

  /** Checks that each request is whole, small, and begins with the task. */
  async function check(requests, { at, chat = false }) {
    for (const input of requests) {
      const items = chat ? input.flatMap(outside) : input
      sound(items)
      assert.equal(input.find(({ role }) => role === 'user').content, TASK)
      assert.ok((await count({ model: 'gpt-5', input: items }, { host })) < at)
      const { isValid, violations } = await validate({ model: 'gpt-5', input: items }, { host, format: 'openai-responses' })
      assert.ok(isValid, JSON.stringify(violations))
    }
  }

  for (const chat of [false, true]) {
    test(`a turn of 22 steps is sent as a view, and stored whole: ${chat ? 'chat' : 'responses'}`, async () => {
      const script = cook()
      const compactions = []
      const agent = kitchen(script, [plugin({ at: 1_300, onCompaction: (made) => compactions.push(made) })], { chat })
      await agent.run(TASK)
      const items = stored(agent)
      assert.equal(items.filter(({ type }) => type === 'function_call_output').length, POTS)
      assert.equal(items[0].content, TASK)
      assert.ok(JSON.stringify(items.at(-1)).includes(DONE))
      const { requests } = script
      assert.equal(requests.length, POTS / 2 + 1)
      await check(requests, { at: 1_300, chat })
      assert.ok(compactions.length > 1 && compactions.length < 10)
      // Between compactions, each request begins with the one before.
      const changes = requests.filter((input, n) => !begins(input, requests[n - 1] ?? []))
      assert.equal(changes.length, compactions.length)
      assert.ok(requests.at(-1).length < items.length / 2)
      // What is shown as it is, is what is stored.
      const known = new Set(items.map((item) => JSON.stringify(item)))
      for (const input of requests) assert.ok(input.filter((item) => !known.has(JSON.stringify(item))).length <= 1)
      assert.deepEqual(warnings, [])
    })
  }

  for (const chat of [false, true]) {
    test(`the size of a request is what the provider counts: ${chat ? 'chat' : 'responses'}`, async () => {
      // More than twice as many tokens as baler.
      const counted = (input) => Math.round(JSON.stringify(input).length / 2)
      const ask = async (tokens) => {
        const scripts = [cook(), cook()]
        let compactions = 0
        const shared = plugin({ at: 4_000, onCompaction: () => (compactions += 1) })
        // As forks do.
        await Promise.all(scripts.map((script, n) => kitchen(script, [shared], { chat, tokens }).run(`${TASK} ${n}`)))
        return [compactions, ...scripts.flatMap(({ requests }) => requests)]
      }
      assert.equal((await ask(() => 1))[0], 0)
      const [compactions, ...requests] = await ask(counted)
      assert.ok(compactions > 1)
      // What is added in a step is estimated.
      for (const input of requests) assert.ok(counted(input) < 4_400, `${counted(input)} tokens`)
    })
  }

  test('items that are shown as they are stay the same objects', async () => {
    const { prepareStep } = plugin({ at: 900 })
    const inside = (pot) => ({ id: String(pot), type: 'function', function: { name: 'taste', arguments: `{"pot":${pot}}` } })
    const input = [{ type: 'message', role: 'user', content: TASK }]
    for (let pot = 0; pot < 30; pot += 2) {
      input.push({
        type: 'message',
        role: 'assistant',
        content: pot % 4 ? 'Next.' : '',
        tool_calls: [inside(pot), inside(pot + 1)],
      })
      for (const one of [pot, pot + 1])
        input.push({ type: 'function_call_output', call_id: String(one), output: taste.execute({ pot: one }) })
    }
    const before = structuredClone(input)
    const { input: sent } = await prepareStep({ input, model: 'gpt-5' })
    assert.deepEqual(input, before)
    assert.ok(sent.length < input.length && sent.length > 3)
    const others = sent.filter((item) => !input.includes(item))
    assert.equal(others.length, 1)
    assert.deepEqual([others[0].type, others[0].role], ['message', 'user'])
    assert.ok(JSON.stringify(others[0]).includes('baler:summary'))
    assert.equal(sent.at(-1), input.at(-1))
  })

  test('a message that has its calls inside, with another text', async () => {
    const inside = (id) => ({ id, type: 'function', function: { name: 'taste', arguments: '{"pot":1}' } })
    const input = [
      { type: 'message', role: 'user', content: TASK },
      {
        type: 'message',
        role: 'assistant',
        content: 'First the stews. '.repeat(60),
        tool_calls: [inside('a'), inside('b')],
        reasoning: 'x',
      },
      { type: 'function_call_output', call_id: 'a', output: 'salty' },
      { type: 'function_call_output', call_id: 'b', output: 'sour' },
      { type: 'message', role: 'assistant', content: 'Both are fine.' },
      { type: 'message', role: 'user', content: 'And?' },
    ]
    const shortened =
      (text) =>
      ({ units }) => {
        const unit = units.findIndex(({ editable = [] }) => editable.some(({ may }) => may.includes('text')))
        const { message, part } = units[unit].editable[0]
        return units.map((_, n) => (n === unit ? { rewrite: { unit, edits: [{ message, part, change: { text } }] } } : n))
      }
    const policy = { 'rewrite-assistant': true }
    const { prepareStep } = plugin({ at: 200, budget: 150, policy, strategy: shortened('First the stews.') })
    const { input: sent } = await prepareStep({ input, model: 'gpt-5' })
    assert.deepEqual(warnings, [])
    assert.equal(sent.length, 6)
    const { content, ...others } = sent[1]
    assert.ok(JSON.stringify(content).includes('First the stews.') && JSON.stringify(content).length < 300)
    assert.deepEqual(others, { type: 'message', role: 'assistant', tool_calls: input[1].tool_calls, reasoning: 'x' })
    assert.ok([0, 2, 3, 4, 5].every((n) => sent[n] === input[n]))
  })

  test('42 turns, and a restart', async () => {
    const script = cook({ answers: true })
    const compactions = []
    const options = { at: 1_500, onCompaction: (made) => compactions.push(made) }
    const agent = kitchen(script, [plugin(options)])
    for (let turn = 0; turn < 42; turn += 1) await agent.run(turn === 0 ? TASK : `Turn ${turn}: and pot ${turn}? Και μετά;`)
    assert.equal(stored(agent).length, 84)
    await check(script.requests, { at: 1_500 })
    assert.ok(compactions.length > 1)
    // With what was stored, another program goes on.
    const initialInput = JSON.parse(JSON.stringify(stored(agent)))
    const later = cook({ answers: true })
    await kitchen(later, [plugin(options)], { initialInput }).run('And tomorrow?')
    await check(later.requests, { at: 1_500 })
    // The same plugin knows it still.
    const before = compactions.length
    const shared = plugin(options)
    const third = kitchen(cook({ answers: true }), [shared], { initialInput })
    await third.run('And tomorrow?')
    const other = cook({ answers: true })
    await kitchen(other, [shared], { initialInput: structuredClone(stored(third)) }).run('And then?')
    assert.equal(compactions.length, before + 1)
    await check(other.requests, { at: 1_500 })
  })

  test('the window is the agent’s `contextLength`, and is used to 80 %', async () => {
    const script = cook()
    const compactions = []
    const options = { onCompaction: ({ receipt }) => compactions.push(receipt.tokens) }
    await kitchen(script, [plugin(options)], { initialState: { contextLength: 1_500 } }).run(TASK)
    await check(script.requests, { at: 1_200 })
    // A request has at most two outputs more than the one before.
    assert.ok(compactions.length > 1)
    for (const { before, budget } of compactions)
      assert.ok(before >= 1_200 && before < 1_400 && budget === 600, `${before}, ${budget}`)
    const own = cook()
    await kitchen(own, [plugin({ contextWindow: 1_000_000 })], { initialState: { contextLength: 1_500 } }).run(TASK)
    assert.equal(own.requests.at(-1).length, 1 + (POTS / 2) * 6)
    await assert.rejects(
      kitchen(cook(), [plugin()]).run(TASK),
      (error) => error instanceof OptionError && /contextWindow/.test(error.message),
    )
    assert.throws(() => baler({ host, threshold: 0.9 }), OptionError)
  })

  test('instructions and tools count', async () => {
    const sizes = []
    for (const instructions of ['Cook.', 'Cook slowly, and taste often. '.repeat(50)]) {
      const compactions = []
      const options = { at: 1_300, onCompaction: ({ receipt }) => compactions.push(receipt.tokens.before) }
      await kitchen(cook(), [plugin(options)], { instructions }).run(TASK)
      sizes.push(compactions.length)
    }
    assert.ok(sizes[1] > sizes[0], `${sizes}`)
  })

  test('it sees what other plugins make of the input', async () => {
    const script = cook()
    const said = 'It is noon, and the sun is on the tiles. '.repeat(20)
    const noon = {
      name: 'noon',
      prepareStep: ({ input }) => ({ input: [...input, { type: 'message', role: 'user', content: said }] }),
    }
    const agent = kitchen(script, [plugin({ at: 1_300 }), noon])
    await agent.run(TASK)
    await check(script.requests, { at: 1_300 })
    assert.ok(script.requests.every((input) => input.at(-1).content === said))
    assert.ok(!JSON.stringify(stored(agent)).includes('noon'))
  })

  test('what fails in baler does not fail the turn', async () => {
    const script = cook()
    const strategy = () => {
      throw new Error('the oven is cold')
    }
    await kitchen(script, [plugin({ at: 1_300, strategy })]).run(TASK)
    await check(script.requests, { at: 1_300 })
    assert.ok(warnings.some((warning) => warning.includes('the oven is cold')))
    // A history that breaks the rules of its format is sent whole.
    warnings.length = 0
    const lost = { type: 'function_call_output', call_id: 'nobody', output: 'burnt '.repeat(2_000) }
    const other = cook({ answers: true })
    await kitchen(other, [plugin({ at: 1_000 })], { initialInput: [{ type: 'message', role: 'user', content: TASK }, lost] }).run(
      'So?',
    )
    assert.deepEqual(other.requests[0][1], lost)
    assert.ok(warnings.some((warning) => warning.includes('sent whole')))
  })

  test('a refusal is the provider’s: nothing is sent again', async () => {
    const script = cook({ limit: 3_000 })
    await assert.rejects(kitchen(script, [plugin({ contextWindow: 1_000_000 })]).run(TASK), /exceeds the context window/)
    assert.equal(script.requests.filter((input) => JSON.stringify(input).length > 3_000).length, 1)
  })
})

/** Fails if an output has no call, or a call no output. */
function sound(items) {
  const open = new Set()
  for (const { type, call_id } of items) {
    if (type === 'function_call') open.add(call_id)
    if (type === 'function_call_output') assert.ok(open.delete(call_id), `the output ${call_id} has its call`)
  }
  assert.equal(open.size, 0)
}

/** The items of Responses that a message with its calls inside is made of. */
function outside({ tool_calls, ...item }) {
  const calls = (tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: args,
  }))
  return calls.length > 0 && item.content === '' ? calls : [item, ...calls]
}

const begins = (input, before) => before.every((item, n) => JSON.stringify(item) === JSON.stringify(input[n]))
