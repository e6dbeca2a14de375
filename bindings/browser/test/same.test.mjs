/**
 * The host of browsers makes the same requests as the host of servers, byte for byte, with every strategy that ships: over all
 * examples, and over a sample of recorded conversations where BALER_CORPUS names a folder of them.
 */

import assert from 'node:assert/strict'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Component } from '../dist/component.js'
import { Core } from '../dist/core.js'
import { Host, compact, setLog } from '../../node/dist/index.js'
import { scratch } from '../../node/test/scratch.mjs'

const DIST = new URL('../dist/', import.meta.url)
const EXAMPLES = fileURLToPath(new URL('../../../examples/conversations/', import.meta.url))
const MODEL = ['tiered-model', 'summarize', 'anchored']
const BUDGETS = ['50%', '15%']

// Strategies that decline are part of the comparison.
setLog(() => {})
const shipped = JSON.parse(readFileSync(new URL('strategies/index.json', DIST), 'utf8'))
const core = await Core.of(new WebAssembly.Module(readFileSync(new URL('baler.wasm', DIST))))
/** An account of what the model was asked to sum up, in its own words. */
const model = ({ prompt }) => `So far: ${prompt.replace(/\s+/g, ' ').slice(-600)}`
const state = scratch('same')
const host = new Host({ state, archive: 'memory', tokenizer: 'characters', model })

async function componentOf(name) {
  const folder = new URL(`strategies/${name}/`, DIST)
  const module = (path) => new WebAssembly.Module(readFileSync(new URL(path, folder)))
  return new Component(await import(new URL(`${name}.js`, folder)), module)
}

/** A seal is made with the secret key of its host. */
const unsealed = (text) => text.replace(/seal=\\"1\.[0-9a-f]{16}\\"/g, 'seal=')

function files(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? files(path) : /\.jsonl?$/.test(name) ? [path] : []
  })
}

/** Up to `most` files of at most 2 MB, evenly spread. */
function sample(folder, most) {
  const all = files(folder).filter((path) => statSync(path).size < 2e6).sort()
  const step = Math.max(1, Math.floor(all.length / most))
  return all.filter((_, index) => index % step === 0).slice(0, most)
}

const documents = [...files(EXAMPLES), ...(process.env.BALER_CORPUS ? sample(process.env.BALER_CORPUS, 30) : [])]

for (const strategy of ['native:digest', 'native:truncate', ...Object.keys(shipped)]) {
  test(`${strategy} makes the same request`, async () => {
    const component = strategy.startsWith('native:') ? undefined : await componentOf(strategy)
    const chain = [component === undefined ? strategy : { name: strategy, ...shipped[strategy] }]
    let compacted = 0
    for (const [index, path] of documents.entries()) {
      const document = readFileSync(path, 'utf8')
      for (const budget of BUDGETS) {
        let expected
        try {
          expected = await compact(document, { host, strategy, budget })
        } catch (error) {
          // What one host cannot read the other cannot either.
          await assert.rejects(core.compact(document, { chain }, () => null), { message: error.message })
          continue
        }
        const ask = (question, own) => component.ask(question, own, MODEL.includes(strategy) ? model : undefined)
        const made = await core.compact(document, { chain, tokenizer: 'characters', options: { budget } }, ask)
        const where = `document ${index}, ${budget}`
        assert.equal(made.isCompacted, expected.isCompacted, where)
        assert.ok(unsealed(made.document) === unsealed(expected.body), `${where}: other bytes`)
        assert.equal(made.receipt.strategy, expected.receipt.strategy, where)
        assert.deepEqual(made.receipt.tokens, expected.receipt.tokens, where)
        compacted += made.isCompacted ? 1 : 0
        if (made.isCompacted) assert.ok(core.undo() === expected.undoSync(), `${where}: undo`)
      }
    }
    assert.ok(compacted > 0, 'at least one conversation became smaller')
  })
}

test('a component that traps is replaced by the next strategy', async () => {
  const document = readFileSync(join(EXAMPLES, 'fix-a-bug.openai.json'), 'utf8')
  const chain = [{ name: 'broken', hash: '0'.repeat(64) }]
  const made = await core.compact(document, { chain, options: { budget: '30%' } }, () => null)
  assert.equal(made.receipt.strategy, 'native:digest')
  assert.deepEqual(made.receipt.attempts[0].result, { result: 'fault', fault: { fault: 'trap', trap: 'other' } })
})

test('a plan that drops what must stay is refused', async () => {
  const document = readFileSync(join(EXAMPLES, 'fix-a-bug.openai.json'), 'utf8')
  const ask = ({ operation }) => operation === 'introspect'
    ? JSON.stringify({ name: 'greedy', version: '1', description: 'Keeps nothing.' })
    : JSON.stringify({ outcome: { compacted: { pieces: [] } } })
  const chain = [{ name: 'greedy', hash: '1'.repeat(64) }]
  const made = await core.compact(document, { chain, options: { budget: '30%' } }, ask)
  assert.equal(made.receipt.attempts[0].result.fault.rule, 'drops-protected')
  assert.equal(made.receipt.strategy, 'native:digest')
})

test('an invalid conversation and an unknown option are errors in words', async () => {
  await assert.rejects(core.compact('{"messages":', { chain: ['native:digest'] }, () => null), { kind: 'ConversationError' })
  const options = { max_byte: 1 }
  await assert.rejects(core.compact('[]', { chain: ['native:digest'], options }, () => null), { name: /Error/ })
  await assert.rejects(core.compact('[{"role":"user","content":"Hi"}]', { chain: ['native:nettle'] }, () => null), {
    message: /no strategy of the host is called `native:nettle`; known: native:digest/,
  })
})
