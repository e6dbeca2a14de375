/** Calls of the native part: as promises that a signal ends, or waited for. */

import { setMaxListeners } from 'node:events'

import { checked, raised } from './errors.js'
import { inbox, serve } from './functions.js'
import { kind } from './json.js'
import { notAllowed } from './named.js'
import { NativeCancel, type NativeCall } from './native.js'

/** How a call can be ended. */
export interface CallOptions {
  /** Seconds after which the call ends. Default: no limit but those of the strategies. */
  timeout?: number | null
  /** Ends the call; the promise is then rejected with the signal's reason. */
  signal?: AbortSignal | null
}

/** How a call that blocks the thread can be ended. */
export type WaitOptions = Pick<CallOptions, 'timeout'>

type Start = (cancel: NativeCancel, ended?: () => void) => NativeCall

/** The starts of calls that run. They hold hosts and strategies, whose functions must live until the calls have ended. */
const started = new Set<Start>()
/** How many of these calls are promises. */
let promised = 0

/** @internal Runs calls, one after the other: those of one operation. Returns promises. */
export class Running {
  readonly #cancel: NativeCancel
  readonly #signal: AbortSignal | undefined

  constructor(options: CallOptions = {}) {
    const { timeout, signal } = options
    if (signal != null && !(signal instanceof AbortSignal)) {
      throw new TypeError(`\`signal\`: expected an AbortSignal, found ${kind(signal)}`)
    }
    this.#signal = signal ?? undefined
    // A signal may be that of any number of calls.
    if (signal != null) setMaxListeners(0, signal)
    this.#cancel = checked(() => new NativeCancel(seconds(timeout)))
  }

  /** Starts a call; resolves to its outcome. */
  async run<T>(start: Start): Promise<T> {
    this.#signal?.throwIfAborted()
    const abort = () => this.#cancel.cancel()
    this.#signal?.addEventListener('abort', abort, { once: true })
    started.add(start)
    promised += 1
    try {
      let call: NativeCall | undefined
      await new Promise<void>((resolve) => {
        call = start(this.#cancel, resolve)
      })
      const made = call!.take() as T
      // A compaction that was ended has an outcome too: that time was over.
      this.#signal?.throwIfAborted()
      return made
    } catch (error) {
      // Whoever aborted knows why.
      this.#signal?.throwIfAborted()
      throw raised(error)
    } finally {
      promised -= 1
      started.delete(start)
      this.#signal?.removeEventListener('abort', abort)
    }
  }
}

/** @internal The same for functions that block the thread. Functions that are asked meanwhile are called in it. */
export class Waiting {
  readonly #cancel: NativeCancel

  constructor(options: CallOptions = {}) {
    if (options.signal != null) {
      throw new TypeError('`signal`: nothing can abort a call that blocks the thread; use `timeout`, or the function without `Sync`')
    }
    this.#cancel = checked(() => new NativeCancel(seconds(options.timeout)))
  }

  run<T>(start: Start): T {
    started.add(start)
    try {
      const call = start(this.#cancel)
      // Questions may be those of promised calls, whose functions may return promises: these settle when this one has ended.
      while (!call.wait(inbox)) serve({ refusesPromises: promised === 0 })
      return call.take() as T
    } catch (error) {
      throw raised(error)
    } finally {
      started.delete(start)
    }
  }
}

function seconds(timeout: number | null | undefined): number | undefined {
  if (timeout == null) return undefined
  if (typeof timeout === 'number' && timeout > 0 && timeout < 2 ** 32) return timeout
  throw notAllowed('timeout', 'seconds, more than 0', timeout)
}
