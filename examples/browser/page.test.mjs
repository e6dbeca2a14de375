/** Opens the page in Chromium and uses it. Skipped without Chromium (`CHROMIUM`, or `/usr/bin/chromium`) or `playwright-core`. */

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { extname, join, normalize } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
/** A strategy's component: `COMPONENT`, the path of one. */
const { COMPONENT } = process.env
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.wasm': 'application/wasm' }
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']

const chromium = installed()
const skip = chromium === undefined ? 'playwright-core is not installed' : !existsSync(CHROMIUM) ? `there is no ${CHROMIUM}` : false

let server, browser, page, origin
/** What must not be. @type {string[]} */
let wrong

before(async () => {
  if (skip) return
  server = createServer(async ({ url }, answer) => {
    const path = normalize(decodeURIComponent(new URL(url, 'http://page').pathname))
    const file = join(FOLDER, path === '/' ? 'index.html' : path)
    try {
      const content = await readFile(file)
      answer.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' }).end(content)
    } catch {
      answer.writeHead(404).end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${server.address().port}`
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS })
})

beforeEach(async () => {
  if (skip) return
  await page?.close()
  wrong = []
  page = await browser.newPage()
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()))
  page.on('pageerror', (error) => wrong.push(error.message))
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (!['blob:', 'data:'].includes(url.protocol) && url.origin !== origin) wrong.push(`a request to ${url.origin}`)
    if (request.method() !== 'GET') wrong.push(`a ${request.method()} request`)
  })
  await page.goto(origin)
  await status(/The example: read, compacted and drawn/)
})

after(async () => {
  await browser?.close()
  server?.close()
})

test('two strategies stand side by side, and what was removed can be read', { skip }, async () => {
  await page.click('#example-request')
  await status(/drawn/)
  assert.match(await page.textContent('#format'), /Anthropic Messages/)
  assert.equal(await page.locator('.card:visible').count(), 2)
  const [digest, window] = [page.locator('#card-1'), page.locator('#card-2')]
  assert.match(await digest.locator('h3').textContent(), /native:digest, 50 %/)
  // The oldest step goes: the window says it nowhere else.
  assert.match(await window.getByRole('region', { name: 'What was removed' }).textContent(), /Looking at Πειραιάς/)
  assert.equal(await window.locator('.is-inserted').count(), 0)
  assert.match(await digest.locator('.is-inserted').first().textContent(), /baler:summary/)
  const units = Number((await page.textContent('#count')).match(/in (\d+) units/)[1])
  assert.equal(await window.locator('.strip button').count(), units)
  const [, after, before, budget] = (await window.locator('.bar').getAttribute('aria-label')).match(/(\d+)\D+(\d+)\D+(\d+)/).map(Number)
  assert.ok(after <= budget && budget < before)
  assert.deepEqual(wrong, [])
})

test('a smaller budget makes a smaller request, and undo restores the original', { skip }, async () => {
  const card = page.locator('#card-2')
  const [before] = await sizes(card)
  await page.locator('#budget-2').fill('20')
  await card.getByRole('heading', { name: 'sliding-window, 20 %' }).waitFor()
  assert.ok((await sizes(card))[0] < before)
  await card.getByRole('button', { name: 'Undo' }).click()
  await card.getByText(/byte for byte: [\d,]+ bytes/).waitFor()
  assert.deepEqual(wrong, [])
})

test('what is downloaded is the request that would be sent', { skip }, async () => {
  const card = page.locator('#card-2')
  const [download] = await Promise.all([page.waitForEvent('download'), card.getByRole('button', { name: 'Download it' }).click()])
  const { messages } = JSON.parse(await readFile(await download.path(), 'utf8'))
  assert.match(await card.locator('summary').first().textContent(), new RegExp(`To be sent: ${messages.length} messages`))
  assert.deepEqual(wrong, [])
})

test('a session log is read as the request of its provider', { skip }, async () => {
  await page.click('#example-log')
  await page.getByText('of a session log').waitFor()
  await status(/drawn/)
  await page.locator('#card-2').getByRole('button', { name: 'Undo' }).click()
  await page.locator('#card-2').getByText(/byte for byte/).waitFor()
  assert.deepEqual(wrong, [])
})

test('a click on a block leads to what was removed', { skip }, async () => {
  await page.getByRole('button', { name: 'Example: a request' }).click()
  const block = page.locator('.strip .unit.removed').first()
  await block.waitFor()
  const [, unit] = /^Unit (\d+),/.exec(await block.getAttribute('aria-label'))
  await block.click()
  assert.equal(await page.evaluate(() => document.activeElement?.className), `unit-${unit}`)
  assert.match(await page.evaluate(() => document.activeElement?.textContent), new RegExp(`^Unit ${unit}, `))
})

test('the arrow keys go through the units', { skip }, async () => {
  await page.locator('#card-1 .strip button').first().focus()
  await page.keyboard.press('ArrowRight')
  assert.match(await page.textContent('#card-1 .told'), /^Unit 2, step, .*tokens, removed: thinking/)
  assert.deepEqual(wrong, [])
})

test('a foreign component becomes a strategy', { skip: skip || (COMPONENT === undefined ? '`COMPONENT` names no file' : false) }, async () => {
  await drop('my-own.wasm', await readFile(COMPONENT))
  await status(/my-own.wasm is a strategy/)
  const card = page.locator('#card-3')
  assert.match(await card.locator('h3').textContent(), /my-own \(yours\), 50 %/)
  await card.getByText('Attempts: 1').click()
  assert.match(await card.locator('.attempts p').textContent(), /my-own: accepted/)
  await card.getByRole('button', { name: 'Undo' }).click()
  await card.getByText(/byte for byte/).waitFor()
  assert.deepEqual(wrong, [])
})

for (const [name, content, expected] of [
  ['noise.bin', Buffer.from([0xff, 0xfe, 0, 0x80, 1]), /noise.bin is not text in UTF-8.*Give a request body/],
  ['empty.json', Buffer.alloc(0), /the document is empty; give a request body/],
  ['prose.txt', Buffer.from('dear diary'), /is not JSON.*give the whole body/],
  ['torn.jsonl', Buffer.from('{"type":"user","message":{"role":"us'), /is not JSON.*give the whole body/],
  ['core.wasm', Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]), /is a WebAssembly module, not a component.*Build it/],
  ['hollow.wasm', Buffer.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]), /is a component, but no strategy: it exports nothing/],
  ['broken.wasm', Buffer.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0, 0x55, 0x7f]), /broken.wasm cannot be transpiled: .*Give a component/],
]) {
  test(`${name} is refused in words`, { skip }, async () => {
    await drop(name, content)
    const alert = page.getByRole('alert')
    await alert.waitFor()
    assert.match(await alert.textContent(), expected)
    // What was there is still there.
    assert.equal(await page.locator('.card:visible').count(), 2)
    assert.deepEqual(wrong, [])
  })
}

/** @param {RegExp} expected */
async function status(expected) {
  await page.getByRole('status').filter({ hasText: expected }).first().waitFor()
}

async function sizes(card) {
  const text = await card.locator('.sizes').textContent()
  return text.replaceAll(',', '').match(/\d+/g).map(Number)
}

/**
 * @param {string} name
 * @param {Buffer} content
 */
async function drop(name, content) {
  const transfer = await page.evaluateHandle(([name, base64]) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name))
    return transfer
  }, [name, content.toString('base64')])
  await page.dispatchEvent('#drop', 'drop', { dataTransfer: transfer })
}

/** Of the folder in which the tests were started. */
function installed() {
  try {
    return createRequire(join(process.cwd(), 'package.json'))('playwright-core').chromium
  } catch {
    return undefined
  }
}
