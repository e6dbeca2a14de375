/** The page: takes a conversation, has up to three strategies compact it, and shows the results side by side. */

import { Host } from './baler/index.js'
import { drawn, el } from './view.js'
import { harbours, session } from './examples.js'
import { isWebAssembly, strategyOf } from './foreign.js'
import { messagesOf } from './words.js'

/** @typedef {import('./baler/index.js').Strategy} Strategy */
/** @typedef {{ name: string, text: string, told: any, messages: any[] }} Conversation */
/** @typedef {{ chosen: HTMLSelectElement, budget: HTMLInputElement, card: HTMLElement, run: number }} Slot */

const ASKS_A_MODEL = ['anchored', 'summarize', 'tiered-model']
const NONE = ''
const FORMATS = /** @type {Record<string, string>} */ ({
  anthropic: 'Anthropic Messages', 'openai-chat': 'OpenAI Chat Completions', 'openai-responses': 'OpenAI Responses', gemini: 'Gemini', 'bedrock-converse': 'Bedrock Converse',
})
const LARGEST = 100 * 1024 * 1024

/** @param {string} id */
const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id))

/** @type {Host} */
let host
/** @type {Conversation | undefined} */
let conversation
const slots = [1, 2, 3].map(slotOf)
/** Strategies by the value of their option. @type {Map<string, Strategy>} */
const known = new Map()
/** The host remembers one compaction for undo, so what belongs together takes turns. @type {Promise<unknown>} */
let turn = Promise.resolve()
let newest = 0

/** @param {string} text */
function say(text) {
  at('status').textContent = text
}

/** @param {unknown} [error] Nothing, if all is well. */
function fail(error) {
  const box = at('error')
  box.hidden = error === undefined
  box.textContent = error === undefined ? '' : String(/** @type {any} */ (error).message ?? error)
  if (error !== undefined) say('')
}

/**
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
function inTurn(work) {
  const made = turn.then(work, work)
  turn = made.catch(() => {})
  return made
}

/**
 * Reads and shows a conversation.
 * @param {string} name
 * @param {string} text
 */
async function open(name, text) {
  const began = performance.now()
  const mine = (newest += 1)
  say(`Reading ${name}…`)
  try {
    const read = await inTurn(() => understood(name, text))
    if (mine !== newest) return
    conversation = read
    fail()
    describe(read)
    await Promise.all(slots.map(compare))
    if (mine !== newest) return
    await painted()
    const took = performance.now() - began
    performance.measure('conversation', { start: began, end: began + took })
    say(`${name}: read, compacted and drawn in ${Math.round(took)} ms.`)
  } catch (error) {
    if (mine !== newest) return
    const shown = conversation === undefined ? '' : ' What is shown below is what was read before.'
    fail(`${name} cannot be read: ${/** @type {any} */ (error).message ?? error}.${shown}`)
  }
}

/**
 * @param {string} name
 * @param {string} text
 * @returns {Promise<Conversation>}
 */
async function understood(name, text) {
  const told = await host.read(text)
  const messages = messagesOf(parsed(text))
  if (messages !== undefined && messages.length === told.messageCount) return { name, text, told, messages }
  // It is a log, of which the host makes a request; within its budget that comes back as it is.
  const { document: body } = await host.compact(text, { budget: '100%', strategy: 'native:truncate' })
  return { name: `${name}, a session log`, text: body, told, messages: messagesOf(parsed(body)) ?? [] }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @param {Conversation} read */
function describe({ name, told }) {
  const { errors, warnings, violations } = told.validation
  at('format').textContent = `${FORMATS[told.format] ?? told.format}${name.endsWith('log') ? ' (of a session log)' : ''}`
  at('count').textContent = `${told.messageCount.toLocaleString('en')} in ${told.units.length.toLocaleString('en')} units`
  at('tokens').textContent = `${told.tokens.toLocaleString('en')}, ${told.overhead.toLocaleString('en')} of them overhead`
  at('tokens').title = 'Overhead: the system prompt and the tools, which always stay'
  at('rules').textContent = errors + warnings === 0 ? 'none is broken' : `${errors} ${errors === 1 ? 'error' : 'errors'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`
  at('violations').hidden = violations.length === 0
  const shown = violations.slice(0, 10).map((/** @type {any} */ one) =>
    el('li', {}, `${one.severity === 'error' ? 'Error' : 'Warning'} ${one.rule}, ${one.message === 0 ? 'the conversation' : `message ${one.message}`}: ${one.what}.${one.remedy ? ` To do: ${one.remedy}.` : ''}`))
  const more = errors + warnings - shown.length
  at('violations').replaceChildren(...shown, ...(more > 0 ? [el('li', {}, `and ${more} more`)] : []))
}

/**
 * Compacts the conversation with the strategy of a slot, and shows the result in its place.
 * @param {Slot} slot
 */
async function compare(slot) {
  const mine = (slot.run += 1)
  const strategy = known.get(slot.chosen.value)
  slot.card.hidden = strategy === undefined
  if (conversation === undefined || strategy === undefined) return
  const read = conversation
  const options = { budget: `${slot.budget.value}%`, strategy }
  slot.card.setAttribute('aria-busy', 'true')
  const began = performance.now()
  try {
    const result = await inTurn(() => host.compact(read.text, options))
    if (mine !== slot.run) return
    const took = performance.now() - began
    const undo = () => inTurn(async () => {
      await host.compact(read.text, options)
      return (await host.undo()) === read.text
    })
    const title = `${slot.chosen.selectedOptions[0].text}, ${slot.budget.value} %`
    slot.card.replaceChildren(...drawn({ title, result, read, took, undo }))
    performance.measure(`compact ${slot.chosen.value}`, { start: began, end: began + took })
  } catch (error) {
    if (mine === slot.run) slot.card.replaceChildren(el('h3', {}, slot.chosen.selectedOptions[0].text), el('p', { className: 'error' }, String(/** @type {any} */ (error).message)))
  } finally {
    if (mine === slot.run) slot.card.removeAttribute('aria-busy')
  }
}

/** @param {File} file */
async function take(file) {
  try {
    if (file.size > LARGEST) throw new Error(`${file.name} has ${(file.size / 1024 / 1024).toFixed(0)} MB; this page takes up to 100 MB. Use the command \`baler compact\` for it.`)
    const bytes = new Uint8Array(await file.arrayBuffer())
    if (isWebAssembly(bytes)) await addComponent(file.name, bytes)
    else if (/\.wasm$/i.test(file.name)) throw new Error(`${file.name} is not WebAssembly: its first bytes are other ones. Give a component as a compiler wrote it.`)
    else await open(file.name, decoded(file.name, bytes))
  } catch (error) {
    fail(error)
  }
}

/**
 * @param {string} name
 * @param {Uint8Array} bytes
 */
function decoded(name, bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Error(`${name} is not text in UTF-8. Give a request body as JSON, a session log, or a strategy as a .wasm component.`)
  }
}

/**
 * @param {string} file
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
async function addComponent(file, bytes) {
  say(`Transpiling ${file}…`)
  const strategy = await strategyOf(file, bytes)
  fail()
  const value = `${strategy.name} ${strategy.hash.slice(0, 8)}`
  if (!known.has(value)) for (const slot of slots) slot.chosen.append(el('option', { value }, `${strategy.name} (yours)`))
  known.set(value, strategy)
  // It takes the first free place, else the last one.
  const slot = slots.find(({ chosen }) => chosen.value === NONE) ?? slots[slots.length - 1]
  slot.chosen.value = value
  await compare(slot)
  say(`${file} is a strategy, and its result is below. SHA-256: ${strategy.hash.slice(0, 16)}…`)
}

/** @param {number} number */
function slotOf(number) {
  const chosen = /** @type {HTMLSelectElement} */ (at(`strategy-${number}`))
  const budget = /** @type {HTMLInputElement} */ (at(`budget-${number}`))
  const slot = { chosen, budget, card: at(`card-${number}`), run: 0 }
  const output = budget.nextElementSibling
  budget.addEventListener('input', () => output?.replaceChildren(`${budget.value} %`))
  for (const control of [chosen, budget]) control.addEventListener('change', () => compare(slot))
  return slot
}

/** @param {string} name */
function offer(name) {
  known.set(name, name)
  const asks = ASKS_A_MODEL.includes(name)
  for (const { chosen } of slots) {
    if ([...chosen.options].some(({ value }) => value === name)) continue
    chosen.append(el('option', { value: name, disabled: asks }, asks ? `${name} (asks a model)` : name))
  }
}

function painted() {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
}

function listen() {
  const file = /** @type {HTMLInputElement} */ (at('file'))
  const component = /** @type {HTMLInputElement} */ (at('component'))
  const text = /** @type {HTMLTextAreaElement} */ (at('text'))
  at('choose').addEventListener('click', () => file.click())
  at('choose-component').addEventListener('click', () => component.click())
  for (const input of [file, component]) {
    input.addEventListener('change', async () => {
      const [first] = input.files ?? []
      if (first !== undefined) await take(first)
      input.value = ''
    })
  }
  at('paste').addEventListener('click', () => {
    at('pasted').hidden = !at('pasted').hidden
    at('paste').setAttribute('aria-expanded', String(!at('pasted').hidden))
    if (!at('pasted').hidden) text.focus()
  })
  at('pasted').addEventListener('submit', (event) => {
    event.preventDefault()
    open('The pasted text', text.value)
  })
  at('example-request').addEventListener('click', () => open('The example', harbours()))
  at('example-log').addEventListener('click', () => open('The example', session()))
  document.addEventListener('paste', (event) => {
    if (event.target instanceof HTMLTextAreaElement) return
    const pasted = event.clipboardData?.getData('text/plain') ?? ''
    if (pasted !== '') open('The pasted text', pasted)
  })
  document.addEventListener('dragover', (event) => {
    event.preventDefault()
    at('drop').classList.add('over')
  })
  document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) at('drop').classList.remove('over')
  })
  document.addEventListener('drop', (event) => {
    event.preventDefault()
    at('drop').classList.remove('over')
    const [dropped] = event.dataTransfer?.files ?? []
    const moved = event.dataTransfer?.getData('text/plain') ?? ''
    if (dropped !== undefined) take(dropped)
    else if (moved !== '') open('The dropped text', moved)
    else fail('Nothing came with that: drop a file, or text.')
  })
}

try {
  host = await Host.load()
  for (const name of await host.strategies()) offer(name)
  listen()
  document.documentElement.dataset.ready = 'true'
  await open('The example', harbours())
} catch (error) {
  fail(`${/** @type {any} */ (error).message ?? error}. The host could not be loaded: serve this folder over HTTP, with the built package in its folder baler (bindings/browser/build.sh makes it).`)
}
