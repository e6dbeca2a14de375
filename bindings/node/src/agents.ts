/**
 * For the OpenAI Agents SDK (`@openai/agents`): a filter of what its models are sent.
 *
 * ```ts
 * const filter = balerFilter({ contextWindow: 400_000 })
 * await run(agent, 'Fix the build', { session, callModelInputFilter: filter })
 * ```
 *
 * Sessions and results keep the whole history.
 */

import { createHash } from 'node:crypto'

import { applied, type Placed } from './compaction.js'
import { described, inserted, rewritten, type Members } from './items.js'
import { warn } from './log.js'
import { saysTooLong } from './native.js'
import type { WindowOptions } from './options.js'
import { Window, type Shown, type ShowOptions } from './window.js'

/** What the SDK calls a filter with. */
export interface FilterCall<I extends object> {
  modelData: { input: I[]; instructions?: string }
  agent: { model?: unknown; tools?: readonly object[] }
}

/** What a filter returns. */
export interface FilteredInput<I extends object> {
  input: I[]
  instructions?: string
}

/** A request to a model, as far as baler reads it. */
export interface ModelCall {
  input: string | object[]
  systemInstructions?: string
  previousResponseId?: string
  conversationId?: string
  tools?: readonly object[]
  signal?: AbortSignal
}

/** A model of the SDK. */
export interface FilteredModel {
  getResponse(request: never): Promise<unknown>
  getStreamedResponse(request: never): AsyncIterable<unknown>
}

/** A function for `callModelInputFilter`. */
export interface BalerFilter {
  /** Runs before each call of a model. */
  <I extends object>(call: FilterCall<I>): Promise<FilteredInput<I>>
  /**
   * Wraps a model: a request that it refuses as too long is sent once more, smaller, and what it says of the size of its requests
   * takes the place of baler's estimate. An answer that began to stream is not asked for again.
   */
  withRetry<M extends FilteredModel>(model: M): M
}

/**
 * Returns a filter that shows the model a view of the history which fits its context window.
 *
 * With `previousResponseId` or a conversation of the provider's, only new items pass here, which it leaves as they are.
 */
export function balerFilter(options: WindowOptions): BalerFilter {
  const views = new Views(new Window(options))
  const filter = async <I extends object>({ modelData, agent }: FilterCall<I>): Promise<FilteredInput<I>> => {
    const model = typeof agent.model === 'string' ? agent.model : ''
    const frame = { model, instructions: modelData.instructions, tools: describedTools(agent.tools) }
    const input = await views.show(frame, modelData.input)
    return input === modelData.input ? modelData : { ...modelData, input }
  }
  return Object.assign(filter, { withRetry: <M extends FilteredModel>(model: M) => retrying(model, views) })
}

/** Histories that are remembered, for retries and for what models say of their sizes. */
const HISTORIES = 16

/** A history, and what was shown of it. */
interface Sent {
  readonly items: object[]
  readonly shown: Shown
}

class Views {
  /** Whether answers pass here, too. */
  seesAnswers = false
  readonly #window: Window
  /** What was sent last, by its hash. */
  readonly #sent = new Map<string, Sent>()

  constructor(window: Window) {
    this.#window = window
  }

  /** Returns the items to send: the same list if all are. Those that are shown as they are stay the same objects. */
  async show<I extends object>(frame: Members, items: I[], options: ShowOptions = {}): Promise<I[]> {
    const body = { ...frame, input: items.map(described) }
    const shown = await this.#window.show('openai-responses', body, options)
    // What is sent in a second request is not stored.
    const placed = shown.isWhole ? undefined : options.less ? shown.placed : storable(shown.placed, items)
    const sent = placed ? applied<I, Members>(placed, items, (written) => inserted(written) as I, rewritten) : items
    if (placed || (this.seesAnswers && shown.isWhole)) this.#remember(sent, { items, shown })
    return sent
  }

  #remember(sent: readonly object[], of: Sent): void {
    const hash = hashOf(sent)
    if (hash !== undefined) this.#sent.set(hash, of)
    for (const oldest of this.#sent.keys()) {
      if (this.#sent.size <= HISTORIES) break
      this.#sent.delete(oldest)
    }
  }

  /** Notes what a model says of the size of a request. */
  counted({ input }: ModelCall, answer: unknown): void {
    const { usage } = (answer ?? {}) as { usage?: { inputTokens?: unknown } }
    if (Array.isArray(input) && usage?.inputTokens) this.#of(input)?.shown.noteCount(usage.inputTokens)
  }

  #of(sent: readonly object[]): Sent | undefined {
    const hash = hashOf(sent)
    return hash === undefined ? undefined : this.#sent.get(hash)
  }

  /** Returns a request with less than was sent, for this and later ones; `undefined` if nothing helps. */
  async smaller(request: ModelCall, error: unknown): Promise<ModelCall | undefined> {
    const { input: sent, signal } = request
    if (!Array.isArray(sent) || !saysTooLong(toldBy(error))) return undefined
    const frame = {
      model: '',
      instructions: request.systemInstructions,
      tools: describedTools(request.tools),
      previous_response_id: request.previousResponseId,
      conversation: request.conversationId,
    }
    const items = this.#of(sent)?.items ?? sent
    const input = await this.show(frame, items, { less: true, ...(signal && { signal }) })
    return input === items ? undefined : { ...request, input }
  }
}

/**
 * Returns what can be shown. The SDK stores what is new in a run as the model was shown it: so the newest messages of the user
 * stay as they are. It also stores items for which there is none that was left out or rewritten; `undefined` if there are such.
 */
function storable(shown: readonly Placed[], items: readonly object[]): Placed[] | undefined {
  const roles = items.map((item) => (item as Members | null)?.role)
  const newest = roles.lastIndexOf('user')
  const first = roles.findLastIndex((role, index) => index < newest && role !== 'user' && role !== 'system') + 1
  const placed = shown.map((one): Placed => {
    const index = one.index ?? -1
    return index >= first && index <= newest ? { kind: 'kept', index } : one
  })
  for (let index = first; index <= newest; index += 1) {
    if (placed.some((one) => one.index === index)) continue
    const next = placed.findIndex((one) => (one.index ?? -1) > index)
    placed.splice(next < 0 ? placed.length : next, 0, { kind: 'kept', index })
  }
  if (placed.length <= items.length) return placed
  warn('a history is sent as it is, because the SDK would store texts that the strategy inserted without removing any')
  return undefined
}

/** Returns a model that stands for another one. */
function retrying<M extends FilteredModel>(model: M, views: Views): M {
  const inner = model as unknown as {
    getResponse(request: ModelCall): Promise<unknown>
    getStreamedResponse(request: ModelCall): AsyncIterable<unknown>
  }
  views.seesAnswers = true
  const answered = async (request: ModelCall): Promise<unknown> => {
    const answer = await inner.getResponse(request)
    views.counted(request, answer)
    return answer
  }
  const streamed = async function* (request: ModelCall): AsyncIterable<unknown> {
    for await (const event of inner.getStreamedResponse(request)) {
      const { type, response } = event as { type?: unknown; response?: unknown }
      if (type === 'response_done') views.counted(request, response)
      yield event
    }
  }
  const own: Members = {
    async getResponse(request: ModelCall) {
      try {
        return await answered(request)
      } catch (error) {
        const smaller = await views.smaller(request, error)
        if (smaller === undefined) throw error
        return answered(smaller)
      }
    },
    async *getStreamedResponse(request: ModelCall) {
      let [hasBegun, smaller]: [boolean, ModelCall?] = [false]
      try {
        for await (const event of streamed(request)) {
          hasBegun = true
          yield event
        }
        return
      } catch (error) {
        // What was passed on cannot be taken back.
        if (!hasBegun) smaller = await views.smaller(request, error)
        if (smaller === undefined) throw error
      }
      yield* streamed(smaller)
    },
  }
  return new Proxy(model, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as string]
      const member: unknown = Reflect.get(target, name, target)
      // Methods may use private members, which the proxy does not have.
      return typeof member === 'function' && name !== 'constructor' ? member.bind(target) : member
    },
  })
}

function describedTools(tools: readonly object[] = []): Members[] {
  return (tools as Members[])
    .filter(({ type }) => type === 'function')
    .map(({ type, name, description, parameters }) => ({ type, name, description, parameters }))
}

/** Returns the hash of items; `undefined` if they are no JSON. */
function hashOf(items: readonly object[]): string | undefined {
  try {
    return createHash('sha256').update(JSON.stringify(items)).digest('base64')
  } catch {
    return undefined
  }
}

function toldBy(error: unknown): string {
  const { message, code } = (error ?? {}) as { message?: unknown; code?: unknown }
  return `${String(message ?? error)} ${String(code ?? '')}`
}
