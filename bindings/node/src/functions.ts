/** JavaScript functions that baler asks: models and strategies. They run in the thread that they were given in. */

import { kind } from './json.js'
import { textOf, warn } from './log.js'
import { NativeInbox } from './native.js'

/** A function that is asked. */
export interface Asked {
  /** What warnings call it. */
  readonly name: string
  /** Answers a question, as the native part tells it, with a text or a promise of one. */
  readonly ask: (question: Record<string, unknown>) => unknown
}

/** Functions by number. Held weakly: a function lives as long as the host or strategy that it was given to. */
const functions = new Map<number, WeakRef<Asked>>()
const gone = new FinalizationRegistry<number>((number) => functions.delete(number))
let count = 0

/** @internal The questions to functions of this thread. */
export const inbox = new NativeInbox(() => serve({ refusesPromises: false }))

/** Makes a function known; returns its number. The caller has to hold `asked`. */
export function register(asked: Asked): number {
  count += 1
  functions.set(count, new WeakRef(asked))
  gone.register(asked, count)
  return count
}

/** Answers all questions that wait. `refusesPromises`: a call blocks the thread until it has the answers. */
export function serve({ refusesPromises }: { refusesPromises: boolean }): void {
  for (let fetched = inbox.fetch(); fetched != null; fetched = inbox.fetch()) {
    const { id, number, question } = fetched
    const asked = functions.get(number)?.deref()
    if (asked === undefined) {
      inbox.answer(id, undefined, 'the function is gone')
      continue
    }
    const settled = (answer: unknown) => {
      if (typeof answer === 'string') inbox.answer(id, answer)
      else failed(new TypeError(`expected a text from the function, found ${kind(answer)}`))
    }
    const failed = (error: unknown) => {
      warn(`${asked.name} failed: ${textOf(error)}`)
      inbox.answer(id, undefined, textOf(error))
    }
    try {
      const answer = asked.ask(JSON.parse(question) as Record<string, unknown>)
      if (!isPromise(answer)) settled(answer)
      else if (refusesPromises) {
        answer.then(undefined, () => {})
        failed(new TypeError('it returned a promise to a call that blocks the thread; use the call without `Sync`'))
      } else Promise.resolve(answer).then(settled, failed)
    } catch (error) {
      failed(error)
    }
  }
}

/** Whether a value is a promise, of whatever kind. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null)?.then === 'function'
}
