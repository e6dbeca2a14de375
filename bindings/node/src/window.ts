/**
 * Windows: what a model is shown of histories that somebody else stores.
 *
 * Frameworks store the whole history, and hand it over again before each request. A view says which of its messages are shown,
 * which are shown in another form, and which texts stand in place of what is not shown. The native part makes it, recognises the
 * history when it comes again, and shows it by the same view until it is too large again.
 */

import { Running, Waiting, type CallOptions } from './calls.js'
import { Compaction, tellOfFaults, type Placed } from './compaction.js'
import { hostOf, read } from './conversation.js'
import { BalerError } from './errors.js'
import type { Format, Host } from './host.js'
import { kind } from './json.js'
import { warn } from './log.js'
import { OF_CALLS, only, optionsJson } from './named.js'
import { NativeWindow, type NativeShown } from './native.js'
import { NAMES, type WindowOptions } from './options.js'
import { chain, type Chain } from './strategy.js'

/** What is shown of a history. */
export class Shown {
  /** Whether all of it is sent, as it is. With `less`, because nothing of what was refused can be left out. */
  readonly isWhole: boolean
  readonly #native: NativeShown | undefined
  #placed: readonly Placed[] | undefined

  /** @internal */
  constructor(isWhole: boolean, native?: NativeShown) {
    this.isWhole = isWhole
    this.#native = native
  }

  /** The messages that are shown, in order; indices are those of the history. */
  get placed(): readonly Placed[] {
    return (this.#placed ??= this.#native?.messages ?? [])
  }

  /** The request to send, as JSON; empty if the history could not be read. */
  get document(): string {
    return this.#native?.conversation.document ?? ''
  }

  /** Its tokens. */
  get tokens(): number {
    return this.#native?.conversation.tokens ?? 0
  }

  /** The view by which the history is shown, as JSON, to be stored with the history. */
  get view(): string | null {
    return this.#native?.view ?? null
  }

  /** Number of messages that the history had when the view was made. */
  get madeAt(): number {
    return this.#native?.madeAt ?? 0
  }

  /**
   * Notes the size of this request as the provider counted it: all tokens of the prompt, those from its cache included. For what
   * the history grows to it takes the place of baler's estimate. Anything but a positive number is ignored.
   */
  noteCount(tokens: unknown): void {
    if (Number.isSafeInteger(tokens)) this.#native?.noteCount(tokens as number)
  }
}

/**
 * @internal Returns a history for a view: messages that stand behind others than when they were made are passed to `without`, which
 * takes the thinking out of them. Providers may refuse it there.
 */
export function withoutThinking<M>(shown: Shown, history: readonly M[], without: (message: M) => M): M[] {
  const { madeAt } = shown
  const sent = [...history]
  let isChanged = false
  for (const [place, { kind, index }] of shown.placed.entries()) {
    isChanged ||= index !== place
    if (isChanged && index != null && index < madeAt) sent[index] = without(history[index] as M)
    isChanged ||= kind !== 'kept'
  }
  return sent
}

/** How a history is shown. */
export interface ShowOptions extends CallOptions {
  /** The provider refused what was shown before as too long. */
  less?: boolean
  /** The view that was stored for this history. */
  view?: string | null
}

/**
 * Keeps what is shown of histories within a size, and remembers how the newest 256 of them were shown.
 *
 * A history is known by its messages, so branches and sub-agents have views of their own. Use one for a whole program.
 */
export class Window {
  readonly host: Host
  readonly #native: NativeWindow
  readonly #chain: Chain
  readonly #tell: ((compaction: Compaction) => void) | undefined

  /** Creates a window. What is wrong with the options is said here, and not at each request. */
  constructor(options: WindowOptions) {
    const { strategy, host, onCompaction, ...sizes } = only(options, NAMES.WindowOptions)
    if (onCompaction != null && typeof onCompaction !== 'function') {
      throw new TypeError(`\`onCompaction\`: expected a function, found ${kind(onCompaction)}`)
    }
    this.host = hostOf(host)
    this.#tell = onCompaction ?? undefined
    this.#chain = chain(strategy, this.host.hasModel ? 'tiered-model' : 'tiered')
    const json = optionsJson('WindowOptions', sizes)
    this.#native = new Waiting().run((...call) =>
      NativeWindow.open(this.host.native, this.#chain.natives, json, ...call),
    )
  }

  /**
   * Returns what to show of a history now. `body`: the request with the history, in a wire format. A failure is reported as a
   * warning, and the history is sent as it is.
   */
  async show(format: Exclude<Format, 'auto'>, body: unknown, options: ShowOptions = {}): Promise<Shown> {
    const { less = false, view } = only(options, [...OF_CALLS, 'less', 'view'])
    const running = new Running(options)
    let shown: NativeShown
    try {
      const before = await read(body, { format, host: this.host }, running)
      if (before.conversation.isTheProviders) return new Shown(true)
      const stored = typeof view === 'string' ? view : undefined
      shown = await running.run((...call) => this.#native.show(before.conversation, less === true, stored, ...call))
    } catch (error) {
      if (!(error instanceof BalerError)) throw error
      warn(`a history is sent as it is: ${error.message}`)
      return new Shown(true)
    }
    const { compaction } = shown
    if (compaction != null) this.#told(shown)
    const isWhole = less ? compaction?.isCompacted !== true : !shown.hasView
    return new Shown(isWhole, shown)
  }

  /** Tells of a compaction, and why a request that is too large is not made smaller. */
  #told(shown: NativeShown): void {
    const before = { host: this.host, given: {}, conversation: shown.conversation, isRepaired: false }
    const compaction = new Compaction(before, shown.compaction!)
    tellOfFaults(compaction)
    this.#tell?.(compaction)
    if (compaction.isCompacted) return
    const { why, violations } = compaction.receipt as { why?: string; violations?: { message: number; what: string; rule: string }[] }
    const [first] = violations ?? []
    if (why === 'invalid-input' && first !== undefined) {
      warn(
        `the history is sent whole, because it breaks a rule of its wire format: message ${first.message}: ${first.what} ` +
          `(${first.rule}); \`validate\` lists all such places, \`repair\` repairs them`,
      )
    } else warn(`the history is sent as it is (${why}), although it is over the limit`)
  }
}
