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
import { Window } from './window.js'

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
  /** The calls that were asked for, by those that are made for them. */
  const asked = new WeakMap<object, ModelCall>()

  /** Returns a call with a view of its prompt. */
  async function viewed<P extends ModelCall>(call: P, modelId: string, less = false): Promise<P | undefined> {
    const { prompt: messages, tools, providerOptions, abortSignal } = call
    if (isContinued(providerOptions)) return undefined
    const prompt = await view(window, { model: modelId, messages, tools }, { less, signal: abortSignal ?? null })
    return prompt && { ...call, prompt }
  }

  async function withRetry<P extends ModelCall, R>(
    first: () => PromiseLike<R>,
    again: (params: P) => PromiseLike<R>,
    params: P,
    modelId: string,
  ): Promise<R> {
    try {
      return await first()
    } catch (error) {
      const whole = (asked.get(params) ?? params) as P
      const smaller = isOverflow(error) ? await viewed(whole, modelId, true) : undefined
      if (smaller === undefined) throw error
      return await again(smaller)
    }
  }

  return {
    specificationVersion: 'v3',
    async transformParams({ params, model }) {
      const made = await viewed(params, model.modelId)
      if (made === undefined) return params
      asked.set(made, params)
      return made
    },
    wrapGenerate: ({ doGenerate, params, model }) =>
      withRetry(doGenerate, (smaller) => model.doGenerate(smaller), params, model.modelId),
    wrapStream: ({ doStream, params, model }) =>
      withRetry(doStream, (smaller) => model.doStream(smaller), params, model.modelId),
  }
}

/** What `prepareStep` gets. */
export interface Step<M> {
  readonly messages: readonly M[]
  readonly model: string | { readonly modelId: string }
  /** Only in `ai` 7. */
  readonly instructions?: string | Message | readonly Message[] | undefined
}

/** What was sent of a history. */
interface Sent {
  readonly messages: readonly Message[]
  readonly history: readonly Message[]
}

/** A function for `prepareStep`. */
export type BalerPrepareStep = <M extends Message>(step: Step<M>) => Promise<{ messages?: M[] }>

/**
 * Returns a function for the option `prepareStep` of `generateText`, `streamText` and agents, which gives each step a view
 * of the history.
 *
 * It knows neither the tools nor what the model answers: prefer the middleware, if you can wrap the model.
 */
export function balerPrepareStep(options: WindowOptions): BalerPrepareStep {
  const window = new Window(options)
  /** By the last message of what was sent. */
  const sent = new WeakMap<Message, Sent>()

  /** Returns the whole history: from version 7 on, what was sent in one step is where the next one begins. */
  function whole<M extends Message>(messages: readonly M[]): readonly M[] {
    for (let index = messages.length - 1; index >= 0; index -= 1) {
      const before = sent.get(messages[index] as M)
      const begins = before?.messages.every((message, place) => message === messages[place])
      if (before === undefined || !begins || before.messages.length !== index + 1) continue
      return [...(before.history as readonly M[]), ...messages.slice(index + 1)]
    }
    return messages
  }

  return async ({ messages: given, model, instructions }) => {
    const history = whole(given)
    const system = [instructions ?? []].flat().map((text) => (typeof text === 'string' ? text : String(text.content)))
    const name = typeof model === 'string' ? model : model.modelId
    const messages = await view(window, { model: name, messages: history, system })
    const last = messages?.at(-1)
    if (messages === undefined || last === undefined) return {}
    sent.set(last, { messages, history })
    return { messages }
  }
}
