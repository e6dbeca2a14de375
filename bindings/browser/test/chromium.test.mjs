/**
 * The same in a real browser: the package in a page, its worker, and strategies that jco transpiled. Skipped without Chromium
 * (`CHROMIUM`, or `/usr/bin/chromium`).
 */

import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { chromium } from 'playwright-core'

import { Host, compact, setLog } from '../../node/dist/index.js'
import { scratch } from '../../node/test/scratch.mjs'

const DIST = fileURLToPath(new URL('../dist/', import.meta.url))
const EXAMPLES = fileURLToPath(new URL('../../../examples/conversations/', import.meta.url))
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const skip = existsSync(CHROMIUM) ? false : `there is no ${CHROMIUM}`
const TYPES = { '.js': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm' }
const PAGE = '<!doctype html><meta charset="utf-8"><title>baler</title>'
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']

let server, browser, page

before(async () => {
  if (skip) return
  server = createServer(({ url }, answer) => {
    const path = normalize(new URL(url, 'http://page').pathname)
    if (path === '/') return answer.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
    const file = join(DIST, path)
    if (!existsSync(file)) return answer.writeHead(404).end()
    answer.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain' }).end(readFileSync(file))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  browser = await chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, '--disable-component-update', '--disable-sync'] })
  page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${server.address().port}/`)
  await page.evaluate(async () => {
    const { Host } = await import('/index.js')
    globalThis.host = await Host.load()
  })
})

after(async () => {
  await browser?.close()
  server?.close()
})

const unsealed = (text) => text.replace(/seal=\\"1\.[0-9a-f]{16}\\"/g, 'seal=')

test('a page makes the same requests as a server', { skip }, async () => {
  setLog(() => {})
  const model = ({ prompt }) => `So far: ${prompt.replace(/\s+/g, ' ').slice(-600)}`
  const host = new Host({ state: scratch('page'), archive: 'memory', tokenizer: 'characters', model })
  const strategies = await page.evaluate(() => globalThis.host.strategies())
  assert.equal(strategies.length, 10)
  let compacted = 0
  for (const name of readdirSync(EXAMPLES).filter((file) => /\.jsonl?$/.test(file))) {
    const document = readFileSync(join(EXAMPLES, name), 'utf8')
    for (const strategy of strategies) {
      const expected = await compact(document, { host, strategy, budget: '20%' })
      const made = await page.evaluate(
        async ([given, chosen]) => {
          const answer = ({ prompt }) => `So far: ${prompt.replace(/\s+/g, ' ').slice(-600)}`
          const options = { strategy: chosen, budget: '20%', tokenizer: 'characters', timeout: 60 }
          const result = await globalThis.host.compact(given, { ...options, ...(chosen.startsWith('native') ? {} : { model: answer }) })
          return { ...result, undone: result.isCompacted ? await globalThis.host.undo() : given }
        },
        [document, strategy],
      )
      assert.equal(made.ended, null, `${name}, ${strategy}`)
      assert.ok(unsealed(made.document) === unsealed(expected.body), `${name}, ${strategy}: other bytes`)
      if (made.isCompacted) assert.ok(made.undone === expected.undoSync(), `${name}, ${strategy}: undo`)
      compacted += made.isCompacted ? 1 : 0
    }
  }
  assert.ok(compacted > 20, `only ${compacted} became smaller`)
})

test('a strategy that never ends is ended, and another takes its place', { skip }, async () => {
  const document = readFileSync(join(EXAMPLES, 'fix-a-bug.openai.json'), 'utf8')
  const made = await page.evaluate(async (given) => {
    const endless = `export const instantiate = async () => ({ strategy: { compact: () => { for (;;); } } })`
    const module = URL.createObjectURL(new Blob([endless], { type: 'text/javascript' }))
    return globalThis.host.compact(given, { strategy: { name: 'endless', module, hash: '0'.repeat(64) }, budget: '30%', timeout: 0.5 })
  }, document)
  assert.equal(made.ended, 'it took longer than 0.5 s')
  assert.equal(made.receipt.strategy, 'native:digest')
  assert.ok(made.isCompacted)
})

test('errors are those of the package, in words', { skip }, async () => {
  const told = (given, options) =>
    page.evaluate(([one, two]) => globalThis.host.compact(one, two).catch(({ name, message }) => `${name}: ${message}`), [given, options])
  assert.match(await told('{"messages":', {}), /^ConversationError: /)
  assert.match(await told('[]', { strategy: 'nettle' }), /^StrategyError: no strategy is called `nettle`; known: native:digest/)
  assert.match(await told('[{"role":"user","content":"Hi"}]', { budget: 'much' }), /^OptionError: `budget`: expected a number of tokens/)
})
