/**
 * Writes values as JSON.
 *
 * `JSON.stringify` writes what cannot be written as something else, or says that it cannot without the place. Here every
 * such value is an error that names its place, such as `messages[3].content`. What providers' clients leave out of a request
 * (members that are `undefined`) is left out, and `toJSON` is used where there is one.
 */

import { types } from 'node:util'

import { ConversationError } from './errors.js'

/** Levels of lists and objects; the reader has the same limit. */
const MAX_DEPTH = 120

/** The most characters of a place in an error. */
const MAX_PLACE = 160

/** What is wrong with a text that has half of a character. */
const LONE_SURROGATE =
  'the text has a lone surrogate, which is half of a character and cannot be written as UTF-8; remove it, for example ' +
  'with `text.toWellFormed()`'

type Wrong = (message: string, cause?: unknown) => Error

/** Returns a value as JSON text. `root` names the value in errors. */
export function toJson(value: unknown, root = '', wrong: Wrong = conversationError): string {
  // Most values are plain, and the engine writes those many times faster.
  if (typeof value === 'object' && isPlain(value, 0)) {
    try {
      return JSON.stringify(value)
    } catch {
      // It is too long for one text, which the writer says.
    }
  }
  return new Writer(root, wrong).write(value)
}

/** Whether `JSON.stringify` writes a value as it is. A value that cannot be read is not: the writer says where. */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      return isWellFormed(value)
    case 'number':
      return Number.isFinite(value)
    case 'boolean':
      return true
    case 'object':
      break
    default:
      return false
  }
  if (value === null) return true
  if (depth > MAX_DEPTH) return false
  try {
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) if (!isPlain(value[index], depth + 1)) return false
      return true
    }
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return false
    for (const key of Object.keys(value)) {
      const member = (value as Record<string, unknown>)[key]
      // What is `undefined` is left out.
      if (member !== undefined && !isPlain(member, depth + 1)) return false
      if (key === 'toJSON' || !isWellFormed(key)) return false
    }
    return true
  } catch {
    return false
  }
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
    let text: string | undefined
    try {
      text = this.#value(value)
    } catch (error) {
      // No text has more than about half a billion characters.
      if (error instanceof RangeError) throw this.#fault('it is too long for one text; give its JSON as bytes', error)
      throw error
    }
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
    if (!isWellFormed(text)) throw this.#fault(LONE_SURROGATE)
    return JSON.stringify(text)
  }

  /** `isDumped`: the value is what a `toJSON` returned; its own, if it has one, is not called again. */
  #object(value: object, isDumped = false): string | undefined {
    if (this.#place.length > MAX_DEPTH) {
      throw this.#fault(`lists and objects are nested more than ${MAX_DEPTH} deep, or contain themselves`)
    }
    if (this.#tried(() => Array.isArray(value))) return this.#list(value as unknown[])
    if (this.#tried(() => isBytes(value) || value instanceof Blob)) {
      throw this.#fault(`expected text, found ${kind(value)}; give base64 as the provider takes it`)
    }
    const dump = isDumped ? undefined : this.#get(value, 'toJSON')
    if (typeof dump === 'function') {
      const dumped: unknown = this.#tried(() => (dump as () => unknown).call(value))
      return typeof dumped === 'object' && dumped !== null ? this.#object(dumped, true) : this.#value(dumped)
    }
    if (types.isBoxedPrimitive(value)) return this.#value(this.#tried(() => value.valueOf()))
    const remedy = this.#tried(() => remedyFor(value))
    if (remedy !== undefined) throw this.#fault(`${kind(value)} cannot be written as JSON; ${remedy}`)
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
      const given = this.#get(value, key)
      const member = key === 'toJSON' && typeof given === 'function' ? undefined : this.#value(given)
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
    if (place.length > MAX_PLACE) place = `${place.slice(0, MAX_PLACE / 2)}…${place.slice(-MAX_PLACE / 2)}`
    return this.#wrong(place === '' ? message : `\`${place}\`: ${message}`, cause)
  }
}

/** Returns a key as it may be shown: it can be anything, of any length. */
function shown(key: string): string {
  return Array.from(key.slice(0, 60), (c) => (/[\p{L}\p{N}_\-.$ ]/u.test(c) ? c : '?')).join('')
}

/** Returns what to give in place of what has no members that could be written; `undefined` for all other objects. */
function remedyFor(value: object): string | undefined {
  if (types.isPromise(value)) return 'it lacks an `await`'
  if (Symbol.iterator in value || Symbol.asyncIterator in value) return 'give an array, such as `[...items]`, or a plain object'
  return types.isNativeError(value) || types.isRegExp(value) ? 'give a text' : undefined
}

/** Checks a text that is written as JSON already. */
export function checkText(text: string): string {
  if (isWellFormed(text)) return text
  throw new ConversationError(LONE_SURROGATE)
}

function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed()
}

/** Whether a value is bytes in any form. */
export function isBytes(value: unknown): value is ArrayBufferLike | ArrayBufferView {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)
}

/** Returns what a value is, for errors. */
export function kind(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value !== 'object') return typeof value
  try {
    const name: unknown = Object.getPrototypeOf(value)?.constructor?.name
    if (typeof name === 'string' && name !== '') return shown(name)
  } catch {
    // A proxy may throw.
  }
  return 'an object'
}

/** Returns a value as errors show it: those that are short, and of others what they are. */
export function found(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80))
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kind(value)
}
