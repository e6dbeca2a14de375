/** The compactor: one conversation over time. */

import { Running, Waiting, type CallOptions, type WaitOptions } from './calls.js'
import { MEMBERS, hostOf, read, readSync } from './conversation.js'
import type { Conversation } from './compact.js'
import { BalerError, checked } from './errors.js'
import type { Format, Host } from './host.js'
import { found, kind, toJson } from './json.js'
import { OF_CALLS, notAllowed, only, optionsJson } from './named.js'
import { NativeCompactor } from './native.js'
import { NAMES, type CompactorOptions } from './options.js'
import type { Receipt } from './compaction.js'
import { Strategy, chain, type AnyStrategy, type Chain } from './strategy.js'

/** What a step did. */
export interface Step {
  /** Whether the conversation became smaller. */
  readonly isCompacted: boolean
  /** Why a compaction was due, such as `window`; `null` if none was. */
  readonly pressure: string | null
  /** Whether one was due but not attempted, because the last attempt was futile and little has changed since. */
  readonly held: boolean
  /** The receipts of the compactions that ended in this step. */
  readonly receipts: readonly Receipt[]
}

/** Options of a compactor, and what it is made with. */
export type CompactorStart = CompactorOptions & {
  strategy?: AnyStrategy | readonly AnyStrategy[] | null
  host?: Host | null
  format?: Format
}

/**
 * Keeps one conversation of an agent within its model's window.
 *
 * Append what arrives, call `step` before each request to the model, and send `messages`. After an error of the provider that
 * the request is too long, call `overflow` and send again.
 */
export class Compactor {
  readonly #native: NativeCompactor
  readonly #format: string
  /** What it is made of. Held, since functions among that must live as long as the compactor. */
  readonly #parts: Parts
  /** Number of compactions that run. */
  #running = 0

  private constructor(native: NativeCompactor, format: string, parts: Parts) {
    this.#native = native
    this.#format = format
    this.#parts = parts
  }

  /** Starts with a conversation: messages or a request body, as `compact` takes them. */
  static async start(conversation: Conversation, options: CompactorStart = {}, call: CallOptions = {}): Promise<Compactor> {
    const parts = partsOf(options)
    const running = new Running(only(call, OF_CALLS))
    const { conversation: before } = await read(conversation, parts, running)
    const native: NativeCompactor = await running.run((...own) =>
      NativeCompactor.begin(parts.host.native, before, parts.chain.natives, parts.json, ...own),
    )
    return new Compactor(native, before.format, parts)
  }

  /** The same, blocking the thread. */
  static startSync(conversation: Conversation, options: CompactorStart = {}, call: WaitOptions = {}): Compactor {
    const parts = partsOf(options)
    const waiting = new Waiting(only(call, OF_CALLS))
    const { conversation: before } = readSync(conversation, parts, waiting)
    const native: NativeCompactor = waiting.run((...own) =>
      NativeCompactor.begin(parts.host.native, before, parts.chain.natives, parts.json, ...own),
    )
    return new Compactor(native, before.format, parts)
  }

  /** Continues from a text that `save` returned, with the same strategy and options. */
  static async resume(saved: string, options: Omit<CompactorStart, 'format'> = {}, call: CallOptions = {}): Promise<Compactor> {
    if (typeof saved !== 'string') throw new TypeError(`expected a text that \`save\` returned, found ${kind(saved)}`)
    const parts = partsOf(options)
    const native: NativeCompactor = await new Running(only(call, OF_CALLS)).run((...own) =>
      NativeCompactor.resume(parts.host.native, saved, parts.chain.natives, parts.json, ...own),
    )
    return new Compactor(native, (JSON.parse(saved) as { format: string }).format, parts)
  }

  /** Appends messages, such as an answer and the outputs of its calls. Those before the first that is not a message are appended. */
  append(...messages: readonly unknown[]): void {
    const json = messages.map((message, index) => toJson(message, `messages[${index}]`))
    checked(() => this.#idle.append(json))
  }

  /** Notes the tokens that the provider reported for its newest response, input and output together. */
  reported(tokens: number): void {
    if (!(Number.isInteger(tokens) && tokens >= 0 && tokens < 2 ** 32)) {
      throw new TypeError(`expected a number of tokens, found ${found(tokens)}`)
    }
    this.#idle.reported(tokens)
  }

  /** Compacts if a compaction is due. Call it before each request to the model, and await it before anything else. */
  step(call: CallOptions = {}): Promise<Step> {
    return this.#run('step', call)
  }

  /** Compacts after the provider refused the request as too long. Each call aims lower. */
  overflow(call: CallOptions = {}): Promise<Step> {
    return this.#run('overflow', call)
  }

  /** Compacts now. `instructions`: what to keep in mind, for strategies that ask a model. */
  compact(options: CallOptions & { instructions?: string } = {}): Promise<Step> {
    return this.#run('now', options)
  }

  /** `step`, blocking the thread. */
  stepSync(call: WaitOptions = {}): Step {
    return this.#wait('step', call)
  }

  /** `overflow`, blocking the thread. */
  overflowSync(call: WaitOptions = {}): Step {
    return this.#wait('overflow', call)
  }

  /** `compact`, blocking the thread. */
  compactSync(options: WaitOptions & { instructions?: string } = {}): Step {
    return this.#wait('now', options)
  }

  /** The request body to send, or the messages, if these were given. */
  get body(): unknown {
    return JSON.parse(this.#idle.document)
  }

  /** The messages to send. */
  // biome-ignore lint: their type is the provider's.
  get messages(): any[] {
    const body = this.body
    return (Array.isArray(body) ? body : (body as Record<string, unknown>)[MEMBERS[this.#format] ?? '']) as unknown[]
  }

  /** All messages that were ever appended, unchanged. */
  // biome-ignore lint: their type is the provider's.
  get history(): any[] {
    return this.#idle.history.map((message) => JSON.parse(message) as unknown)
  }

  /** Tokens of the next request. */
  get tokens(): number {
    return this.#idle.tokens
  }

  /** Number of compactions that changed the conversation. */
  get compactions(): number {
    return this.#idle.compactions
  }

  /** Returns all that `resume` needs, as a text to store. */
  save(): string {
    return checked(() => this.#idle.save())
  }

  toString(): string {
    const sizes = this.#running > 0 ? 'compacting' : `${this.tokens} tokens, ${this.compactions} compactions`
    return `Compactor: ${sizes}, ${this.#parts.chain.held.join(', ')}`
  }

  /** The native part. While it compacts, it would block the thread; and if that asks a function in this thread, for good. */
  get #idle(): NativeCompactor {
    if (this.#running === 0) return this.#native
    throw new BalerError('the compactor compacts: await `step`, `overflow` or `compact` before anything else')
  }

  async #run(why: string, options: CallOptions & { instructions?: string }): Promise<Step> {
    const wish = wishOf(why, options)
    const running = new Running(options)
    this.#running += 1
    try {
      return told(await running.run((...own) => this.#native.compact(why, wish, ...own)))
    } finally {
      this.#running -= 1
    }
  }

  #wait(why: string, options: CallOptions & { instructions?: string }): Step {
    const wish = wishOf(why, options)
    const waiting = new Waiting(options)
    const native = this.#idle
    this.#running += 1
    try {
      return told(waiting.run((...own) => native.compact(why, wish, ...own)))
    } finally {
      this.#running -= 1
    }
  }
}

function wishOf(why: string, options: { instructions?: string }): string | undefined {
  const { instructions } = only(options, why === 'now' ? [...OF_CALLS, 'instructions'] : OF_CALLS)
  if (instructions == null || typeof instructions === 'string') return instructions ?? undefined
  throw notAllowed('instructions', 'a text', instructions)
}

function told(json: string): Step {
  const step = JSON.parse(json) as Step & { 'is-compacted': boolean }
  return { isCompacted: step['is-compacted'], pressure: step.pressure, held: step.held, receipts: step.receipts }
}

/** What a compactor is made of. */
interface Parts {
  host: Host
  chain: Chain
  json: string
  format: Format | null
}

function partsOf(options: CompactorStart): Parts {
  const known = [...NAMES.CompactorOptions, 'strategy', 'host', 'format']
  const { strategy, host: given, format, preset, ...others } = only(options, known)
  const host = hostOf(given)
  let fallback: AnyStrategy = host.hasModel ? 'tiered-model' : 'tiered'
  let json = kebab(optionsJson('CompactorOptions', others))
  if (preset != null) {
    const setting = JSON.stringify({ preset, compactor: JSON.parse(json) as unknown })
    const read = JSON.parse(checked(() => NativeCompactor.setting(setting))) as { strategy: string; config: string; options: unknown }
    json = JSON.stringify(read.options)
    fallback = new Strategy(read.strategy, { config: JSON.parse(read.config) as Record<string, unknown> })
  }
  return { host, chain: chain(strategy ?? fallback, 'tiered'), json, format: format ?? null }
}

/** Returns options in the names that a compactor's settings have. */
function kebab(json: string): string {
  const named = Object.entries(JSON.parse(json) as Record<string, unknown>)
  const known = named.filter(([, value]) => value !== null)
  return JSON.stringify(Object.fromEntries(known.map(([name, value]) => [name.replaceAll('_', '-'), value])))
}
