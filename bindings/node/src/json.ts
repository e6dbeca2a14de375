/**
 * Writes values as JSON.
 *
 * `JSON.stringify` writes what cannot be written as something else, or says that it cannot without the place. Here every
 * such value is an error that names its place, such as `messages[3].content`. What providers' clients leave out of a request
 * (members that are `undefined`) is left out, and `toJSON` is used where there is one.
 */

import { ConversationError } from './errors.js'

/** Levels of lists and objects; the reader has the same limit. */
const MAX_DEPTH = 120

/** The most characters of a text. The engine's own limit is about half a billion. */
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/u

type Wrong = (message: string, cause?: unknown) => Error

/** Returns a value as JSON text. `root` names the value in errors. */
export function toJson(value: unknown, root = '', wrong: Wrong = conversationError): string {
  return new Writer(root, wrong).write(value)
}

function conversationError(message: string, cause?: unknown): Error {
  return new ConversationError(message, cause === undefined ? {} : { cause })
}

class Writer {
  readonly #root: string
  readonly #wrong: Wrong
  readonly #place: (string | number)[] = []

  constructor(root: string, wrong: Wrong) {
    this.#root = root
    this.#wrong = wrong
  }

  write(value: unknown): string {
    const text = this.#value(value)
    if (text === undefined) throw this.#fault(`expected a value, found ${kind(value)}`)
    return text
  }

  /** Returns a value as JSON; `undefined` for what is left out of an object. */
  #value(value: unknown): string | undefined {
    switch (typeof value) {
      case 'string':
        return this.#text(value)
      case 'number':
        if (!Number.isFinite(value)) throw this.#fault(`${value} cannot be written as JSON; give a finite number or null`)
        return String(value === 0 ? 0 : value)
      case 'boolean':
        return value ? 'true' : 'false'
      case 'undefined':
        return undefined
      case 'object':
        return value === null ? 'null' : this.#object(value)
      case 'bigint':
        throw this.#fault('a BigInt cannot be written as JSON; give a number, or a text')
      default:
        throw this.#fault(`a ${typeof value} cannot be written as JSON; leave it out`)
    }
  }

  #text(text: string): string {
    const isWell = (text as { isWellFormed?: () => boolean }).isWellFormed
    if (isWell === undefined ? LONE_SURROGATE.test(text) : !isWell.call(text)) {
      throw this.#fault(
        'the text has a lone surrogate, which is half of a character and cannot be written as UTF-8; remove it, for ' +
          'example with `text.toWellFormed()`',
      )
    }
    return JSON.stringify(text)
  }

  #object(value: object): string {
    if (this.#place.length > MAX_DEPTH) {
      throw this.#fault(`lists and objects are nested more than ${MAX_DEPTH} deep, or contain themselves`)
    }
    if (Array.isArray(value)) return this.#list(value)
    const dump = this.#get(value, 'toJSON')
    if (typeof dump === 'function') {
      const dumped: unknown = this.#tried(() => (dump as () => unknown).call(value))
      if (typeof dumped !== 'object' || dumped === null) return this.write(dumped)
      // Its own `toJSON`, if it has one, is not called again.
      return Array.isArray(dumped) ? this.#list(dumped) : this.#members(dumped)
    }
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
      throw this.#fault(`expected text, found ${kind(value)}; give base64 as the provider takes it`)
    }
    if (value instanceof Map || value instanceof Set || value instanceof Promise) {
      const remedy = value instanceof Promise ? 'it lacks an `await`' : 'give an array or a plain object'
      throw this.#fault(`${kind(value)} cannot be written as JSON; ${remedy}`)
    }
    return this.#members(value)
  }

  #list(list: unknown[]): string {
    const items: string[] = []
    for (let index = 0; index < list.length; index += 1) {
      this.#place.push(index)
      const item = this.#value(this.#get(list, index))
      if (item === undefined) throw this.#fault('expected a value, found undefined; leave it out of the list')
      items.push(item)
      this.#place.pop()
    }
    return `[${items.join(',')}]`
  }

  #members(value: object): string {
    const members: string[] = []
    for (const key of this.#tried(() => Object.keys(value))) {
      this.#place.push(key)
      const member = this.#value(this.#get(value, key))
      if (member !== undefined) members.push(`${this.#text(key)}:${member}`)
      this.#place.pop()
    }
    return `{${members.join(',')}}`
  }

  #get(value: object, key: string | number): unknown {
    return this.#tried(() => (value as Record<string | number, unknown>)[key])
  }

  /** Runs code of the caller: a getter, a proxy or a `toJSON`. */
  #tried<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      throw this.#fault('the value cannot be read: it threw an error', error)
    }
  }

  #fault(message: string, cause?: unknown): Error {
    let place = this.#root
    for (const step of this.#place) {
      if (typeof step === 'number') place += `[${step}]`
      else place += (place === '' ? '' : '.') + shown(step)
    }
    return this.#wrong(place === '' ? message : `\`${place}\`: ${message}`, cause)
  }
}

/** Returns a key as it may be shown: it can be anything, of any length. */
function shown(key: string): string {
  return Array.from(key.slice(0, 60), (c) => (/[\p{L}\p{N}_\-.$ ]/u.test(c) ? c : '?')).join('')
}

/** Returns what a value is, for errors. */
export function kind(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value !== 'object') return typeof value
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name
  return typeof name === 'string' && name !== '' ? name : 'an object'
}
