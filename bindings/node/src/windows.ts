/** Windows of programs that tell how large their model's window is. */

import type { WindowOptions } from './options.js'
import { Window } from './window.js'

/** Windows with the same options. What is wrong with them is said when it is made. */
export class Windows {
  readonly #options: WindowOptions
  readonly #windows = new Map<number | undefined, Window>()
  /** Whether the options say the size. */
  readonly #isSized: boolean

  constructor(options: WindowOptions) {
    this.#options = options
    this.#isSized = options.contextWindow != null || options.at != null
    this.of(1_000_000)
  }

  /** Returns the window for a model. `size`: what the program tells, which counts if the options name none. */
  of(size: number | undefined): Window {
    const key = this.#isSized ? undefined : size
    const window =
      this.#windows.get(key) ?? new Window(key === undefined ? this.#options : { ...this.#options, contextWindow: key })
    this.#windows.set(key, window)
    return window
  }
}
