/** What is done with one conversation at a time. */

import { Running, Waiting, type CallOptions, type WaitOptions } from './calls.js'
import { Compaction, tellOfFaults } from './compaction.js'
import { hostOf, inForm, read, readSync, type Read } from './conversation.js'
import { OptionError } from './errors.js'
import { OF_CALLS, notAllowed, only, optionsJson } from './named.js'
import { NativeResult, type NativeConversation } from './native.js'
import { NAMES, type CompactOptions, type ReadOptions } from './options.js'
import type { Host } from './host.js'
import { chain, strategyOf, type AnyStrategy, type Chain } from './strategy.js'

/**
 * A conversation in any form: the messages or the whole request body of OpenAI Chat Completions, OpenAI Responses, Anthropic
 * Messages, Gemini or Bedrock Converse, as objects, bytes or text; or the session log of a coding agent, as bytes or text.
 */
export type Conversation = string | ArrayBuffer | ArrayBufferView | readonly object[] | object

/** The form in which a conversation of this type comes back: its own type, and for a text of any content `string`. */
export type Form<T> = T extends string ? string : T

type Reads = ReadOptions & CallOptions
type Compacts = CompactOptions & CallOptions

/**
 * Fits a conversation into a budget. The conversation is never changed.
 *
 * Whatever a strategy does, the result is a conversation that the provider accepts, or the same conversation with the reason.
 * Kept messages are the same objects, unless `repair` had to repair them.
 */
export async function compact<T extends Conversation>(conversation: T, options: Compacts = {}): Promise<Compaction<Form<T>>> {
  const [reading, others] = divided(options)
  const running = new Running(reading)
  const { strategies, json } = goal(reading.host, others)
  const before = await read(conversation, reading, running)
  const { native } = before.host
  const made: NativeResult = await running.run((...call) =>
    native.compact(before.conversation, strategies.natives, json, ...call),
  )
  return told(before, made)
}

/** The same, blocking the thread. A strategy or model that is a function must not return a promise then. */
export function compactSync<T extends Conversation>(conversation: T, options: CompactOptions = {}): Compaction<Form<T>> {
  const [reading, others] = divided(options)
  const waiting = new Waiting(reading)
  const { strategies, json } = goal(reading.host, others)
  const before = readSync(conversation, reading, waiting)
  const { native } = before.host
  const made: NativeResult = waiting.run((...call) =>
    native.compact(before.conversation, strategies.natives, json, ...call),
  )
  return told(before, made)
}

function told<T>(before: Read, made: NativeResult): Compaction<T> {
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
export function shouldCompactSync(conversation: Conversation, options: CompactOptions = {}): boolean {
  const [reading, others] = divided(options)
  const waiting = new Waiting(reading)
  const { strategy, json } = question(others)
  const { host, conversation: before } = readSync(conversation, reading, waiting)
  return JSON.parse(waiting.run<string>((...call) => host.native.shouldCompact(before, strategy?.native, json, ...call))) as boolean
}

function question(options: Partial<Compacts>) {
  const { strategy, ...others } = options
  const budget = threshold(others.budget ?? DUE_SHARE, others.contextWindow)
  if (Array.isArray(strategy)) throw new TypeError('`strategy`: expected one strategy, found a list')
  return {
    strategy: strategy == null ? undefined : strategyOf(strategy as AnyStrategy),
    json: optionsJson('CompactOptions', { ...others, budget }),
  }
}

/** The share of the context window from which on a compaction is due. */
const DUE_SHARE = 0.8

function threshold(budget: unknown, window: unknown): unknown {
  const isPercent = typeof budget === 'string' && budget.trim().endsWith('%')
  const share = isPercent ? Number(budget.trim().slice(0, -1)) / 100 : budget
  const isShare = isPercent || (typeof share === 'number' && !Number.isInteger(share))
  // Tokens, and what is neither, are read by the native part.
  if (!isShare) return budget
  if (window == null) {
    const message = '`budget`: expected tokens; a share is one of `contextWindow`, which is missing'
    throw new OptionError(message, { option: 'budget' })
  }
  const part = share as number
  if (!(part > 0 && part <= 1)) throw notAllowed('budget', 'a share above 0 and at most 1', budget)
  // A window that is not a number is, too.
  return typeof window === 'number' && window > 0 ? Math.max(1, Math.floor(window * part)) : undefined
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
export function validateSync(conversation: Conversation, options: ReadOptions = {}): Validation {
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
export async function repair<T extends Conversation>(conversation: T, options: Reads = {}): Promise<Repaired<Form<T>>> {
  return repaired(await read(conversation, { ...reads(options), repair: false }, new Running(options)))
}

/** The same, blocking the thread. */
export function repairSync<T extends Conversation>(conversation: T, options: ReadOptions = {}): Repaired<Form<T>> {
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
export function countSync(conversation: Conversation, options: ReadOptions = {}): number {
  return readSync(conversation, reads(options), new Waiting(options)).conversation.tokens
}

/** What a strategy says of itself, and what baler knows of it. */
export interface Introspection {
  readonly introspection: { readonly name: string; readonly version: string; readonly description: string; readonly [name: string]: unknown } | null
  /** `null` if it is not a component. */
  readonly component: { readonly 'content-hash': string; readonly contract: string; readonly bytes: number; readonly permissions: unknown } | null
}

/** Asks a strategy to describe itself. */
export async function introspect(strategy: AnyStrategy, options: CallOptions & { host?: Host | null } = {}): Promise<Introspection> {
  const { host, asked } = asking(strategy, options)
  return JSON.parse(await new Running(options).run<string>((...call) => host.native.introspect(asked.native, ...call))) as Introspection
}

/** The same, blocking the thread. */
export function introspectSync(strategy: AnyStrategy, options: WaitOptions & { host?: Host | null } = {}): Introspection {
  const { host, asked } = asking(strategy, options)
  return JSON.parse(new Waiting(options).run<string>((...call) => host.native.introspect(asked.native, ...call))) as Introspection
}

function asking(strategy: AnyStrategy, options: { host?: Host | null }) {
  return { host: hostOf(only(options, [...OF_CALLS, 'host']).host), asked: strategyOf(strategy) }
}

const OF_READING: readonly string[] = [...NAMES.ReadOptions, 'signal']

/** Returns the options of reading, and all others. */
function divided(options: Compacts): [Reads, Partial<Compacts>] {
  const given = Object.entries(only(options, [...NAMES.CompactOptions, ...OF_READING]))
  const reading = given.filter(([name]) => OF_READING.includes(name))
  const others = given.filter(([name]) => !OF_READING.includes(name))
  return [Object.fromEntries(reading) as Reads, Object.fromEntries(others) as Partial<Compacts>]
}

/** Checks that there are only options of reading. */
function reads(options: Reads): Reads {
  return only(options, OF_READING)
}
