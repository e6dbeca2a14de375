/** What the README says is so. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import * as baler from 'baler'

import { folder, running } from './support.mjs'
import { scratch } from './scratch.mjs'

const readme = readFileSync(join(folder, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/```(\w*)\n(.*?)```/gs)].map(([, language, text]) => ({ language, text }))

/** A folder outside of the package, in which it is installed as `npm install ./bindings/node` does it. */
function fresh() {
  const made = scratch('readme')
  mkdirSync(join(made, 'node_modules'))
  symlinkSync(folder, join(made, 'node_modules/baler'), 'dir')
  writeFileSync(join(made, 'package.json'), '{"dependencies":{"baler":"*"}}')
  return made
}

/** Runs a program in a fresh folder. */
function ran(text) {
  const where = fresh()
  writeFileSync(join(where, 'garden.mjs'), text)
  const options = { cwd: where, timeout: 120_000 }
  return new Promise((resolve) => {
    execFile(process.execPath, running('garden.mjs'), options, (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }))
  })
}

test('its blocks are one shell command and three programs', () => {
  assert.deepEqual(blocks.map(({ language }) => language), ['sh', 'js', 'js', 'js'])
})

test('the first program runs by itself', async () => {
  const { code, stdout, stderr } = await ran(blocks[1].text)
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^Compaction: compacted, \d+ → \d+ tokens \{/)
  assert.match(stdout, /Never water the cacti\./)
})

test('all programs run, one after the other', async () => {
  const { code, stdout, stderr } = await ran(blocks.slice(1).map(({ text }) => text).join('\n'))
  assert.equal(code, 0, stderr)
  const [, strategy, restored, waited, refused] = stdout.trim().match(/(newest false)\n(\d+ 1001)\n(\d+ \d+)\n(true budget)$/) ?? []
  assert.ok(strategy && restored && waited && refused, stdout + stderr)
  assert.ok(Number(restored.split(' ')[0]) <= 8_000)
  assert.ok(Number(waited.split(' ')[0]) < 4_000 && Number(waited.split(' ')[1]) > 1)
  assert.equal(stderr, '')
})

test('its command names what there is', () => {
  const [build, install] = blocks[0].text.split('#')[0].trim().split(' && ')
  const checkout = join(folder, '../..')
  accessSync(join(checkout, build), constants.X_OK)
  assert.equal(join(checkout, install.replace('npm install ', '')), folder.replace(/\/$/, ''))
})

test('its pages exist, and so do their examples', (context) => {
  const pages = [...new Set([...readme.matchAll(/\]\((docs\/[\w-]+\.md)\)/g)].map(([, page]) => page))]
  assert.equal(pages.length, 7)
  const missing = pages.filter((page) => !existsSync(join(folder, page)))
  if (missing.length > 0) return context.skip(`not here: ${missing}`)
  for (const page of pages) {
    for (const [, example] of readFileSync(join(folder, page), 'utf8').matchAll(/\]\(\.\.\/(examples\/[\w-]+\.mjs)\)/g)) {
      assert.ok(existsSync(join(folder, example)), example)
    }
  }
})

test('what it names is exported', async () => {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  for (const [, adapter] of readme.matchAll(/`(baler\/\w+)`/g)) assert.ok(exports[adapter.replace('baler', '.')], adapter)
  for (const [, name] of readme.matchAll(/`(?:new |await )?(\w+)\(/g)) {
    if (!['require', 'result'].includes(name)) assert.ok(name in baler, name)
  }
})
