/** Signals, time limits, ends of processes, threads, functions that misbehave, and garbage collection. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

import { BalerError, Compactor, Host, Strategy, Window, compact, compactSync, count, countSync, setLog } from 'baler'

import { attempts, everyThird, folder, garden, host, isNode, run, sleep, state, warningsOf } from './support.mjs'

const digest = { host, strategy: 'native:digest' }
/** Big enough that it is still worked on when the signal comes. */
const harbour = garden(20_000)

/** What a program of its own needs. */
const START = `
  import { Host, compact, compactSync } from 'baler'
  const host = new Host({ state: ${JSON.stringify(state)} })
  const messages = ${JSON.stringify(garden(300))}
`

test('a signal that is aborted before rejects with its reason, and nothing is done', async () => {
  let asked = 0
  const strategy = () => {
    asked += 1
    return null
  }
  await assert.rejects(compact(garden(), { host, strategy, signal: AbortSignal.abort() }), { name: 'AbortError' })
  await assert.rejects(count(garden(), { host, signal: AbortSignal.abort(new RangeError('too late')) }), { name: 'RangeError', message: 'too late' })
  const compactor = await Compactor.start(garden(), { host, strategy, triggers: { tokens: 10 } })
  await assert.rejects(compactor.step({ signal: AbortSignal.abort() }), { name: 'AbortError' })
  await assert.rejects(Compactor.start(garden(), { host, strategy, triggers: { tokens: 10 } }, { signal: AbortSignal.abort() }), { name: 'AbortError' })
  await assert.rejects(host.expand('x', { signal: AbortSignal.abort() }), { name: 'AbortError' })
  const window = new Window({ host, at: 500, strategy })
  await assert.rejects(window.show('openai-chat', { messages: garden() }, { signal: AbortSignal.abort() }), { name: 'AbortError' })
  assert.equal(asked, 0)
})

test('a signal ends a call that runs', async () => {
  for (const work of [(signal) => count(harbour, { host, signal }), (signal) => compact(harbour, { ...digest, signal })]) {
    for (const milliseconds of [0, 1, 5]) {
      const signal = AbortSignal.timeout(milliseconds)
      await assert.rejects(work(signal), (error) => error === signal.reason && error.name === 'TimeoutError')
    }
  }
})

test('a signal ends a call while a function thinks, and its answer comes to nothing', async () => {
  for (const answer of [() => new Promise(() => {}), everyThird]) {
    const controller = new AbortController()
    const began = performance.now()
    const running = compact(garden(), {
      host,
      signal: controller.signal,
      strategy: (request) => {
        controller.abort(new Error('the guests are leaving'))
        return answer(request)
      },
    })
    await assert.rejects(running, { message: 'the guests are leaving' })
    assert.ok(performance.now() - began < 5_000)
  }
})

test('a signal that is aborted after the end changes nothing', async () => {
  const controller = new AbortController()
  const result = await compact(garden(), { ...digest, signal: controller.signal })
  controller.abort()
  assert.equal(result.isCompacted, true)
  assert.deepEqual(await result.undo(), garden())
})

test('one signal ends many calls, without a warning of too many listeners', async () => {
  const warnings = []
  const note = (warning) => warnings.push(warning)
  process.on('warning', note)
  const controller = new AbortController()
  const { signal } = controller
  const running = Array.from({ length: 20 }, () => compact(garden(), { host, signal, strategy: () => new Promise(() => {}) }))
  setTimeout(() => controller.abort(), 50)
  const ended = await Promise.allSettled(running)
  await sleep(10)
  process.off('warning', note)
  assert.ok(ended.every(({ reason }) => reason === signal.reason))
  assert.deepEqual(warnings, [])
})

test('a compactor goes on after a step that was ended', async () => {
  const controller = new AbortController()
  const answers = [new Promise(() => {}), undefined]
  const strategy = (request) => answers.shift() ?? everyThird(request)
  const compactor = await Compactor.start(garden(), { host, strategy, triggers: { tokens: 1_100 }, targetShare: 0.9 })
  setTimeout(() => controller.abort(), 50)
  await assert.rejects(compactor.step({ signal: controller.signal }), { name: 'AbortError' })
  compactor.append({ role: 'user', content: 'Go on.' })
  assert.equal((await compactor.step()).isCompacted, true)
  assert.equal(compactor.messages.at(-1).content, 'Go on.')
  assert.equal(compactor.history.length, garden().length + 1)
})

test('a time limit ends what reads, and leaves a conversation as it is', async () => {
  await assert.rejects(count(harbour, { host, timeout: 0.02 }), (error) => error instanceof BalerError && /not read in time/.test(error.message))
  assert.throws(() => countSync(harbour, { host, timeout: 0.02 }), /not read in time/)
  for (const isSync of [false, true]) {
    const began = performance.now()
    const slow = isSync
      ? () => {
          while (performance.now() - began < 600);
          return []
        }
      : () => new Promise(() => {})
    const options = { host, strategy: Strategy.of(slow, { name: 'slow' }), timeout: 0.3 }
    let result
    const warnings = await warningsOf(async () => {
      result = isSync ? compactSync(garden(), options) : await compact(garden(), options)
    })
    assert.equal(result.receipt.why, 'out-of-time')
    assert.deepEqual(result.body, garden())
    assert.ok(performance.now() - began < 5_000)
    // No other strategy is asked any more.
    assert.equal(warnings.length, 1)
    assert.doesNotMatch(warnings[0], /next one/)
  }
})

test('the event loop goes on while calls run', async () => {
  let ticks = 0
  const clock = setInterval(() => (ticks += 1), 5).unref()
  const bytes = Buffer.from(JSON.stringify(harbour))
  await count(bytes, { host })
  clearInterval(clock)
  assert.ok(ticks >= 5, `${ticks} ticks`)
})

test('a promise that nobody awaits ends, and the process with it', async () => {
  const ended = await run(`${START}
    void compact(messages, { host, strategy: 'native:digest' }).then((result) => console.log(result.isCompacted))
    void compact(messages, { host, strategy: 'native:truncate' })
    console.log('the end of the module')
  `)
  assert.deepEqual([ended.code, ended.stdout], [0, 'the end of the module\ntrue\n'], ended.stderr)
})

test('a function that never answers keeps a process no longer than its limit', async () => {
  const ended = await run(`${START}
    import { Strategy } from 'baler'
    void compact(messages, { host, strategy: Strategy.of(() => new Promise(() => {}), { name: 'mute', timeout: 1 }) })
  `)
  assert.equal(ended.code, 0, ended.stderr)
  assert.match(ended.stderr, /the strategy `mute` failed .*timeout/)
  assert.ok(ended.time > 1_000 && ended.time < 30_000, `${ended.time} ms`)
})

test('a host alone keeps no process', async () => {
  const ended = await run(`${START}
    import { Compactor, Window } from 'baler'
    globalThis.kept = [new Host({ state: null, model: () => '' }), new Window({ host, at: 100, strategy: () => null }), await Compactor.start(messages, { host, contextWindow: 500, strategy: () => null })]
  `)
  assert.deepEqual([ended.code, ended.stdout, ended.stderr], [0, '', ''])
})

test('process.exit ends a process in which work runs', async () => {
  for (const milliseconds of [0, 5, 20, 60, 150]) {
    const ended = await run(`${START}
      for (let n = 0; n < 8; n += 1) void compact(messages, { host, strategy: n % 2 === 0 ? 'native:digest' : 'sliding-window' })
      void compact(messages, { host, strategy: () => new Promise(() => {}) })
      setTimeout(() => process.exit(7), ${milliseconds})
    `)
    assert.deepEqual([ended.code, ended.stderr], [7, ''])
  }
})

test('an error that nobody catches ends a process as usual', async () => {
  const ended = await run(`${START}
    void compact(messages, { host, strategy: 'native:digest' })
    throw new RangeError('the boat is full')
  `)
  assert.equal(ended.code, 1)
  assert.match(ended.stderr, /RangeError: the boat is full/)
})

/** What a worker does. */
const WORKER = `
  const { parentPort, workerData } = await import('node:worker_threads')
  const { Host, compact, compactSync } = await import('baler')
  const { state, messages, work } = workerData
  const host = new Host({ state })
  const third = ({ units }) => units.map((_, index) => index).filter((index) => index % 3 === 0 || units[index].traits.includes('protected'))
  if (work === 'compact') {
    const byName = await compact(messages, { host, strategy: 'native:truncate' })
    const byFunction = await compact(messages, { host, budget: '80%', strategy: async (request) => third(request) })
    const waited = compactSync(messages, { host, budget: '80%', strategy: third })
    parentPort.postMessage([byName.messages, byFunction.messages, waited.messages])
  } else {
    for (let n = 0; n < 4; n += 1) void compact(messages, { host, strategy: n % 2 === 0 ? 'native:digest' : () => new Promise(() => {}) })
    parentPort.postMessage('running')
    if (work === 'exit') setTimeout(() => process.exit(3), 20)
    if (work === 'throw') setTimeout(() => { throw new Error('the well is dry') }, 20)
  }
`

function worker(work, text = WORKER) {
  // A module by its URL finds the package by the folder that it is in.
  const url = new URL(`data:text/javascript,${encodeURIComponent(text.replaceAll("'baler'", JSON.stringify(import.meta.resolve('baler'))))}`)
  return new Worker(url, { workerData: { state, messages: garden(200), work } })
}

const message = (of) => new Promise((resolve, reject) => of.once('message', resolve).once('error', reject))
const exit = (of) => new Promise((resolve) => of.once('exit', resolve))

test('four workers work at once', async () => {
  const workers = Array.from({ length: 4 }, () => worker('compact'))
  const codes = workers.map(exit)
  const results = await Promise.all(workers.map(message))
  const byName = (await compact(garden(200), { host, strategy: 'native:truncate' })).messages
  const byFunction = (await compact(garden(200), { host, budget: '80%', strategy: everyThird })).messages
  assert.ok(byFunction.length < 300)
  for (const result of results) assert.deepEqual(result, [byName, byFunction, byFunction])
  assert.deepEqual(await Promise.all(codes), [0, 0, 0, 0])
})

test('workers are terminated while work runs', async () => {
  for (const milliseconds of [0, 10, 50, 200]) {
    const workers = Array.from({ length: 4 }, () => worker('run'))
    await Promise.all(workers.map(message))
    await sleep(milliseconds)
    await Promise.all(workers.map((each) => each.terminate()))
  }
  assert.equal((await compact(garden(), digest)).isCompacted, true)
})

test('workers end by process.exit and by errors while work runs', async () => {
  const exiting = Array.from({ length: 4 }, () => worker('exit'))
  assert.deepEqual(await Promise.all(exiting.map(exit)), [3, 3, 3, 3])
  const failing = worker('throw')
  const error = new Promise((resolve) => failing.once('error', resolve))
  assert.match((await error).message, /the well is dry/)
  assert.equal((await compact(garden(), digest)).isCompacted, true)
})

test('workers end in a program whose main thread has no part in it', async () => {
  for (let round = 0; round < 3; round += 1) {
    const ended = await run(`
      import { Worker } from 'node:worker_threads'
      const workers = Array.from({ length: 4 }, () => new Worker(new URL(${JSON.stringify(`data:text/javascript,${encodeURIComponent(
        WORKER.replaceAll("'baler'", JSON.stringify(import.meta.resolve('baler'))),
      )}`)}), { workerData: ${JSON.stringify({ state, messages: garden(200), work: 'exit' })} }))
      console.log(JSON.stringify(await Promise.all(workers.map((each) => new Promise((resolve) => each.once('exit', resolve))))))
    `)
    assert.deepEqual([ended.code, ended.stdout], [0, '[3,3,3,3]\n'], ended.stderr)
  }
})

const SUMMARY = 'The beds were checked one after the other; the cacti are never watered. サボテン'

test('a function that is a model writes the summary', async () => {
  const asked = []
  for (const answer of [SUMMARY, Promise.resolve(SUMMARY), { then: (resolve) => resolve(SUMMARY) }]) {
    const model = (request) => {
      asked.push(request)
      return answer
    }
    const own = new Host({ state, model })
    assert.equal(own.hasModel, true)
    const result = await compact(garden(), { host: own, strategy: 'native:summarize' })
    assert.deepEqual(attempts(result), [['native:summarize', 'accepted']])
    assert.ok(JSON.stringify(result.messages).includes(SUMMARY))
    assert.equal(result.receipt.attempts[0].model.calls, 1)
  }
  assert.equal(asked.length, 3)
  assert.deepEqual(Object.keys(asked[0]).sort(), ['instructions', 'maxOutputTokens', 'prompt'])
  assert.match(asked[0].prompt, /Bed 3: soil 24 %, dry\./)
  const waited = compactSync(garden(), { host: new Host({ state, model: () => SUMMARY }), strategy: 'native:summarize' })
  assert.deepEqual(attempts(waited), [['native:summarize', 'accepted']])
})

/** Models that misbehave, and what the warning says. */
const MODELS = {
  throws: [() => { throw new Error('no credit') }, /the model failed: Error: no credit$/],
  'throws what has no text': [() => { throw Object.create(null) }, /the model failed: it threw something that cannot be shown$/],
  rejects: [async () => { throw new Error('429') }, /the model failed: Error: 429$/],
  'returns a number': [() => 5, /the model failed: TypeError: expected a text from the function, found number$/],
  'returns null': [async () => null, /found null$/],
  'returns nothing': [() => {}, /found undefined$/],
  'returns an empty text': [() => '', /native:summarize/],
  'returns a thenable that throws': [() => ({ then() { throw new Error('then') } }), /the model failed: Error: then$/],
}

test('a model that misbehaves leads to the next strategy, with a warning that says why', async () => {
  for (const [name, [model, message]] of Object.entries(MODELS)) {
    let result
    const warnings = await warningsOf(async () => {
      result = await compact(garden(), { host: new Host({ state, model }), strategy: ['native:summarize', 'native:digest'], required: true })
    })
    assert.match(warnings[0], message, name)
    assert.match(warnings.at(-1), /the strategy `native:summarize` failed .*so the next one was asked$/, name)
    assert.deepEqual(attempts(result), [['native:summarize', 'failure'], ['native:digest', 'accepted']], name)
    assert.equal(result.fellBack, true)
  }
})

test('a model that answers twice is heard once', async () => {
  const twice = () => ({ then(resolve) { resolve(SUMMARY); resolve('Another.'); throw new Error('late') } })
  const result = await compact(garden(), { host: new Host({ state, model: twice }), strategy: 'native:summarize' })
  assert.ok(JSON.stringify(result.messages).includes(SUMMARY))
  assert.ok(!JSON.stringify(result.messages).includes('Another.'))
})

test('a model that hangs is left behind', async () => {
  const own = new Host({ state, model: () => new Promise(() => {}) })
  const strategy = [new Strategy('native:summarize', { timeout: 0.3 }), 'native:digest']
  let result
  await warningsOf(async () => {
    result = await compact(garden(), { host: own, strategy, required: true })
  })
  assert.equal(result.isCompacted, true)
  assert.equal(attempts(result)[0][0], 'native:summarize')
  assert.notEqual(attempts(result)[0][1], 'accepted')
})

/** Functions that are no good strategies: what comes of them, and what the warning says. */
const PLANS = {
  throws: [() => { throw new LookupError('the moss is gone') }, 'output-malformed', /the strategy `wrong` failed: LookupError: the moss is gone/],
  'throws nothing': [() => { throw null }, 'output-malformed', /failed: null$/],
  rejects: [async () => { throw new Error('rain') }, 'output-malformed', /failed: Error: rain$/],
  'returns a number': [() => 5, 'output-malformed', /expected a list of units, texts and pieces, or null, found number$/],
  'returns a text': [() => 'all', 'output-malformed', /found string$/],
  'returns an object': [() => ({}), 'output-malformed', /found Object$/],
  'returns a generator': [function* () { yield 0 }, 'output-malformed', /expected a list/],
  'keeps NaN': [() => [NaN], 'output-malformed', /`plan\[0\]`: .*found NaN$/],
  'keeps less than nothing': [() => [0, -1], 'output-malformed', /`plan\[1\]`: .*found -1$/],
  'keeps a half': [() => [0.5], 'output-malformed', /`plan\[0\]`: .*found 0\.5$/],
  'keeps null': [() => [0, null], 'output-malformed', /`plan\[1\]`: .*found null$/],
  'keeps a hole': [() => [0, , 1], 'output-malformed', /`plan\[1\]`: .*found undefined$/], // eslint-disable-line no-sparse-arrays
  'keeps a BigInt': [() => [1n], 'output-malformed', /`plan\[0\]`: .*found bigint$/],
  'inserts half a character': [() => ['a\ud800'], 'output-malformed', /`plan\[0\]\.insert\.text`: .*lone surrogate/],
  'has an unknown piece': [() => [{ keep: 'all' }], 'output-malformed', /failed \(/],
  'keeps nothing': [() => [], 'invalid-plan', /drops-protected/],
  'keeps what is not there': [() => [10_000], 'invalid-plan', /out-of-range/],
  'keeps one twice': [() => [0, 0], 'invalid-plan', /out-of-order/],
  'inserts too much': [(request) => [...everyThird(request), 'leek '.repeat(1e6)], 'output-too-large', /output-too-large/],
  'is a class': [class Plan {}, 'output-malformed', /without 'new'|constructor/i],
}

class LookupError extends Error {
  name = 'LookupError'
}

test('a function that is no good strategy is replaced by the next one', async () => {
  for (const [name, [plan, fault, message]] of Object.entries(PLANS)) {
    const strategy = Strategy.of(plan, { name: 'wrong' })
    for (const isSync of [false, true]) {
      let result
      const warnings = await warningsOf(async () => {
        result = isSync ? compactSync(garden(), { host, strategy }) : await compact(garden(), { host, strategy })
      })
      const isPromise = isSync && name === 'rejects'
      assert.match(warnings[0], isPromise ? /returned a promise/ : message, name)
      assert.deepEqual(attempts(result)[0], ['wrong', fault], name)
      assert.equal(result.isCompacted && result.fellBack, true, name)
    }
  }
})

test('a promise in a call that blocks the thread is refused, with the remedy', async () => {
  let result
  const warnings = await warningsOf(() => {
    result = compactSync(garden(), { host, strategy: async function patient(request) { return everyThird(request) } })
  })
  assert.match(warnings[0], /the strategy `patient` failed: .*use the call without `Sync`$/)
  assert.equal(result.fellBack, true)
  const refused = await warningsOf(() => compactSync(garden(), { host: new Host({ state, model: async () => SUMMARY }), strategy: 'native:summarize' }))
  assert.match(refused[0], /the model failed: .*use the call without `Sync`$/)
})

test('a call that blocks the thread does not spoil those that wait for promises', async () => {
  const patient = async (request) => {
    await sleep(30)
    return everyThird(request)
  }
  const running = Array.from({ length: 4 }, () => compact(garden(), { host, budget: '80%', strategy: Strategy.of(patient) }))
  for (let n = 0; n < 40; n += 1) {
    countSync(garden(), { host })
    if (n % 10 === 0) await sleep(5)
  }
  for (const result of await Promise.all(running)) assert.deepEqual(attempts(result), [['patient', 'accepted']])
})

test('a function may call baler itself', async () => {
  const options = { host, budget: '80%' }
  const waits = (request) => (compactSync(garden(), { ...options, strategy: everyThird }), everyThird(request))
  const awaits = async (request) => (await compact(garden(), { ...options, strategy: everyThird }), everyThird(request))
  for (const result of [await compact(garden(), { ...options, strategy: waits }), await compact(garden(), { ...options, strategy: awaits }), compactSync(garden(), { ...options, strategy: waits })]) {
    assert.deepEqual(attempts(result)[0][1], 'accepted')
  }
})

test('a compactor that compacts cannot be used otherwise, and says so', async () => {
  for (const isSync of [false, true]) {
    const seen = []
    const strategy = (request) => {
      for (const use of [() => compactor.tokens, () => compactor.body, () => compactor.history, () => compactor.save(), () => compactor.append({ role: 'user', content: '' }), () => compactor.stepSync()]) {
        assert.throws(use, (error) => error instanceof BalerError && /await `step`/.test(error.message))
      }
      seen.push(`${compactor}`)
      return everyThird(request)
    }
    const compactor = await Compactor.start(garden(), { host, strategy, triggers: { tokens: 1_100 }, targetShare: 0.9 })
    const step = isSync ? compactor.stepSync() : await compactor.step()
    assert.equal(step.isCompacted, true)
    assert.equal(step.receipts[0].strategy, 'strategy')
    assert.match(seen[0], /^Compactor: compacting, Strategy strategy/)
    assert.equal(compactor.history.length, garden().length)
  }
  const compactor = await Compactor.start(garden(), { host, strategy: 'native:digest', triggers: { tokens: 1_000 } })
  // Steps at once take turns, in any order: of those that are not too late, one has something to do.
  const steps = await Promise.all([compactor.step(), compactor.step(), compactor.overflow()])
  const due = (pressure) => steps.filter((step) => step.pressure === pressure).length
  assert.equal(due('overflow'), 1)
  assert.ok(due('tokens') <= 1)
  assert.ok(compactor.tokens < 1_000)
})

test('what a log throws fails nothing', async () => {
  setLog(() => {
    throw new Error('the log is full')
  })
  try {
    const result = await compact(garden(), { host, strategy: () => [] })
    assert.equal(result.fellBack, true)
  } finally {
    setLog(null)
  }
})

test('hosts, strategies and functions live until calls have ended', async () => {
  const text = `
    import { Compactor, Host, Window, compact, introspect, setLog, shouldCompact } from 'baler'
    const state = ${JSON.stringify(state)}
    const host = new Host({ state })
    const messages = ${JSON.stringify(garden())}
    const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))
    const collect = globalThis.Bun ? () => Bun.gc(true) : globalThis.gc
    setInterval(collect, 1).unref()
    setLog((message) => { throw process.exitCode = 1, console.log(message) })
    const plan = () => async ({ units }) => {
      await sleep(60)
      return units.map((_, index) => index).filter((index) => index % 3 === 0 || units[index].traits.includes('protected'))
    }
    const asking = () => new Host({ state, model: async () => { await sleep(60); return ${JSON.stringify(SUMMARY)} } })
    const sizes = { triggers: { tokens: 1_100 }, targetShare: 0.9 }
    console.log((await compact(messages, { host, budget: '80%', strategy: plan() })).fellBack)
    console.log((await compact(messages, { host: asking(), strategy: 'native:summarize' })).fellBack)
    console.log(await shouldCompact(messages, { host, budget: 100, strategy: plan() }))
    console.log((await introspect(plan(), { host })).introspection.version)
    const compactor = await Compactor.start(messages, { host: asking(), strategy: 'native:summarize', ...sizes })
    await sleep(50)
    console.log((await compactor.step()).receipts[0].strategy)
    console.log((await (await Compactor.start(messages, { host, strategy: plan(), ...sizes })).step()).isCompacted)
    const window = new Window({ host: asking(), at: 1_000, strategy: 'native:summarize' })
    await sleep(50)
    console.log((await window.show('openai-chat', { messages })).tokens < 1_000)
    console.log((await new Window({ host, at: 1_200, budget: 1_000, strategy: plan() }).show('openai-chat', { messages })).tokens < 1_000)
  `
  const flags = isNode ? ['--expose-gc'] : 'Deno' in globalThis ? ['--v8-flags=--expose-gc'] : []
  const ended = await run(text, { options: flags })
  assert.deepEqual([ended.code, ended.stdout.split('\n')], [0, ['false', 'false', 'true', '0', 'native:summarize', 'true', 'true', 'true', '']], ended.stderr)
})

test('the package is required by CommonJS', async () => {
  const text = `
    const { Host, compactSync, version } = require('baler')
    console.log(version, compactSync([{ role: 'user', content: 'hi' }], { host: new Host({ state: null }) }).receipt.why)
  `
  const ended = await run(`
    import { execFileSync } from 'node:child_process'
    const argv = ${JSON.stringify('Deno' in globalThis ? ['eval', '--ext=cjs', text] : isNode ? ['--eval', text] : ['--eval', text])}
    process.stdout.write(execFileSync(process.execPath, argv, { cwd: ${JSON.stringify(folder)} }))
  `)
  assert.deepEqual([ended.code, ended.stdout], [0, '0.1.0 within-budget\n'], ended.stderr)
})
