/** The host in WebAssembly: reads, checks, applies and writes. It blocks its thread, so it belongs into a worker. */

import { BalerError } from './errors.js'
import { wasi } from './wasi.js'

/**
 * A question of a compaction to one of its components.
 * @typedef {{ component: number, operation: 'introspect' | 'should-compact' | 'compact', config: string, situation: string | null }} Question
 */

/**
 * The answer of a component as JSON; `null` says that it trapped.
 * @typedef {(question: Question, core: Core) => string | null | Promise<string | null>} Ask
 */

const OPTIONS = 0
const DOCUMENT = 1

/** The host. One compaction at a time. */
export class Core {
  /** @type {any} */
  #exports

  /** @param {WebAssembly.Exports} exports */
  constructor(exports) {
    this.#exports = exports
  }

  /**
   * Makes a host of the module `baler.wasm`.
   * @param {WebAssembly.Module} module
   */
  static async of(module) {
    /** @type {WebAssembly.Memory | undefined} */
    let memory
    const instance = await WebAssembly.instantiate(module, wasi(module, () => /** @type {WebAssembly.Memory} */ (memory)))
    memory = /** @type {WebAssembly.Memory} */ (instance.exports.memory)
    return new Core(instance.exports)
  }

  /**
   * Reads a conversation: its format, tokens, units, and the rules that it breaks.
   * @param {Uint8Array | string} document
   * @param {{ format?: string, used?: number, tokenizer?: string }} [options]
   */
  read(document, options = {}) {
    this.#write(OPTIONS, JSON.stringify(options))
    this.#write(DOCUMENT, document)
    this.#exports.read()
    return this.#made()
  }

  /**
   * Compacts a conversation. `chain`: names of native strategies, and components.
   * @param {Uint8Array | string} document
   * @param {{ options?: object, format?: string, used?: number, tokenizer?: string, chain: (string | { name: string, hash: string, config?: string, writesDigests?: boolean })[] }} how
   * @param {Ask} ask
   */
  async compact(document, how, ask) {
    this.#write(OPTIONS, JSON.stringify(how))
    this.#write(DOCUMENT, document)
    this.#exports.start()
    let event = this.#made()
    while (event.event === 'question') {
      const answer = await ask(event, this)
      this.#write(DOCUMENT, answer ?? '')
      this.#exports.answer(answer === null ? 1 : 0)
      event = this.#made()
    }
    return { ...event, document: this.#read(DOCUMENT) }
  }

  /** Restores the document before the last compaction. */
  undo() {
    this.#exports.undo()
    this.#made()
    return this.#read(DOCUMENT)
  }

  /** For a component that is asked: what its `history.units` returns. */
  units() {
    return this.#history(0, 0, 0)
  }

  /**
   * @param {number} first
   * @param {number} count
   */
  messages(first, count) {
    return this.#history(1, first, count)
  }

  /** @param {number} unit */
  reference(unit) {
    return this.#exports.history(2, unit, 0) === 0 ? undefined : this.#read(DOCUMENT)
  }

  tools() {
    return this.#history(3, 0, 0)
  }

  /** @param {string} text */
  count(text) {
    this.#write(DOCUMENT, text)
    return this.#exports.count()
  }

  /**
   * @param {number} question
   * @param {number} first
   * @param {number} count
   */
  #history(question, first, count) {
    this.#exports.history(question, first, count)
    return JSON.parse(this.#read(DOCUMENT))
  }

  #made() {
    const { made, error } = JSON.parse(this.#read(OPTIONS))
    if (error !== undefined) {
      const { kind, option, message } = error
      throw new BalerError(kind, option === null ? message : `\`${option}\`: ${message}`, option)
    }
    return made
  }

  /**
   * @param {number} slot
   * @param {Uint8Array | string} content
   */
  #write(slot, content) {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
    const at = this.#exports.reserve(slot, bytes.length)
    new Uint8Array(this.#exports.memory.buffer, at, bytes.length).set(bytes)
  }

  /** @param {number} slot */
  #read(slot) {
    const at = this.#exports.made(slot)
    return new TextDecoder().decode(new Uint8Array(this.#exports.memory.buffer, at, this.#exports.made_length(slot)))
  }
}
