/** What came of a compaction. */

import { Running, Waiting, type CallOptions, type WaitOptions } from './calls.js'
import { MEMBERS, inForm, itemsOf, type Read } from './conversation.js'
import { ArchiveError } from './errors.js'
import { isBytes } from './json.js'
import { warn } from './log.js'
import { OF_CALLS, only } from './named.js'
import type { NativeResult } from './native.js'

/** Where a message of a result comes from. */
export interface Change {
  /** `kept`: the message is unchanged. `changed`: parts of it were shortened or removed. `inserted`: a summary or a note. */
  readonly kind: 'kept' | 'changed' | 'inserted'
  /** Its index among the messages before; `null` for an inserted one. */
  readonly index: number | null
}

/** What was done and why: counts, names, content hashes and codes, never text (`docs/receipt.schema.json`). */
export interface Receipt {
  readonly outcome: 'compacted' | 'repaired' | 'unchanged'
  /** Why it is not compacted. */
  readonly why?: string
  /** The reference by which the conversation before is restored. */
  readonly undo?: string | null
  readonly tokens: { readonly before: number; readonly after: number; readonly budget: number; readonly [name: string]: unknown }
  readonly 'fell-back': boolean
  readonly attempts: readonly { readonly strategy: string; readonly result: { readonly result: string; readonly [name: string]: unknown }; readonly [name: string]: unknown }[]
  readonly [name: string]: unknown
}

/** A conversation that the provider accepts, and the record of what was done. `T`: the form in which it was given. */
export class Compaction<T = unknown> {
  readonly #before: Read
  readonly #native: NativeResult
  #messages: unknown[] | undefined
  #receipt: Receipt | undefined
  #changes: Change[] | undefined
  #body: T | undefined

  /** @internal */
  constructor(before: Read, native: NativeResult) {
    this.#before = before
    this.#native = native
  }

  /** Whether the conversation became smaller. If not, the receipt's `why` says why. */
  get isCompacted(): boolean {
    return this.#native.isCompacted
  }

  /** The messages of the result. Kept ones are the objects that were given, unless a repair was needed. */
  get messages(): MessagesOf<T> {
    this.#messages ??= this.#ownMessages() ?? this.#writtenMessages()
    return this.#messages as MessagesOf<T>
  }

  /** The result in the form in which the conversation was given: bytes, text, a request body, or messages. */
  get body(): T {
    if (this.#body === undefined) {
      const items = itemsOf(this.#before)
      const document = isBytes(this.#before.given) ? this.#native.documentBytes : this.#native.document
      this.#body = inForm(this.#before, document, items && (this.messages as unknown[])) as T
    }
    return this.#body
  }

  /** What was done and why. */
  get receipt(): Receipt {
    this.#receipt ??= JSON.parse(this.#native.receipt) as Receipt
    return this.#receipt
  }

  /** Where each message of the result comes from. */
  get changes(): readonly Change[] {
    this.#changes ??= this.#native.messages.map(({ kind, index }) => ({ kind: kind as Change['kind'], index: index ?? null }))
    return this.#changes
  }

  /** The outcome of each unit before: `kept`, `rewritten` or `removed`. */
  get units(): readonly string[] {
    return this.#native.units
  }

  /** Whether another strategy than the first made the result, because the first failed. */
  get fellBack(): boolean {
    return this.receipt['fell-back']
  }

  /**
   * Restores the conversation before from the archive, in the form in which it was given.
   *
   * Texts and bytes are identical to what was given; objects are equal to its JSON. A session log is restored as the request body
   * that it was read as.
   */
  async undo(options: CallOptions = {}): Promise<T> {
    const running = new Running(only(options, OF_CALLS))
    const reference = this.#undoable()
    if (reference === undefined) return this.#restored(this.#before.conversation.document)
    const { native } = this.#before.host
    return this.#restored(await running.run((...call) => native.undo(reference, ...call)))
  }

  /** The same, blocking the thread. */
  undoSync(options: WaitOptions = {}): T {
    const waiting = new Waiting(only(options, OF_CALLS))
    const reference = this.#undoable()
    if (reference === undefined) return this.#restored(this.#before.conversation.document)
    const { native } = this.#before.host
    return this.#restored(waiting.run((...call) => native.undo(reference, ...call)))
  }

  toString(): string {
    const { outcome, why, tokens } = this.receipt
    const over = tokens.after > tokens.budget ? `, over the budget of ${tokens.budget}` : ''
    return `Compaction: ${outcome}${why === undefined ? '' : ` (${why})`}, ${tokens.before} → ${tokens.after} tokens${over}`
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString()
  }

  #undoable(): string | undefined {
    const { outcome, undo } = this.receipt
    if (outcome === 'unchanged') return undefined
    if (undo == null) {
      throw new ArchiveError('the host has no archive, so what was removed is not stored; give `new Host({ archive: … })`')
    }
    return undo
  }

  #restored(document: string): T {
    return inForm(this.#before, document) as T
  }

  /** The messages as objects, if they were given as such. */
  #ownMessages(): unknown[] | undefined {
    const items = itemsOf(this.#before)
    return items && applied(this.#native.messages, items, (message) => message, (_, message) => message)
  }

  #writtenMessages(): unknown[] {
    const document: unknown = JSON.parse(this.#native.document)
    if (Array.isArray(document)) return document as unknown[]
    const messages = (document as Record<string, unknown>)[MEMBERS[this.#before.conversation.format] ?? '']
    if (Array.isArray(messages)) return messages as unknown[]
    // A single message may replace the list: an object, or the text of a user message.
    return [typeof messages === 'object' ? messages : { role: 'user', content: messages }]
  }
}

/** The messages of a conversation in some form. */
export type MessagesOf<T> = T extends readonly (infer M)[]
  ? M[]
  : T extends { messages: readonly (infer M)[] } | { input: readonly (infer M)[] } | { contents: readonly (infer M)[] }
    ? M[]
    : // biome-ignore lint: the messages of a text are whatever it holds.
      any[]

/** A message of a result, as the native part tells it. */
export interface Placed {
  kind: string
  index?: number
  json?: string
}

/**
 * Returns what is shown of a history of any type. Messages that are shown as they are stay the same objects. `inserted` makes
 * a message of a text that stands in place of others, `changed` one of a message that is shown in another form; both get that
 * form.
 */
export function applied<M, W>(
  placed: readonly Placed[],
  history: readonly M[],
  inserted: (written: W) => M,
  changed: (message: M, written: W) => M,
): M[] {
  return placed.map(({ index, json }) => {
    const written = json == null ? undefined : (JSON.parse(json) as W)
    if (index == null) return inserted(written as W)
    const message = history[index] as M
    return written === undefined ? message : changed(message, written)
  })
}

/** Tells which strategies failed, since the result alone does not show it. */
export function tellOfFaults(compaction: Compaction): void {
  for (const [index, { strategy, result }] of compaction.receipt.attempts.entries()) {
    if (result.result === 'accepted' || result.result === 'declined') continue
    const detail = JSON.stringify(result.fault ?? result.failure ?? result.result)
    const isLast = index === compaction.receipt.attempts.length - 1
    warn(`the strategy \`${strategy}\` failed (${detail})${isLast ? '' : ', so the next one was asked'}`)
  }
}
