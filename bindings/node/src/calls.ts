/** Calls of the native part: as promises that a signal ends, or waited for. */

import { checked, raised } from './errors.js'
import { inbox, serve } from './functions.js'
import { NativeCancel, type NativeCall } from './native.js'

/** How a call can be ended. */
export interface CallOptions {
  /** Seconds after which the call ends. Default: no limit but those of the strategies. */
  timeout?: number | null
  /** Ends the call; the promise is then rejected with the signal's reason. */
  signal?: AbortSignal | null
}

type Start = (cancel: NativeCancel, ended?: () => void) => NativeCall

/** Runs calls, one after the other: those of one operation. Returns promises. */
export class Running {
  readonly #cancel: NativeCancel
  readonly #signal: AbortSignal | undefined

  constructor(options: CallOptions = {}) {
    const { timeout, signal } = options
    if (signal != null && !(signal instanceof AbortSignal)) {
      throw new TypeError('`signal`: expected an AbortSignal')
    }
    this.#signal = signal ?? undefined
    this.#cancel = checked(() => new NativeCancel(seconds(timeout)))
  }

  /** Starts a call; resolves to its outcome. */
  async run<T>(start: Start): Promise<T> {
    this.#signal?.throwIfAborted()
    const abort = () => this.#cancel.cancel()
    this.#signal?.addEventListener('abort', abort, { once: true })
    try {
      let call: NativeCall | undefined
      await new Promise<void>((resolve) => {
        call = checked(() => start(this.#cancel, resolve))
      })
      return call!.take() as T
    } catch (error) {
      // Whoever aborted knows why. An outcome that came before is not lost to it.
      this.#signal?.throwIfAborted()
      throw raised(error)
    } finally {
      this.#signal?.removeEventListener('abort', abort)
    }
  }
}

/** The same for functions that block the thread. Functions that are asked meanwhile are called in it. */
export class Waiting {
  readonly #cancel: NativeCancel

  constructor(options: CallOptions = {}) {
    if (options.signal != null) {
      throw new TypeError('`signal`: nothing can abort a call that blocks the thread; use `timeout`, or the function without `Sync`')
    }
    this.#cancel = checked(() => new NativeCancel(seconds(options.timeout)))
  }

  run<T>(start: Start): T {
    return checked(() => {
      const call = start(this.#cancel)
      while (!call.wait(inbox)) serve({ isWaiting: true })
      return call.take() as T
    })
  }
}

function seconds(timeout: number | null | undefined): number | undefined {
  if (timeout == null) return undefined
  if (typeof timeout !== 'number' || !(timeout > 0)) {
    throw new TypeError(`\`timeout\`: expected seconds, more than 0, found ${String(timeout)}`)
  }
  return timeout
}
