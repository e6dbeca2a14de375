/**
 * For the AI SDK (`ai` 6 and 7).
 *
 * ```ts
 * const middleware = balerMiddleware({ contextWindow: 400_000 })
 * const model = wrapLanguageModel({ model: openai('gpt-5-mini'), middleware })
 * ```
 *
 * Results and your messages keep the whole history; the model is sent a view of it.
 */

import type { WindowOptions } from './options.js'
import { isOverflow } from './overflow.js'
import type { Message, ProviderOptions } from './parts.js'
import { isContinued, view, type Tool } from './prompt.js'
import { Window, type Shown } from './window.js'

/** What a model of the AI SDK is asked. */
export interface ModelCall {
  readonly prompt: readonly Message[]
  readonly tools?: readonly Tool[] | undefined
  readonly providerOptions?: ProviderOptions | undefined
  readonly abortSignal?: AbortSignal | undefined
}

/** A middleware of `wrapLanguageModel`. It fits models and middleware of the specifications v3 and v4. */
export interface BalerMiddleware {
  readonly specificationVersion: 'v3'
  /** Puts a view in the place of the history. */
  transformParams<P extends ModelCall>(options: { params: P; model: { readonly modelId: string } }): Promise<P>
  /** Asks once more, for less, if the model refuses a request as too long. */
  wrapGenerate<P extends ModelCall, R>(options: {
    doGenerate(): PromiseLike<R>
    params: P
    model: { readonly modelId: string; doGenerate(params: P): PromiseLike<R> }
  }): Promise<R>
  /** The same. The stream itself passes unchanged. */
  wrapStream<P extends ModelCall, R>(options: {
    doStream(): PromiseLike<R>
    params: P
    model: { readonly modelId: string; doStream(params: P): PromiseLike<R> }
  }): Promise<R>
}

/**
 * Returns a middleware for `wrapLanguageModel({ model, middleware })`, which sends the model a view of the history that
 * fits its context window.
 *
 * If the model refuses a request as too long, a smaller one is sent once.
 */
export function balerMiddleware(options: WindowOptions): BalerMiddleware {
  const window = new Window(options)
  /** By the calls that are made: what was asked for, and what is shown of it. */
  const asked = new WeakMap<object, { whole: ModelCall; shown: Shown | undefined }>()

  /** Returns a call with a view of its prompt; the same call if all of it is shown. */
  async function viewed<P extends ModelCall>(whole: P, modelId: string, less = false): Promise<P> {
    const { prompt: messages, tools, providerOptions, abortSignal } = whole
    if (isContinued(providerOptions)) return whole
    const made = await view(window, { model: modelId, messages, tools }, { less, signal: abortSignal ?? null })
    const call = made.messages === undefined ? whole : { ...whole, prompt: made.messages }
    asked.set(call, { whole, shown: made.shown })
    return call
  }

  /** Makes a call, and once more for less. `seen` gets the answer, and what was shown. */
  async function withRetry<P extends ModelCall, R>(
    first: () => PromiseLike<R>,
    again: (params: P) => PromiseLike<R>,
    seen: (answer: R, shown: Shown) => R,
    params: P,
    modelId: string,
  ): Promise<R> {
    const answered = (answer: R, call: object = params) => {
      const shown = asked.get(call)?.shown
      return shown === undefined ? answer : seen(answer, shown)
    }
    try {
      return answered(await first())
    } catch (error) {
      const whole = (asked.get(params)?.whole ?? params) as P
      const smaller = isOverflow(error) ? await viewed(whole, modelId, true) : whole
      if (smaller === whole) throw error
      return answered(await again(smaller), smaller)
    }
  }

  return {
    specificationVersion: 'v3',
    transformParams: ({ params, model }) => viewed(params, model.modelId),
    wrapGenerate: ({ doGenerate, params, model }) =>
      withRetry(doGenerate, (smaller) => model.doGenerate(smaller), counted, params, model.modelId),
    wrapStream: ({ doStream, params, model }) =>
      withRetry(doStream, (smaller) => model.doStream(smaller), countedAtEnd, params, model.modelId),
  }
}

/** Notes the size of a request that an answer or the last part of a stream tells. */
function counted<R>(answer: R, shown: Shown): R {
  shown.noteCount(promptOf((answer as { usage?: Usage }).usage))
  return answer
}

/** What an answer used. Newer versions of the specification count more finely. */
interface Usage {
  readonly inputTokens?: number | { readonly total?: number | undefined } | null | undefined
}

function promptOf(usage: Usage | undefined): number | undefined {
  const tokens = usage?.inputTokens
  return typeof tokens === 'object' ? tokens?.total : tokens
}

/** Returns an answer whose stream notes the size of its request at its end. */
function countedAtEnd<R>(answer: R, shown: Shown): R {
  const { stream } = answer as { stream?: unknown }
  if (!(stream instanceof ReadableStream)) return answer
  const passing = new TransformStream<{ type?: string }>({
    transform(part, out) {
      if (part?.type === 'finish') counted(part, shown)
      out.enqueue(part)
    },
  })
  return { ...answer, stream: stream.pipeThrough(passing) }
}

/** What `prepareStep` gets. */
export interface Step<M> {
  readonly messages: readonly M[]
  readonly model: string | { readonly modelId: string }
  /** Only in `ai` 7. */
  readonly instructions?: string | Message | readonly Message[] | undefined
  /** The steps before. */
  readonly steps?: readonly { readonly usage?: Usage }[]
}

/** What was sent of a history. */
interface Sent {
  readonly messages: readonly Message[]
  readonly history: readonly Message[]
  /** Number of the step. */
  readonly step: number
  /** Until the next step: it holds all of the history. */
  shown: Shown | undefined
}

/** A function for `prepareStep`. */
export type BalerPrepareStep = <M extends Message>(step: Step<M>) => Promise<{ messages?: M[] }>

/**
 * Returns a function for the option `prepareStep` of `generateText`, `streamText` and agents, which gives each step a view
 * of the history.
 *
 * It knows no error of the model, and of the tools only what the provider counted in the step before: prefer the middleware, if
 * you can wrap the model.
 */
export function balerPrepareStep(options: WindowOptions): BalerPrepareStep {
  const window = new Window(options)
  /** By the last message of what was sent, and by that of its history. */
  const sent = new WeakMap<Message, Sent>()

  /** Returns what was sent last of the history that these messages go on with, and the number of those that it stands for. */
  function before(messages: readonly Message[]): [Sent, number] | [] {
    for (let index = messages.length - 1; index >= 0; index -= 1) {
      const found = sent.get(messages[index] as Message)
      // From version 7 on, what was sent in one step is where the next one begins. Before, each begins with the history.
      const begins = [found?.messages, found?.history].some(
        (one) => one?.length === index + 1 && one.every((message, place) => message === messages[place]),
      )
      if (found && begins) return [found, index + 1]
    }
    return []
  }

  return async <M extends Message>({ messages: given, model, instructions, steps = [] }: Step<M>) => {
    const [last, known] = before(given)
    if (last !== undefined) {
      // Not each step must have come here.
      if (last.step + 1 === steps.length) last.shown?.noteCount(promptOf(steps.at(-1)?.usage))
      last.shown = undefined
    }
    const history = last ? [...(last.history as readonly M[]), ...given.slice(known)] : given
    const system = [instructions ?? []].flat().map((text) => (typeof text === 'string' ? text : String(text.content)))
    const name = typeof model === 'string' ? model : model.modelId
    const { messages, shown } = await view(window, { model: name, messages: history, system })
    const made = messages ?? given
    const one: Sent = { messages: made, history, step: steps.length, shown }
    for (const newest of [made.at(-1), history.at(-1)]) if (newest) sent.set(newest, one)
    return messages ? { messages } : {}
  }
}
