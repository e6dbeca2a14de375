/** Strategies by name, from files of anybody, and as functions; their configs and limits. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

import { BalerError, ConfigError, Host, OptionError, Strategy, StrategyError, compact, compactSync, introspect, strategies } from 'baler'

import { shippedComponent } from '../dist/native.js'
import { program } from '../dist/program.js'
import { endless } from './endless.mjs'
import { attempts, bug, everyThird, folder, garden, host, isNode, running, state, warningsOf } from './support.mjs'
import { scratch } from './scratch.mjs'

const files = scratch('strategies')

/** Writes a file, as if somebody had sent it. */
function written(name, content) {
  const path = join(files, name)
  writeFileSync(path, content)
  return path
}

const mine = written('mine.wasm', shippedComponent('sliding-window'))

test('each strategy that ships compacts, but for those that ask a model', async () => {
  const needModel = ['summarize', 'anchored', 'tiered-model', 'native:summarize']
  for (const name of strategies()) {
    const running = compact(bug(), { host, strategy: name, budget: '40%', required: true })
    if (needModel.includes(name)) await assert.rejects(running, (error) => error instanceof StrategyError && /the host has none: give one/.test(error.message), name)
    else assert.equal((await running).isCompacted, true, name)
  }
})

test('a file of anybody is loaded by its path, its URL, or its bytes', async () => {
  const bytes = shippedComponent('sliding-window')
  for (const strategy of [mine, pathToFileURL(mine), Strategy.load(mine), Strategy.load(pathToFileURL(mine)), Strategy.component('mine', bytes), Strategy.component('mine', new Uint8Array(bytes))]) {
    assert.deepEqual(attempts(await compact(bug(), { host, strategy })), [['mine', 'accepted']])
  }
  assert.deepEqual(attempts(compactSync(bug(), { host, strategy: mine })), [['mine', 'accepted']])
  const spaced = written('mine — 鉢 %41.wasm', bytes)
  assert.equal(Strategy.load(pathToFileURL(spaced)).name, 'mine — 鉢 %41')
  const named = Strategy.load(mine, { name: 'theirs' })
  assert.equal(`${named}`, 'Strategy theirs')
  assert.deepEqual(attempts(await compact(bug(), { host, strategy: named })), [['theirs', 'accepted']])
})

test('bytes of a component may be overwritten as soon as it was taken', async () => {
  const bytes = Uint8Array.from(shippedComponent('sliding-window'))
  const strategy = Strategy.component('mine', bytes)
  bytes.fill(0)
  assert.deepEqual(attempts(await compact(bug(), { host, strategy })), [['mine', 'accepted']])
})

test('a config is checked against the schema, and used', async () => {
  const after = async (units) => (await compact(bug(), { host, strategy: Strategy.load(mine, { config: { keep: { units } } }) })).receipt.tokens.after
  assert.ok((await after(2)) < (await after(12)))
  for (const config of [{ keep: 'many' }, { kept: 1 }, 5, 'keep', [1]]) {
    for (const strategy of [Strategy.load(mine, { config }), new Strategy('sliding-window', { config })]) {
      await assert.rejects(compact(bug(), { host, strategy }), (error) => {
        assert.ok(error instanceof ConfigError && error instanceof StrategyError && error instanceof BalerError, `${error}`)
        assert.match(error.message, /config of `(mine|sliding-window)`/)
        return true
      })
    }
  }
})

test('a file that is not a strategy is a StrategyError, at once or when it is used', async () => {
  const cases = [
    ['/nowhere.wasm', /cannot read the strategy/],
    [files, /is not a file/],
    [written('text.wasm', 'hello'), /not WebAssembly/],
    [written('empty.wasm', ''), /the file is empty/],
    [written('module.wasm', Buffer.from('\0asm\x01\0\0\0', 'latin1')), /core WebAssembly module/],
    [written('cut.wasm', shippedComponent('trim').subarray(0, 20_000)), /./],
    [written('noise.wasm', Buffer.concat([shippedComponent('trim').subarray(0, 8), createHash('sha512').update('').digest()])), /./],
    ['tierd', /no strategy is called `tierd`; known: tiered.*Strategy\.load/],
  ]
  for (const [strategy, message] of cases) {
    const use = async () => compact(bug(), { host, strategy: strategy === files ? Strategy.load(files) : strategy })
    await assert.rejects(use, (error) => {
      assert.ok(error instanceof StrategyError, `${strategy}: ${error}`)
      assert.match(error.message, message)
      return true
    })
  }
})

test('limits of fuel, time and memory hold, and the next strategy runs', async () => {
  const file = written('hungry.wasm', shippedComponent('sliding-window'))
  for (const [limits, fault] of [[{ fuel: 10 }, 'out-of-fuel'], [{ memory: 1 }, 'memory']]) {
    let result
    const warnings = await warningsOf(async () => {
      result = await compact(bug(), { host, strategy: [Strategy.load(file, limits), 'native:truncate'] })
    })
    assert.deepEqual(attempts(result), [['hungry', fault], ['native:truncate', 'accepted']])
    assert.equal(result.fellBack, true)
    assert.match(warnings[0], new RegExp(`the strategy \`hungry\` failed .*${fault}.*, so the next one was asked`))
  }
})

test('a component that never ends is stopped by its fuel or its time', async () => {
  const file = written('endless.wasm', endless(shippedComponent('sliding-window')))
  for (const isSync of [false, true]) {
    for (const [limits, fault] of [[{ timeout: 0.5 }, 'timeout'], [{ fuel: 1e7 }, 'out-of-fuel'], [{}, /timeout|out-of-fuel/]]) {
      const strategy = [Strategy.load(file, limits), 'native:digest']
      // A host asks a component no more that faulted too often.
      const fresh = new Host({ state })
      const began = performance.now()
      let result
      await warningsOf(async () => {
        result = isSync ? compactSync(bug(), { host: fresh, strategy }) : await compact(bug(), { host: fresh, strategy })
      })
      assert.ok(performance.now() - began < 20_000)
      assert.match(attempts(result)[0][1], new RegExp(fault))
      assert.deepEqual(attempts(result)[1], ['native:digest', 'accepted'])
    }
  }
})

test('a component that never ends is stopped by a signal, while the event loop goes on', async () => {
  const strategy = Strategy.component('endless-too', endless(shippedComponent('sliding-window')), { timeout: 30 })
  let ticks = 0
  const clock = setInterval(() => (ticks += 1), 10).unref()
  const fresh = new Host({ state })
  await compact(bug(), { host: fresh, strategy, timeout: 0.5 })
  const began = performance.now()
  await assert.rejects(compact(bug(), { host: fresh, strategy, signal: AbortSignal.timeout(1_500) }), { name: 'TimeoutError' })
  clearInterval(clock)
  assert.ok(performance.now() - began < 10_000)
  assert.ok(ticks > 40, `${ticks} ticks`)
})

test('a component that faults too often is asked no more', async () => {
  const strategy = Strategy.component('endless-again', endless(shippedComponent('sliding-window')), { fuel: 1e6 })
  const fresh = new Host({ state })
  const faults = []
  await warningsOf(async () => {
    for (let n = 0; n < 6; n += 1) faults.push(attempts(await compact(bug(), { host: fresh, strategy }))[0][1])
  })
  assert.equal(faults[0], 'out-of-fuel')
  assert.equal(faults.at(-1), 'quarantined')
})

test('a strategy of anybody asks a model only if it may', async () => {
  const file = written('asks.wasm', shippedComponent('summarize'))
  const asked = []
  const summary = 'Many brackets have to parse; src/parser.rs counts their depth now. 終'
  const own = new Host({ state, model: (request) => (asked.push(request), summary) })
  await assert.rejects(compact(bug(), { host: own, strategy: file }), (error) => error instanceof StrategyError && /mayAskModel: true/.test(error.message))
  assert.equal(asked.length, 0)
  const trusted = Strategy.load(file, { mayAskModel: true })
  const result = await compact(bug(), { host: own, strategy: trusted })
  assert.deepEqual(attempts(result), [['asks', 'accepted']])
  assert.ok(asked.length > 0 && JSON.stringify(result.messages).includes('終'))
  await assert.rejects(compact(bug(), { host, strategy: trusted }), /the host has none: give one, such as `new Host\(/)
})

test('a list of strategies is asked in order, whatever their form', async () => {
  const wrong = Strategy.of(() => [], { name: 'wrong' })
  let result
  await warningsOf(async () => {
    result = await compact(garden(), { host, budget: '80%', strategy: [wrong, () => { throw new Error('no') }, Strategy.load(mine, { fuel: 10 }), everyThird] })
  })
  assert.deepEqual(attempts(result), [['wrong', 'invalid-plan'], ['function', 'output-malformed'], ['mine', 'out-of-fuel'], ['everyThird', 'accepted']])
})

test('a function inserts texts and pieces', async () => {
  const plan = ({ units }) => {
    const newest = units.length - 8
    const keep = units.map((_, index) => index).filter((index) => units[index].traits.includes('protected') || index >= newest)
    return [keep[0], 'Die älteren Beete sind erledigt. 完', { keep: { first: keep[1], count: 1 } }, ...keep.slice(2)]
  }
  const result = await compact(garden(), { host, budget: '90%', strategy: plan })
  assert.deepEqual(attempts(result), [['plan', 'accepted']])
  const inserted = result.changes.findIndex(({ kind }) => kind === 'inserted')
  assert.ok(inserted >= 0)
  assert.match(JSON.stringify(result.messages[inserted]), /Die älteren Beete sind erledigt. 完/)
})

test('a function is given the request as it is documented', async () => {
  let seen
  const result = await compact(bug(), {
    host,
    strategy: (request) => {
      seen = request
      return null
    },
    context: { season: 'spring' },
    contextWindow: 200_000,
  })
  assert.equal(result.receipt.why, 'strategy-declined')
  assert.equal(seen.format, 'openai-chat')
  assert.deepEqual(seen.conversation, bug())
  assert.equal(seen.units.length, result.units.length)
  assert.ok(seen.units.every(({ kind, traits, tokens }) => typeof kind === 'string' && Array.isArray(traits) && tokens > 0))
  assert.equal(seen.situation.budget, result.receipt.tokens.budget)
})

test('a strategy is described, with its permissions', async () => {
  const asks = written('asks-too.wasm', shippedComponent('summarize'))
  const { introspection, component } = await introspect(Strategy.load(mine), { host })
  assert.equal(introspection.name, 'sliding-window')
  assert.equal(component.bytes, shippedComponent('sliding-window').length)
  assert.equal(component['content-hash'], `sha256:${createHash('sha256').update(shippedComponent('sliding-window')).digest('hex')}`)
  assert.ok(component.permissions.includes('conversation') && !component.permissions.includes('model'))
  const own = new Host({ state, model: () => 'x' })
  assert.ok((await introspect(Strategy.load(asks, { mayAskModel: true }), { host: own })).component.permissions.includes('model'))
  await assert.rejects(introspect('native:digest', { host }), StrategyError)
})

test('another file with the name of a strategy that ships keeps its ending', () => {
  assert.equal(Strategy.load(written('tiered.wasm', shippedComponent('trim'))).name, 'tiered.wasm')
  assert.equal(Strategy.load(written('tiered.wasm', shippedComponent('tiered'))).name, 'tiered')
})

test('a host takes a list of strategies, of exactly these files', async () => {
  const component = shippedComponent('sliding-window')
  written('listed.wasm', component)
  const digest = createHash('sha256').update(component).digest('hex')
  const project = written('baler.toml', `[strategies.listed]\nsource = { path = "listed.wasm" }\ndigest = "sha256:${digest}"\nconfig = { keep = { units = 3 } }\n`)
  for (const path of [project, pathToFileURL(project)]) {
    const own = new Host({ state, project: path })
    assert.deepEqual(attempts(await compact(bug(), { host: own, strategy: 'listed' })), [['listed', 'accepted']])
  }
  written('listed.wasm', Buffer.concat([component, Buffer.from([0])]))
  await assert.rejects(compact(bug(), { host: new Host({ state, project }), strategy: 'listed' }), (error) => error instanceof StrategyError && error.message.includes(digest))
  const reserved = written('reserved.toml', '[strategies.Tiered]\nsource = { path = "listed.wasm" }\n')
  assert.throws(() => new Host({ state, project: reserved }), (error) => error instanceof OptionError && /reserved/.test(error.message))
})

test('a component is compiled again where nothing is stored', { skip: program() === undefined && 'the program is not built here' }, async () => {
  const fresh = new Host({ state: null })
  assert.deepEqual(attempts(await compact(bug(), { host: fresh, strategy: mine })), [['mine', 'accepted']])
})

test('this runtime compiles where the program is missing', () => {
  const argv = running(join(folder, 'dist/compile.js'), 'baler-compile-component')
  const env = { BALER_CHILD_LIMITS: '{"compile-memory":2147483648}' }
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { env, input: shippedComponent('trim'), maxBuffer: 2 ** 26 })
  assert.equal(status, 0, stderr.toString().slice(0, 400))
  assert.ok(stdout.length > 100_000)
})
