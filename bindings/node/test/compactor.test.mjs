/** One conversation over time. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'

import { Compactor, ConversationError, Host, OptionError, setLog, validate } from 'baler'

const TASK = {
  role: 'user',
  content: 'Look through all shelves of the monastery. Never open the red codex. Μὴ ἀνοίξῃς τὸν ἐρυθρὸν κώδικα.',
}
const SHELVES = 60

/** What an agent adds when it looks at a shelf: a call, and its output. */
function look(shelf) {
  const call = { id: `call_${shelf}`, type: 'function', function: { name: 'look', arguments: `{"shelf":${shelf}}` } }
  const content = `shelf ${shelf}: ${9 + (shelf % 4)} folios, two psalters, a herbal with a torn spine, dry, no worms; 本の状態は良好`
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: `call_${shelf}`, content },
  ]
}

const looks = (count) => Array.from({ length: count }, (_, shelf) => look(shelf)).flat()

describe('Compactor', () => {
  const state = mkdtempSync(join(tmpdir(), 'baler-compactor-'))
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

  const start = (conversation, options) => Compactor.start(conversation, { host, strategy: 'native:digest', ...options })

  test('an agent stays within its window, and its request changes rarely', async () => {
    const compactor = await start([TASK], { contextWindow: 2_000 })
    const history = [TASK]
    let before = []
    let changes = 0
    for (let shelf = 0; shelf < SHELVES; shelf += 1) {
      const step = await compactor.step()
      assert.equal(
        step.isCompacted,
        step.receipts.some(({ outcome }) => outcome === 'compacted'),
      )
      assert.equal(step.pressure !== null, step.isCompacted)
      const { messages } = compactor
      if (!before.every((message, place) => JSON.stringify(message) === JSON.stringify(messages[place]))) changes += 1
      assert.equal(step.isCompacted, changes === compactor.compactions && step.receipts.length === 1)
      before = messages
      assert.deepEqual(messages[0], TASK)
      assert.ok(compactor.tokens < 2_000)
      assert.ok((await validate(messages, { host })).isValid)
      compactor.append(...look(shelf))
      history.push(...look(shelf))
    }
    assert.ok(compactor.compactions > 1 && compactor.compactions < 10)
    assert.equal(changes, compactor.compactions)
    assert.deepEqual(compactor.history, history)
    assert.deepEqual(warnings, [])
    assert.match(String(compactor), /^Compactor: \d+ tokens, \d compactions, Strategy native:digest$/)
  })

  test('it takes a request body of any format, and gives it back', async () => {
    const chat = { model: 'gpt-4o', temperature: 0, messages: [TASK, ...looks(30)] }
    const anthropic = {
      model: 'claude-sonnet-5-5',
      max_tokens: 500,
      system: 'You are a librarian.',
      messages: [TASK, ...looks(30)].map(({ role, content, tool_calls, tool_call_id }) => {
        if (role === 'tool') return { role: 'user', content: [{ type: 'tool_result', tool_use_id: tool_call_id, content }] }
        const use = (call) => ({ type: 'tool_use', id: call.id, name: 'look', input: JSON.parse(call.function.arguments) })
        return { role, content: tool_calls ? tool_calls.map(use) : content }
      }),
    }
    const responses = {
      model: 'gpt-5',
      instructions: 'You are a librarian.',
      input: [TASK, ...looks(30)].flatMap(({ content, tool_calls, tool_call_id, ...message }) => {
        if (tool_call_id) return [{ type: 'function_call_output', call_id: tool_call_id, output: content }]
        if (!tool_calls) return [{ ...message, content }]
        return tool_calls.map((call) => ({ type: 'function_call', call_id: call.id, ...call.function }))
      }),
    }
    for (const [body, name] of [
      [chat, 'messages'],
      [anthropic, 'messages'],
      [responses, 'input'],
    ]) {
      const given = structuredClone(body)
      const compactor = await start(body, { contextWindow: 1_500 })
      const step = await compactor.step()
      assert.ok(step.isCompacted, name)
      const { [name]: messages, ...frame } = compactor.body
      const { [name]: all, ...before } = body
      assert.deepEqual(frame, before)
      assert.deepEqual(messages, compactor.messages)
      assert.ok(messages.length < all.length / 2)
      assert.ok((await validate(compactor.body, { host })).isValid)
      assert.deepEqual(compactor.history, all)
      assert.deepEqual(body, given, 'what was given is not changed')
    }
  })

  test('what is appended wrongly, and wrong options, change nothing', async () => {
    const compactor = await start([TASK], { contextWindow: 2_000 })
    assert.throws(() => compactor.append({ role: 'wizard' }), ConversationError)
    assert.throws(
      () => compactor.append({ role: 'user', content: '\ud800' }),
      /`messages\[0\]\.content`: the text has a lone surrogate/,
    )
    assert.throws(() => compactor.append('words'), ConversationError)
    assert.throws(() => compactor.reported(-1), TypeError)
    assert.deepEqual(compactor.history, [TASK])
    const refused = (options, message) =>
      assert.rejects(start([TASK], options), (error) => error instanceof OptionError && message.test(error.message))
    await refused({ contextWindow: 2_000, targetShare: 2 }, /target/)
    await refused({ contextWindw: 2_000 }, /no option is called `contextWindw`; known: contextWindow/)
    await refused({}, /context/)
    assert.throws(() => compactor.stepSync({ signal: new AbortController().signal }), TypeError)
  })

  test('each overflow aims lower', async () => {
    const compactor = await start([TASK, ...looks(40)], { contextWindow: 100_000 })
    assert.equal((await compactor.step()).pressure, null)
    const sizes = [compactor.tokens]
    for (const overflow of [() => compactor.overflow(), () => compactor.overflowSync()]) {
      const { isCompacted, pressure } = await overflow()
      assert.deepEqual({ isCompacted, pressure }, { isCompacted: true, pressure: 'overflow' })
      sizes.push(compactor.tokens)
    }
    assert.ok(sizes[0] * 0.7 >= sizes[1] && sizes[1] > sizes[2], `${sizes}`)
    assert.equal(compactor.history.length, 81)
  })

  test('what the provider reports counts', async () => {
    const compactor = await start([TASK, ...looks(10)], { contextWindow: 2_000 })
    assert.equal((await compactor.step()).pressure, null)
    compactor.reported(1_900)
    assert.ok((await compactor.step()).isCompacted)
    assert.equal((await compactor.step()).pressure, null, 'after a compaction it is stale')
  })

  test('a model is asked with what a person wishes', async () => {
    const asked = []
    const model = (request) => {
      asked.push(request)
      return 'All shelves up to 29 are dry. The herbal of shelf 7 waits for a binder.'
    }
    const own = new Host({ state, model })
    const began = await Compactor.start([TASK, ...looks(30)], { host: own, contextWindow: 100_000, strategy: 'summarize' })
    const step = await began.compact({ instructions: 'keep what waits for the binder' })
    assert.deepEqual([step.isCompacted, step.pressure], [true, 'manual'])
    assert.equal(asked.length, 1)
    assert.match(`${asked[0].instructions} ${asked[0].prompt}`, /keep what waits for the binder/)
    assert.match(asked[0].prompt, /shelf 3: 12 folios/)
    assert.match(JSON.stringify(began.messages), /The herbal of shelf 7 waits/)
    assert.deepEqual(began.messages[0], TASK)
    // The same, blocking the thread: the function is called meanwhile.
    const waiting = Compactor.startSync([TASK, ...looks(30)], { host: own, contextWindow: 100_000, strategy: 'summarize' })
    assert.ok(waiting.compactSync({ instructions: 'keep what waits for the binder' }).isCompacted)
    assert.equal(asked.length, 2)
    assert.deepEqual(asked[1], asked[0])
    // A promise is waited for, unless the thread is blocked.
    const slow = new Host({ state, model: (request) => new Promise((resolve) => setTimeout(resolve, 20, model(request))) })
    const options = { host: slow, contextWindow: 100_000, strategy: 'summarize' }
    assert.match(JSON.stringify(await compacted(await Compactor.start([TASK, ...looks(30)], options))), /waits for a binder/)
    const blocked = Compactor.startSync([TASK, ...looks(30)], options)
    const { receipts } = blocked.compactSync()
    assert.equal(receipts[0].attempts[0].result.result === 'accepted', false)
    assert.ok(!JSON.stringify(blocked.messages).includes('waits for a binder'))
  })

  async function compacted(compactor) {
    await compactor.compact()
    return compactor.messages
  }

  test('it is saved, and continues', async () => {
    const options = { contextWindow: 2_000 }
    const compactor = await start([TASK], options)
    for (let shelf = 0; shelf < 40; shelf += 1) {
      await compactor.step()
      compactor.append(...look(shelf))
    }
    assert.ok(compactor.compactions > 0)
    const saved = compactor.save()
    assert.equal(typeof saved, 'string')
    const resumed = await Compactor.resume(saved, { host, strategy: 'native:digest', ...options })
    for (const name of ['messages', 'history', 'tokens', 'compactions', 'body'])
      assert.deepEqual(resumed[name], compactor[name], name)
    // Both go on alike.
    for (const one of [compactor, resumed]) {
      for (let shelf = 40; shelf < SHELVES; shelf += 1) {
        await one.step()
        one.append(...look(shelf))
      }
    }
    assert.equal(resumed.history.length, 1 + 2 * SHELVES)
    assert.deepEqual(resumed.history, compactor.history)
    assert.equal(resumed.compactions, compactor.compactions)
    assert.deepEqual(resumed.messages, compactor.messages)
    await assert.rejects(Compactor.resume('{}', { host, ...options }), /pass the output of `save`/)
  })

  test('a preset has the strategy and the settings of an earlier system', async () => {
    const turns = Array.from({ length: 9 }, (_, turn) => [
      { role: 'user', content: `And shelf ${turn}? What lies there?` },
      { role: 'assistant', content: `On shelf ${turn} lie two psalters and a herbal.` },
    ]).flat()
    const preset = (name, options, conversation = turns) => Compactor.start(conversation, { host, preset: name, ...options })
    // Seven turns: it compacts from eight on, whatever the tokens.
    const compactor = await preset('ptc-runner', {}, turns.slice(0, 14))
    assert.equal((await compactor.step()).pressure, null)
    compactor.append(...turns.slice(14))
    const step = await compactor.step()
    assert.equal(step.pressure, 'turns')
    assert.equal(step.receipts[0].attempts[0].strategy, 'coalesce')
    // Options take precedence.
    assert.equal((await (await preset('ptc-runner', { triggers: { turns: 50 } })).step()).pressure, null)
    const own = await preset('ptc-runner', { strategy: 'native:digest', targetTokens: 100 })
    assert.equal((await own.step()).receipts[0].attempts[0].strategy, 'native:digest')
    await assert.rejects(
      preset('plank'),
      (error) => error instanceof OptionError && /one of planck, puck, ptc-runner, apeira/.test(error.message),
    )
  })

  test('the preset of Apeira: anchors, and a summary for the developer', async () => {
    const own = new Host({ state, model: () => 'They asked for shelves 0 to 20. All is dry.' })
    const talk = Array.from({ length: 24 }, (_, turn) => [
      { role: 'user', content: `And shelf ${turn}? What lies there?` },
      {
        role: 'assistant',
        content: `On shelf ${turn} lie two psalters, a herbal with a torn spine, and a map of the coast. `.repeat(3),
      },
    ]).flat()
    const compactor = await Compactor.start([TASK, ...talk], { host: own, preset: 'apeira', contextWindow: 1_500 })
    const { isCompacted, receipts } = await compactor.step()
    assert.ok(isCompacted)
    assert.equal(receipts[0].attempts[0].strategy, 'anchored')
    assert.deepEqual(receipts[0].attempts[0].result, { result: 'accepted' })
    const { messages } = compactor
    const place = messages.findIndex(({ role }) => role === 'developer')
    assert.match(messages[place].content, /<context_summary>\nThey asked for shelves 0 to 20\. All is dry\.\n<\/context_summary>/)
    assert.ok(messages.slice(0, place).every(({ role }) => role === 'user'))
    assert.deepEqual(messages.slice(place + 1), talk.slice(-4))
  })

  test('the calls that block the thread do the same', async () => {
    const one = await start([TASK], { contextWindow: 2_000 })
    const other = Compactor.startSync([TASK], { host, strategy: 'native:digest', contextWindow: 2_000 })
    for (let shelf = 0; shelf < SHELVES; shelf += 1) {
      const [step, same] = [await one.step(), other.stepSync()]
      assert.deepEqual([same.isCompacted, same.pressure, same.held], [step.isCompacted, step.pressure, step.held])
      for (const compactor of [one, other]) compactor.append(...look(shelf))
    }
    assert.ok(other.compactions > 1)
    assert.deepEqual(other.messages, one.messages)
    assert.equal((await one.compact()).isCompacted, other.compactSync().isCompacted)
    assert.deepEqual(other.messages, one.messages)
  })

  test('two steps at once take turns, and what comes meanwhile follows', async () => {
    let release
    const gate = new Promise((resolve) => (release = resolve))
    let asked = 0
    const strategy = async ({ units }) => {
      asked += 1
      await gate
      return [0, 'Twenty shelves were dry.', ...[...units.keys()].slice(-4)]
    }
    const compactor = await Compactor.start([TASK, ...looks(30)], { host, strategy, contextWindow: 1_500 })
    const both = [compactor.step(), compactor.step()]
    await new Promise((resolve) => setTimeout(resolve, 50))
    release()
    const steps = await Promise.all(both)
    assert.deepEqual(steps.map(({ isCompacted }) => isCompacted).sort(), [false, true])
    assert.equal(asked, 1)
    assert.equal(compactor.compactions, 1)
    compactor.append(...look(30))
    assert.deepEqual(compactor.messages.slice(-2), look(30))
    assert.match(JSON.stringify(compactor.messages[1]), /Twenty shelves were dry/)
    assert.ok((await validate(compactor.messages, { host })).isValid)
  })

  test('a step that is aborted or takes too long changes nothing', async () => {
    let isSlow = true
    const strategy = async ({ units }) => {
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, 1_500))
      return [0, 'All was dry.', units.length - 1]
    }
    const compactor = await Compactor.start([TASK, ...looks(30)], { host, strategy, contextWindow: 1_500 })
    const { messages } = compactor
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error('vespers')), 30)
    await assert.rejects(compactor.step({ signal: controller.signal }), /vespers/)
    await assert.rejects(compactor.step({ signal: AbortSignal.abort(new Error('matins')) }), /matins/)
    assert.deepEqual(compactor.messages, messages)
    assert.equal(compactor.compactions, 0)
    isSlow = false
    assert.ok((await compactor.step()).isCompacted)
    assert.match(JSON.stringify(compactor.messages), /All was dry/)
  })

  test('a strategy that fails is told, and another does its work', async () => {
    const strategy = () => {
      throw new Error('the lamp went out')
    }
    const compactor = await Compactor.start([TASK, ...looks(30)], { host, strategy, contextWindow: 1_500 })
    const { isCompacted, receipts } = await compactor.step()
    assert.ok(isCompacted)
    assert.equal(receipts[0]['fell-back'], true)
    assert.ok(warnings.some((warning) => warning.includes('the lamp went out')))
  })
})
