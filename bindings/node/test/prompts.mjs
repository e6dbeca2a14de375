/** What the tests of the AI SDK and of Mastra have in common: finding them, and what a good prompt is. */

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { Host } from 'baler'
import { scratch } from './scratch.mjs'

/** Imports from the folder that `BALER_FRAMEWORKS` names; `undefined` if it is not there. */
export async function framework(name) {
  const folder = process.env.BALER_FRAMEWORKS
  if (!folder) return undefined
  try {
    return await import(pathToFileURL(createRequire(resolve(folder, 'x.js')).resolve(name)))
  } catch (error) {
    if (['MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'].includes(error.code)) return undefined
    throw error
  }
}

export const host = new Host({ state: scratch('prompts') })

export const TASK = 'Check the soil of all beds. Never water the cacti. 仙人掌には水をやらないで。'

export const measured = (bed) => `bed ${bed}: soil ${20 + (bed % 7)} %, light ${700 + bed} lx, by the north wall, moss and ivy, बगीचा`

/** What a provider counts of a prompt: more than twice as many tokens as baler. */
export const counted = (prompt) => Math.round(JSON.stringify(prompt).length / 2)

export const partsOf = (message) => (typeof message.content === 'string' ? [] : message.content)

export const resultsIn = (prompt) => prompt.flatMap(partsOf).filter(({ type }) => type === 'tool-result')

/** The bed that is measured next. */
export const nextBed = (prompt) => Math.max(-1, ...resultsIn(prompt).map(({ toolCallId }) => Number(toolCallId.split('-')[1]))) + 1

/** Every result has its call right before it, every call its result, and the user's first words are there. */
export function assertValid(prompt, task = TASK) {
  const said = prompt.filter(({ role }) => role === 'user').map((message) => JSON.stringify(message.content))
  assert.ok(said.some((text) => text.includes(task)), `the task is gone: ${JSON.stringify(prompt.slice(0, 3))}`)
  let open = new Set()
  for (const message of prompt) {
    if (message.role !== 'tool') assert.deepEqual([...open], [], 'calls without results')
    for (const part of partsOf(message)) {
      if (part.type === 'tool-call') open.add(part.toolCallId)
      if (part.type === 'tool-result') assert.ok(open.delete(part.toolCallId), `result without its call: ${part.toolCallId}`)
    }
    assert.notEqual(message.content.length, 0, 'an empty message')
  }
  assert.deepEqual([...open], [], 'calls without results')
}

/**
 * What was sent is valid, and each prompt begins with the one before, except after a compaction. `compactions`: the numbers of the
 * prompts that were the first behind one.
 */
export function assertStable(prompts, compactions) {
  for (const [index, prompt] of prompts.entries()) {
    assertValid(prompt)
    const before = prompts[index - 1]
    if (before === undefined || compactions.includes(index)) continue
    assert.deepEqual(prompt.slice(0, before.length), before, `prompt ${index} does not begin with the one before`)
  }
}

export const isSummary = (message) => message.role === 'user' && JSON.stringify(message.content).includes('baler:summary')

export const thinks = (message) => partsOf(message).some(({ type }) => type === 'reasoning')

/** Nobody changes what somebody else stores. */
export function frozen(value) {
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    Object.freeze(value)
    Object.values(value).forEach(frozen)
  }
  return value
}
