/** Draws the result of a compaction. */

import { partsOf, roleOf } from './words.js'

/** @typedef {import('./baler/index.js').Result} Result */
/** @typedef {{ told: any, messages: any[], text: string }} Conversation */
/** @typedef {{ title: string, result: Result, read: Conversation, took: number, undo: () => Promise<boolean> }} Compaction */

const WHY = /** @type {Record<string, string>} */ ({
  'within-budget': 'It is within its budget already. Choose a smaller budget.',
  'at-floor': 'All that is left must stay. Choose a larger budget.',
  'invalid-input': 'The conversation breaks a rule of its format, so it is left alone. The list above says what to repair.',
  'stored-by-provider': 'The request continues a conversation that the provider stored. Give one that holds all messages.',
  'provider-compacts': 'The request asks the provider to compact, and the provider needs all of it for that.',
  'strategy-declined': 'The strategy decided that nothing should be done.',
  'strategy-failed': 'The strategy reported a failure. Choose another one.',
  'no-progress': 'No strategy made it smaller within its limits. The attempts below say why.',
  'out-of-time': 'The time was over. Choose a faster strategy.',
})
/** As much of a list and of a text is drawn at once; the rest on demand. */
const ITEMS = 40
const LETTERS = 3_000
/** From so many units on, neighbours with the same outcome are one block. */
const BLOCKS = 2_000
/** Pixels that all blocks together have, if they would have more. */
const WIDTH = 2_400

/**
 * Makes an element. Children are text or nodes.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} members
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, members, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(members)) {
    if (name.includes('-') || name === 'role') made.setAttribute(name, String(value))
    else /** @type {any} */ (made)[name] = value
  }
  made.append(...children)
  return made
}

/**
 * @param {Compaction} compaction
 * @returns {HTMLElement[]}
 */
export function drawn({ title, result, read, took, undo }) {
  const { receipt } = result
  const removed = read.told.units.flatMap((/** @type {any} */ unit, /** @type {number} */ index) => (result.units[index] === 'removed' ? [{ ...unit, index }] : []))
  const { units } = receipt
  return [
    el('h3', {}, title),
    el('p', { className: 'sizes' }, el('strong', {}, number(receipt.tokens.after)), ` of ${number(receipt.tokens.before)} tokens`),
    bar(receipt.tokens),
    el('p', { className: 'note' }, state(result)),
    strip(result, read),
    folded(`To be sent: ${counted(result.messages.length, 'message')}`, sent(result, read), true),
    folded(`Removed: ${counted(removed.length, 'unit')}`, removed.length === 0 ? el('p', { className: 'note' }, units.rewritten > 0 ? 'None. What was cut from rewritten messages is with them.' : 'None.') : pieces(removed, (unit) => gone(unit, read), 'What was removed'), true),
    folded(`Attempts: ${receipt.attempts.length}`, attempts(receipt, took), receipt['fell-back']),
    actions(result, read, undo),
  ]
}

/** @param {Result} result */
function state({ receipt, isCompacted, ended }) {
  const { units, tokens, attempts: [first] } = receipt
  const other =
    ended !== null ? `The strategy was ended, because ${ended}; native:digest took its place. `
    : receipt['fell-back'] ? `${first.strategy} did not make this, but ${receipt.strategy}. Of ${first.strategy} the attempts say: ${verdict(first.result)}. `
    : ''
  if (!isCompacted) return `${other}Unchanged. ${WHY[receipt.why] ?? String(receipt.why)}`
  const over = tokens.after > tokens.budget ? ' More must stay than fits into the budget.' : ''
  return `${other}${units.kept} of ${counted(units.before, 'unit')} kept, ${units.rewritten} rewritten, ${units.removed} removed, ${units.inserted} inserted.${over}`
}

/** @param {{ before: number, after: number, budget: number }} tokens */
function bar({ before, after, budget }) {
  const share = (/** @type {number} */ part) => `${Math.min(100, (100 * part) / Math.max(1, before))}%`
  const fill = el('span', { className: 'fill' })
  const mark = el('span', { className: 'mark' })
  fill.style.width = share(after)
  mark.style.left = share(budget)
  return el('div', { className: 'bar', role: 'img', 'aria-label': `${after} tokens after, ${before} before; the budget is ${budget}`, title: `budget: ${number(budget)} tokens` }, fill, mark)
}

/**
 * A map of the conversation: a block for each unit, as wide as it is long. One stop of the tab key; arrows go through it.
 * @param {Result} result
 * @param {Conversation} read
 */
function strip(result, read) {
  const blocks = blocksOf(result, read)
  const scale = Math.min(0.8, WIDTH / blocks.reduce((sum, { tokens }) => sum + Math.sqrt(tokens), 1))
  const first = 'Point at a block, or go through them with the arrow keys. A click leads to what was removed.'
  const told = el('p', { className: 'told' }, first)
  const list = el('ol', { className: 'strip', 'aria-label': 'Units of the conversation' }, ...blocks.map(({ outcome, text, tokens }, index) => {
    const block = el('button', { type: 'button', className: `unit ${outcome}`, tabIndex: index === 0 ? 0 : -1, 'aria-label': text })
    block.style.width = `${Math.max(3, Math.min(44, Math.sqrt(tokens) * scale))}px`
    return el('li', {}, block)
  }))
  const show = (/** @type {Event} */ { target }) => {
    if (target instanceof HTMLButtonElement) told.textContent = target.getAttribute('aria-label')
  }
  list.addEventListener('pointerover', show)
  list.addEventListener('focusin', show)
  list.addEventListener('click', ({ target }) => {
    // To the text of a unit that was removed; Enter and space do it, too.
    const unit = target instanceof HTMLButtonElement && /^Unit (\d+),/.exec(target.getAttribute('aria-label') ?? '')
    const text = unit && list.closest('.map')?.parentElement?.querySelector(`.unit-${unit[1]}`)
    if (!(text instanceof HTMLElement)) return
    const around = text.closest('details')
    if (around !== null) around.open = true
    text.scrollIntoView({ block: 'center' })
    text.focus({ preventScroll: true })
  })
  list.addEventListener('keydown', (event) => {
    const all = /** @type {NodeListOf<HTMLButtonElement>} */ (list.querySelectorAll('button'))
    const here = Array.prototype.indexOf.call(all, event.target)
    const to = { ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1, Home: 0, End: all.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = all[Math.max(0, Math.min(all.length - 1, to))]
    all[here].tabIndex = -1
    next.tabIndex = 0
    next.focus()
  })
  return el('div', { className: 'map' }, list, told)
}

/**
 * @param {Result} result
 * @param {Conversation} read
 * @returns {{ outcome: string, tokens: number, text: string }[]}
 */
function blocksOf(result, { told, messages }) {
  /** Texts that were inserted, by the message of the original before which they stand. @type {Map<number, string[]>} */
  const inserted = new Map()
  let waiting = []
  for (const [kind, index, json] of [...result.messages, /** @type {const} */ (['kept', messages.length, null])]) {
    if (kind === 'inserted') waiting.push(beginning([JSON.parse(json ?? '{}')]))
    else if (waiting.length > 0) {
      inserted.set(Number(index), waiting)
      waiting = []
    }
  }
  const blocks = []
  const isMany = told.units.length > BLOCKS
  for (const [index, { kind, messages: [start, end], tokens }] of told.units.entries()) {
    for (let message = start; message < end; message += 1) {
      for (const text of inserted.get(message) ?? []) blocks.push({ outcome: 'inserted', tokens: 300, text: `inserted: ${text}` })
    }
    const outcome = result.units[index]
    const last = blocks.at(-1)
    if (isMany && last?.outcome === outcome) {
      last.tokens += tokens
      last.text = last.text.replace(/^(Units? \d+)[^,]*/, `$1 to ${index + 1}`)
    } else {
      blocks.push({ outcome, tokens, text: `Unit ${index + 1}, ${kind}, ${counted(tokens, 'token')}, ${outcome}: ${beginning(messages.slice(start, end))}` })
    }
  }
  for (const text of inserted.get(messages.length) ?? []) blocks.push({ outcome: 'inserted', tokens: 300, text: `inserted: ${text}` })
  return blocks
}

/** @param {any[]} messages */
function beginning(messages) {
  for (const message of messages) {
    for (const { label, text } of partsOf(message)) {
      if (text.trim() !== '') return `${label === '' ? '' : `${label}: `}${text.slice(0, 160).replace(/\s+/g, ' ').trim()}`
    }
  }
  return ''
}

/**
 * The messages as they would be sent: kept ones folded, others open.
 * @param {Result} result
 * @param {Conversation} read
 */
function sent(result, read) {
  /** @type {{ kind: string, first: number, last: number, json: string | null }[]} */
  const runs = []
  for (const [kind, index, json] of result.messages) {
    const last = runs.at(-1)
    if (kind === 'kept' && last?.kind === 'kept' && index === last.last + 1) last.last = Number(index)
    else runs.push({ kind, first: Number(index), last: Number(index), json })
  }
  return pieces(runs, ({ kind, first, last, json }) => {
    if (kind !== 'kept') {
      const now = message(JSON.parse(json ?? '{}'), kind === 'inserted' ? 'inserted' : `message ${first + 1}, changed`, kind)
      if (kind === 'changed') now.append(later('Before', () => message(read.messages[first], `message ${first + 1}, before`, 'before')))
      return now
    }
    const range = first === last ? `Message ${first + 1}` : `Messages ${first + 1} to ${last + 1}`
    return later(`${range}, kept`, () => pieces(read.messages.slice(first, last + 1), (one, at) => message(one, `message ${first + at + 1}, kept`, 'kept')))
  }, 'Messages to be sent')
}

/**
 * @param {{ index: number, kind: string, tokens: number, messages: [number, number] }} unit
 * @param {Conversation} read
 */
function gone({ index, kind, tokens, messages: [start, end] }, read) {
  const texts = read.messages.slice(start, end).map((one, at) => message(one, `message ${start + at + 1}`, 'removed'))
  return el('div', { className: `unit-${index + 1}`, tabIndex: -1 }, el('p', { className: 'note' }, `Unit ${index + 1}, ${kind}, ${counted(tokens, 'token')}`), ...texts)
}

/**
 * @param {any} one
 * @param {string} what
 * @param {string} kind
 */
function message(one, what, kind) {
  const parts = partsOf(one)
  const isLabelled = parts.some(({ label }) => label !== '')
  return el('div', { className: `message is-${kind}` }, el('p', { className: 'head' }, `${roleOf(one)}, ${what}`), ...parts.map(({ label, text }) =>
    el('div', { className: 'part' }, ...(isLabelled ? [el('span', { className: 'label' }, label || 'text')] : []), ...cut(text))))
}

/** @param {string} text */
function cut(text) {
  const shown = el('pre', { dir: 'auto' }, text.slice(0, LETTERS))
  if (text.length <= LETTERS) return [shown]
  const more = el('button', { type: 'button', className: 'link' }, `Show all ${number(text.length)} characters`)
  more.addEventListener('click', () => {
    shown.textContent = text
    more.remove()
  })
  return [shown, more]
}

/**
 * A list of which the first items are drawn, and more on demand.
 * @template T
 * @param {T[]} all
 * @param {(one: T, at: number) => Node} draw
 * @param {string} [label] If the list scrolls by itself.
 */
function pieces(all, draw, label) {
  const list = el('ol', { className: 'pieces' })
  const more = el('button', { type: 'button', className: 'link' })
  let shown = 0
  const grow = () => {
    list.append(...all.slice(shown, shown + ITEMS).map((one, at) => el('li', {}, draw(one, shown + at))))
    shown = Math.min(all.length, shown + ITEMS)
    more.hidden = shown === all.length
    more.textContent = `Show more (${number(all.length - shown)} left)`
  }
  more.addEventListener('click', grow)
  grow()
  const box = el('div', {}, list, more)
  if (label === undefined) return box
  for (const [name, value] of Object.entries({ role: 'region', 'aria-label': label, tabindex: '0', class: 'scroll' })) box.setAttribute(name, value)
  return box
}

/**
 * @param {string} summary
 * @param {Node} content
 * @param {boolean} isOpen
 */
function folded(summary, content, isOpen) {
  return el('details', { open: isOpen, className: 'folded' }, el('summary', {}, summary), content)
}

/**
 * What is drawn when it is opened first.
 * @param {string} summary
 * @param {() => Node} draw
 */
function later(summary, draw) {
  const made = el('details', { className: 'later' }, el('summary', {}, summary))
  made.addEventListener('toggle', () => made.append(draw()), { once: true })
  return made
}

/**
 * @param {any} receipt
 * @param {number} took
 */
function attempts(receipt, took) {
  const list = el('ol', { className: 'attempts' }, ...receipt.attempts.map((/** @type {any} */ attempt) => {
    const metrics = attempt.metrics.map((/** @type {any} */ { name, value }) => el('div', {}, el('dt', {}, name), el('dd', {}, String(value))))
    return el('li', {}, el('p', {}, `${attempt.strategy}: ${verdict(attempt.result)}, ${milliseconds(attempt.usage['time-us'])}`), el('dl', {}, ...metrics))
  }))
  return el('div', {}, list, el('p', { className: 'note' }, `The host took ${milliseconds(receipt['time-us'])}, with the way to the worker and back ${took.toFixed(1)} ms.`))
}

/** @param {any} result */
function verdict({ result, ...why }) {
  const rest = Object.values(why).flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : [one]))
  return [result, ...rest].map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(': ')
}

/**
 * @param {Result} result
 * @param {Conversation} read
 * @param {() => Promise<boolean>} undo
 */
function actions(result, read, undo) {
  const said = el('p', { className: 'said', role: 'status' })
  const button = (/** @type {string} */ text, /** @type {() => string | Promise<string>} */ act) => {
    const made = el('button', { type: 'button' }, text)
    made.addEventListener('click', async () => {
      try {
        said.textContent = await act()
      } catch (error) {
        said.textContent = `That did not work: ${/** @type {any} */ (error).message}`
      }
    })
    return made
  }
  const bytes = new Blob([read.text]).size
  const undone = button('Undo', async () => ((await undo()) ? `The original came back byte for byte: ${number(bytes)} bytes.` : 'What came back is not the original. Please report this.'))
  undone.disabled = !result.isCompacted
  return el('div', { className: 'actions' }, el('div', { className: 'buttons' },
    button('Copy the request', async () => {
      await navigator.clipboard.writeText(result.document)
      return 'Copied.'
    }),
    button('Download it', () => {
      const url = URL.createObjectURL(new Blob([result.document], { type: 'application/json' }))
      el('a', { href: url, download: 'compacted.json' }).click()
      setTimeout(() => URL.revokeObjectURL(url), 10_000)
      return 'Saved as compacted.json.'
    }),
    undone), said)
}

/** @param {number} micros */
function milliseconds(micros) {
  return `${(micros / 1_000).toFixed(1)} ms`
}

/** @param {number} value */
function number(value) {
  return value.toLocaleString('en')
}

/**
 * @param {number} count
 * @param {string} one
 */
function counted(count, one) {
  return `${number(count)} ${one}${count === 1 ? '' : 's'}`
}
