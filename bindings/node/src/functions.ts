/** JavaScript functions that baler asks: models and strategies. They run in the thread that they were given in. */

import { NativeInbox } from './native.js'

/** What a function is asked, as the native part tells it. */
export type Asked = (question: Record<string, unknown>) => unknown

/** Functions by number. Held weakly: a function lives as long as the host or strategy that it was given to. */
const functions = new Map<number, WeakRef<Asked>>()
const gone = new FinalizationRegistry<number>((number) => functions.delete(number))
let count = 0

/** The questions to functions of this thread. */
export const inbox = new NativeInbox(() => serve({ isWaiting: false }))

/** Makes a function known; returns its number. The caller has to hold `asked`. */
export function register(asked: Asked): number {
  count += 1
  functions.set(count, new WeakRef(asked))
  gone.register(asked, count)
  return count
}

/** Answers all questions that wait. `isWaiting`: the thread is blocked by a call, so that no promise can be waited for. */
export function serve({ isWaiting }: { isWaiting: boolean }): void {
  for (let fetched = inbox.fetch(); fetched != null; fetched = inbox.fetch()) {
    const { id, number, question } = fetched
    const asked = functions.get(number)?.deref()
    if (asked === undefined) {
      inbox.answer(id, undefined, 'the function is gone')
      continue
    }
    try {
      const answer = asked(JSON.parse(question) as Record<string, unknown>)
      if (!isPromise(answer)) settle(id, answer)
      else if (isWaiting) {
        answer.then(undefined, () => {})
        inbox.answer(id, undefined, 'the function returned a promise to a call that blocks the thread; use the call without `Sync`')
      } else answer.then((value) => settle(id, value), (error: unknown) => failed(id, error))
    } catch (error) {
      failed(id, error)
    }
  }
}

function settle(id: number, answer: unknown): void {
  if (typeof answer === 'string') inbox.answer(id, answer)
  else inbox.answer(id, undefined, `expected a text from the function, found ${answer === null ? 'null' : typeof answer}`)
}

function failed(id: number, error: unknown): void {
  let told = 'it threw something that cannot be shown'
  try {
    told = String(error)
  } catch {
    // Anything can be thrown, also what has no text.
  }
  inbox.answer(id, undefined, told)
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null)?.then === 'function'
}
