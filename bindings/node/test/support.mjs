/** A host of the tests' own, and conversations. */

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { Host, setLog } from 'baler'

/** A state folder that all tests share, so that each strategy is compiled once. */
export const state = join(tmpdir(), 'baler-node-tests')
mkdirSync(state, { recursive: true })
// For calls without a host.
process.env.BALER_STATE = state

export const host = new Host({ state })

/** The folder of the package, in which programs can import it. */
export const folder = fileURLToPath(new URL('..', import.meta.url))

const examples = fileURLToPath(new URL('../../../examples/conversations/', import.meta.url))

/** The texts of the example conversations, by the names of their files. */
export function conversations() {
  return Object.fromEntries(readdirSync(examples).map((name) => [name, readFileSync(join(examples, name), 'utf8')]))
}

/** The conversation of an agent that fixes a bug, in the form of OpenAI Chat Completions. */
export function bug() {
  return JSON.parse(readFileSync(join(examples, 'fix-a-bug.openai.json'), 'utf8'))
}

/** Messages about a garden, about 24 tokens for each bed. */
export function garden(beds = 60) {
  const messages = [{ role: 'user', content: 'Prüfe alle Beete. Never water the cacti. サボテンに水をやらないで。' }]
  for (let bed = 0; bed < beds; bed += 1) {
    messages.push({ role: 'assistant', content: `Bed ${bed} is next.` }, { role: 'user', content: `Bed ${bed}: soil 24 %, dry.` })
  }
  return messages
}

/** A plan that keeps what must stay and every third unit. */
export function everyThird({ units }) {
  return units.map((_, index) => index).filter((index) => index % 3 === 0 || units[index].traits.includes('protected'))
}

/** Returns the warnings that `work` leads to. */
export async function warningsOf(work) {
  const warnings = []
  setLog((message) => warnings.push(message))
  try {
    await work()
  } finally {
    setLog(null)
  }
  return warnings
}

/** The name of each strategy that was tried, and what came of it. */
export function attempts({ receipt }) {
  return receipt.attempts.map(({ strategy, result }) => [strategy, result.fault?.fault ?? result.result])
}

export function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** Whether what runs this is Node.js itself. */
export const isNode = !('Bun' in globalThis) && !('Deno' in globalThis)

/** The arguments with which this runtime runs a module. */
export function running(...options) {
  return 'Deno' in globalThis ? ['run', '--allow-all', ...options] : options
}

/** Runs a module, given as text, in a process of its own. */
export function run(text, { options = [], timeout = 60_000 } = {}) {
  let argv = [...options, '--input-type=module', '--eval', text]
  if ('Bun' in globalThis) argv = ['--eval', text]
  if ('Deno' in globalThis) argv = ['eval', '--ext=mjs', ...options, text]
  return new Promise((resolve) => {
    const began = performance.now()
    execFile(process.execPath, argv, { cwd: folder, timeout }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.signal ?? error.code), stdout, stderr, time: performance.now() - began })
    })
  })
}
