/** The compactor: one conversation over time. */

import { Running, Waiting, type CallOptions } from './calls.js'
import { MEMBERS, hostOf, read, readSync } from './conversation.js'
import type { Conversation } from './compact.js'
import { checked } from './errors.js'
import type { Format, Host } from './host.js'
import { kind, toJson } from './json.js'
import { optionsJson } from './named.js'
import { NativeCompactor } from './native.js'
import type { CompactorOptions } from './options.js'
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
  /** Held, since functions among them must live as long as the compactor. */
  readonly #chain: Chain

  private constructor(native: NativeCompactor, format: string, strategies: Chain) {
    this.#native = native
    this.#format = format
    this.#chain = strategies
  }

  /** Starts with a conversation: messages or a request body, as `compact` takes them. */
  static async start(conversation: Conversation, options: CompactorStart = {}, call: CallOptions = {}): Promise<Compactor> {
    const { host, strategies, json, reading } = chosen(options)
    const running = new Running(call)
    const { conversation: before } = await read(conversation, reading, running)
    const native: NativeCompactor = await running.run((...own) =>
      NativeCompactor.begin(host.native, before, strategies.natives, json, ...own),
    )
    return new Compactor(native, before.format, strategies)
  }

  /** The same, blocking the thread. */
  static startSync(conversation: Conversation, options: CompactorStart = {}, call: CallOptions = {}): Compactor {
    const { host, strategies, json, reading } = chosen(options)
    const waiting = new Waiting(call)
    const { conversation: before } = readSync(conversation, reading, waiting)
    const native: NativeCompactor = waiting.run((...own) =>
      NativeCompactor.begin(host.native, before, strategies.natives, json, ...own),
    )
    return new Compactor(native, before.format, strategies)
  }

  /** Continues from a text that `save` returned, with the same strategy and options. */
  static async resume(saved: string, options: Omit<CompactorStart, 'format'> = {}, call: CallOptions = {}): Promise<Compactor> {
    if (typeof saved !== 'string') throw new TypeError(`expected a text that \`save\` returned, found ${kind(saved)}`)
    const { host, strategies, json } = chosen(options)
    const native: NativeCompactor = await new Running(call).run((...own) =>
      NativeCompactor.resume(host.native, saved, strategies.natives, json, ...own),
    )
    return new Compactor(native, (JSON.parse(saved) as { format: string }).format, strategies)
  }

  /** Appends messages, such as an answer and the outputs of its calls. */
  append(...messages: readonly unknown[]): void {
    const json = messages.map((message, index) => toJson(message, `messages[${index}]`))
    checked(() => this.#native.append(json))
  }

  /** Notes the tokens that the provider reported for its newest response, input and output together. */
  reported(tokens: number): void {
    if (!(Number.isInteger(tokens) && tokens >= 0 && tokens < 2 ** 32)) {
      throw new TypeError(`expected a number of tokens, found ${String(tokens)}`)
    }
    this.#native.reported(tokens)
  }

  /** Compacts if a compaction is due. Call it before each request to the model. */
  step(call: CallOptions = {}): Promise<Step> {
    return this.#run('step', undefined, call)
  }

  /** Compacts after the provider refused the request as too long. Each call aims lower. */
  overflow(call: CallOptions = {}): Promise<Step> {
    return this.#run('overflow', undefined, call)
  }

  /** Compacts now. `instructions`: what to keep in mind, for strategies that ask a model. */
  async compact(options: CallOptions & { instructions?: string } = {}): Promise<Step> {
    return this.#run('now', wish(options), options)
  }

  /** `step`, blocking the thread. */
  stepSync(call: CallOptions = {}): Step {
    return told(new Waiting(call).run((...own) => this.#native.compact('step', undefined, ...own)))
  }

  /** `overflow`, blocking the thread. */
  overflowSync(call: CallOptions = {}): Step {
    return told(new Waiting(call).run((...own) => this.#native.compact('overflow', undefined, ...own)))
  }

  /** `compact`, blocking the thread. */
  compactSync(options: CallOptions & { instructions?: string } = {}): Step {
    return told(new Waiting(options).run((...own) => this.#native.compact('now', wish(options), ...own)))
  }

  /** The request body to send, or the messages, if these were given. */
  get body(): unknown {
    return JSON.parse(this.#native.document)
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
    return this.#native.history.map((message) => JSON.parse(message) as unknown)
  }

  /** Tokens of the next request. */
  get tokens(): number {
    return this.#native.tokens
  }

  /** Number of compactions that changed the conversation. */
  get compactions(): number {
    return this.#native.compactions
  }

  /** Returns all that `resume` needs, as a text to store. */
  save(): string {
    return checked(() => this.#native.save())
  }

  toString(): string {
    return `Compactor: ${this.tokens} tokens, ${this.compactions} compactions, ${this.#chain.held.join(', ')}`
  }

  async #run(why: string, wish: string | undefined, call: CallOptions): Promise<Step> {
    return told(await new Running(call).run((...own) => this.#native.compact(why, wish, ...own)))
  }
}

function wish({ instructions }: { instructions?: string }): string | undefined {
  if (instructions == null || typeof instructions === 'string') return instructions ?? undefined
  throw new TypeError(`\`instructions\`: expected a text, found ${kind(instructions)}`)
}

function told(json: string): Step {
  const step = JSON.parse(json) as Step & { 'is-compacted': boolean }
  return { isCompacted: step['is-compacted'], pressure: step.pressure, held: step.held, receipts: step.receipts }
}

/** Returns what a compactor is made of. */
function chosen(options: CompactorStart) {
  const { strategy, host: given, format, preset, ...others } = options
  const host = hostOf(given)
  let fallback: AnyStrategy = host.hasModel ? 'tiered-model' : 'tiered'
  let json = kebab(optionsJson('CompactorOptions', others))
  if (preset != null) {
    const setting = JSON.stringify({ preset, compactor: JSON.parse(json) as unknown })
    const read = JSON.parse(checked(() => NativeCompactor.setting(setting))) as { strategy: string; config: string; options: unknown }
    json = JSON.stringify(read.options)
    fallback = new Strategy(read.strategy, { config: JSON.parse(read.config) as Record<string, unknown> })
  }
  const strategies = chain(strategy ?? fallback, 'tiered')
  return { host, strategies, json, reading: { host, ...(format === undefined ? {} : { format }) } }
}

/** Returns options in the names that a compactor's settings have. */
function kebab(json: string): string {
  const named = Object.entries(JSON.parse(json) as Record<string, unknown>)
  const known = named.filter(([, value]) => value !== null)
  return JSON.stringify(Object.fromEntries(known.map(([name, value]) => [name.replaceAll('_', '-'), value])))
}
