/** What is done with one conversation at a time. */

import { Running, Waiting, type CallOptions } from './calls.js'
import { Compaction, tellOfFaults } from './compaction.js'
import { hostOf, inForm, read, readSync, type Read } from './conversation.js'
import { OptionError } from './errors.js'
import { kind } from './json.js'
import { optionsJson } from './named.js'
import { NativeResult, type NativeConversation } from './native.js'
import { NAMES, type CompactOptions, type ReadOptions } from './options.js'
import type { Host } from './host.js'
import { chain, strategyOf, type AnyStrategy, type Chain } from './strategy.js'

/**
 * A conversation in any form: the messages or the whole request body of OpenAI Chat Completions, OpenAI Responses, Anthropic
 * Messages, Gemini or Bedrock Converse, as objects, bytes or text; or the session log of a coding agent, as bytes or text.
 */
export type Conversation = string | ArrayBuffer | ArrayBufferView | readonly object[] | object

type Reads = ReadOptions & CallOptions
type Compacts = CompactOptions & CallOptions

/**
 * Fits a conversation into a budget. The conversation is never changed.
 *
 * Whatever a strategy does, the result is a conversation that the provider accepts, or the same conversation with the reason.
 * Kept messages are the same objects.
 */
export async function compact<T extends Conversation>(conversation: T, options: Compacts = {}): Promise<Compaction<T>> {
  const [reading, others] = divided(options)
  const running = new Running(reading)
  const { strategies, json } = goal(reading.host, others)
  const before = await read(conversation, reading, running)
  const { native } = before.host
  const made: NativeResult = await running.run((...call) =>
    native.compact(before.conversation, strategies.natives, json, ...call),
  )
  return told(before, made, strategies)
}

/** The same, blocking the thread. A strategy or model that is a function must not return a promise then. */
export function compactSync<T extends Conversation>(conversation: T, options: Compacts = {}): Compaction<T> {
  const [reading, others] = divided(options)
  const waiting = new Waiting(reading)
  const { strategies, json } = goal(reading.host, others)
  const before = readSync(conversation, reading, waiting)
  const { native } = before.host
  const made: NativeResult = waiting.run((...call) =>
    native.compact(before.conversation, strategies.natives, json, ...call),
  )
  return told(before, made, strategies)
}

function told<T>(before: Read, made: NativeResult, _strategies: Chain): Compaction<T> {
  const compaction = new Compaction<T>(before, made)
  tellOfFaults(compaction as Compaction)
  return compaction
}

function goal(given: Host | null | undefined, options: Partial<Compacts>): { strategies: Chain; json: string } {
  const { strategy, ...others } = options
  const fallback = hostOf(given).hasModel ? 'tiered-model' : 'tiered'
  return { strategies: chain(strategy, fallback), json: optionsJson('CompactOptions', others) }
}

/**
 * Decides whether to compact now. `budget`: the size from which on to compact: tokens, or a share of `contextWindow`. Default:
 * 80 % of the window. `strategy`: asks this strategy; without one, the size decides.
 */
export async function shouldCompact(conversation: Conversation, options: Compacts = {}): Promise<boolean> {
  const [reading, others] = divided(options)
  const running = new Running(reading)
  const { strategy, json } = question(others)
  const { host, conversation: before } = await read(conversation, reading, running)
  return running.run<string>((...call) => host.native.shouldCompact(before, strategy?.native, json, ...call)).then(JSON.parse)
}

/** The same, blocking the thread. */
export function shouldCompactSync(conversation: Conversation, options: Compacts = {}): boolean {
  const [reading, others] = divided(options)
  const waiting = new Waiting(reading)
  const { strategy, json } = question(others)
  const { host, conversation: before } = readSync(conversation, reading, waiting)
  return JSON.parse(waiting.run<string>((...call) => host.native.shouldCompact(before, strategy?.native, json, ...call))) as boolean
}

function question(options: Partial<Compacts>) {
  const { strategy, ...others } = options
  const budget = threshold(others.budget, others.contextWindow)
  if (Array.isArray(strategy)) throw new TypeError('`strategy`: expected one strategy, found a list')
  return {
    strategy: strategy == null ? undefined : strategyOf(strategy as AnyStrategy),
    json: optionsJson('CompactOptions', { ...others, budget }),
  }
}

/** The share of the context window from which on a compaction is due. */
const DUE_SHARE = 0.8

function threshold(budget: unknown, window: unknown): number {
  let share = budget ?? DUE_SHARE
  if (typeof share === 'number' && Number.isInteger(share) && share > 1) return share
  if (typeof share === 'string') {
    const text = share.trim()
    const number = Number(text.replace(/%$/, ''))
    if (text === '' || Number.isNaN(number)) {
      throw new OptionError(`\`budget\`: expected tokens, or a share such as "80%", found ${JSON.stringify(budget)}`)
    }
    if (!text.endsWith('%')) return number
    share = number / 100
  }
  if (typeof window !== 'number' || !(window > 0)) {
    throw new OptionError('`budget`: expected tokens; a share is one of `contextWindow`, which is missing')
  }
  if (typeof share !== 'number' || !(share > 0 && share <= 1)) {
    throw new OptionError(`\`budget\`: expected a share above 0 and at most 1, found ${String(budget)}`)
  }
  return Math.max(1, Math.floor(window * share))
}

/** A place where a conversation breaks a rule of its wire format. */
export interface Violation {
  /** The rule, such as `CHAT-1` (`docs/wire-formats.md`). */
  readonly rule: string
  /** `error`: a provider is known to refuse the request. */
  readonly severity: 'error' | 'warning'
  /** Number of the message, from 1; 0 for the conversation as a whole. */
  readonly message: number
  /** What is wrong. */
  readonly what: string
  /** What to do. */
  readonly remedy: string
}

/** The rules that a conversation breaks. */
export interface Validation {
  /** The wire format. */
  readonly format: string
  /** Whether there are no errors. */
  readonly isValid: boolean
  /** Number of places at which a provider is known to refuse the request. */
  readonly errors: number
  /** Number of places at which no refusal is known. */
  readonly warnings: number
  /** The first of these places. */
  readonly violations: readonly Violation[]
}

/** Checks a conversation against the rules of its wire format. */
export async function validate(conversation: Conversation, options: Reads = {}): Promise<Validation> {
  return validation((await read(conversation, reads(options), new Running(options))).conversation)
}

/** The same, blocking the thread. */
export function validateSync(conversation: Conversation, options: Reads = {}): Validation {
  return validation(readSync(conversation, reads(options), new Waiting(options)).conversation)
}

function validation(conversation: NativeConversation): Validation {
  const { errors, warnings, violations } = JSON.parse(conversation.violations) as Omit<Validation, 'format' | 'isValid'>
  return { format: conversation.format, isValid: errors === 0, errors, warnings, violations }
}

/** A conversation after its repair. */
export interface Repaired<T> {
  /** In the form in which it was given. */
  readonly body: T
  /** What was changed. `message`: its number before, from 1. */
  readonly repairs: readonly { readonly rule: string; readonly message: number; readonly what: string }[]
  /** The rules that are still broken. */
  readonly validation: Validation
}

/** Repairs broken rules of the wire format, as far as possible. Signed and encrypted content is never edited. */
export async function repair<T extends Conversation>(conversation: T, options: Reads = {}): Promise<Repaired<T>> {
  return repaired(await read(conversation, { ...reads(options), repair: false }, new Running(options)))
}

/** The same, blocking the thread. */
export function repairSync<T extends Conversation>(conversation: T, options: Reads = {}): Repaired<T> {
  return repaired(readSync(conversation, { ...reads(options), repair: false }, new Waiting(options)))
}

function repaired<T>(before: Read): Repaired<T> {
  const made = before.conversation.repaired()
  const { repairs } = JSON.parse(made.violations) as Pick<Repaired<T>, 'repairs'>
  const body = (repairs.length > 0 ? inForm(before, made.document) : before.given) as T
  return { body, repairs, validation: validation(made) }
}

/** Counts the tokens of a request, with its system prompt and tools. */
export async function count(conversation: Conversation, options: Reads = {}): Promise<number> {
  return (await read(conversation, reads(options), new Running(options))).conversation.tokens
}

/** The same, blocking the thread. */
export function countSync(conversation: Conversation, options: Reads = {}): number {
  return readSync(conversation, reads(options), new Waiting(options)).conversation.tokens
}

/** What a strategy says of itself, and what baler knows of it. */
export interface Introspection {
  readonly introspection: { readonly name: string; readonly version: string; readonly description: string; readonly [name: string]: unknown } | null
  /** `null` if it is no component. */
  readonly component: { readonly 'content-hash': string; readonly contract: string; readonly bytes: number; readonly permissions: unknown } | null
}

/** Asks a strategy to describe itself. */
export async function introspect(strategy: AnyStrategy, options: CallOptions & { host?: Host | null } = {}): Promise<Introspection> {
  const { native } = strategyOf(strategy)
  const host = hostOf(options.host)
  return JSON.parse(await new Running(options).run<string>((...call) => host.native.introspect(native, ...call))) as Introspection
}

/** The same, blocking the thread. */
export function introspectSync(strategy: AnyStrategy, options: CallOptions & { host?: Host | null } = {}): Introspection {
  const { native } = strategyOf(strategy)
  const host = hostOf(options.host)
  return JSON.parse(new Waiting(options).run<string>((...call) => host.native.introspect(native, ...call))) as Introspection
}

const OF_READING = ['format', 'used', 'repair', 'timeout', 'host', 'signal']

/** Returns the options of reading, and all others. */
function divided(options: Compacts): [Reads, Partial<Compacts>] {
  if (typeof options !== 'object' || options === null) throw new TypeError(`expected options, found ${kind(options)}`)
  const of = (isWanted: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(options).filter(([name]) => isWanted(name)))
  return [of((name) => OF_READING.includes(name)) as Reads, of((name) => !OF_READING.includes(name)) as Partial<Compacts>]
}

/** Checks that there are only options of reading. */
function reads(options: Reads): Reads {
  const unknown = Object.keys(options).find((name) => !OF_READING.includes(name))
  if (unknown === undefined) return options
  throw new OptionError(`no option is called \`${unknown}\`; known: ${[...NAMES.ReadOptions, 'signal'].join(', ')}`)
}
