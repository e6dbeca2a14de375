/**
 * For LangChain (`langchain` 1.0 or newer), and so for LangGraph and deepagents.
 *
 * ```ts
 * const agent = createAgent({ model: 'openai:gpt-5-mini', tools, middleware: [balerMiddleware({ contextWindow: 400_000 })] })
 * ```
 *
 * The state keeps the whole history; the model is sent a view of it.
 */

import { applied } from './compaction.js'
import { described, rewritten, textsOf, withoutOwnThinking, type Described, type Message } from './messages.js'
import { saysTooLong } from './native.js'
import type { WindowOptions } from './options.js'
import { withoutThinking, type Shown } from './window.js'
import { Windows } from './windows.js'

/** Options of the middleware. Without `contextWindow` and `at`, the window is that of the model's profile. */
export interface MiddlewareOptions<S = undefined> extends WindowOptions {
  /**
   * Stores the view in the agent's state, so that it survives a restart of the program together with the history: a schema with
   * the private member `_balerView`, such as `z.object({ _balerView: z.string().optional() })`.
   */
  stateSchema?: S
}

/** What LangChain calls a middleware with. */
export interface ModelCall {
  readonly model: unknown
  readonly messages: readonly Message[]
  readonly systemMessage?: Message
  readonly systemPrompt?: unknown
  readonly tools: readonly unknown[]
  readonly state: { readonly messages: readonly Message[] }
  readonly runtime: { readonly signal?: AbortSignal }
}

/** A middleware of `createAgent`. */
export interface BalerMiddleware<S = undefined> {
  readonly name: 'BalerMiddleware'
  readonly stateSchema?: S
  /** Runs around each call of the model. */
  wrapModelCall<R extends ModelCall, A>(request: R, handler: (request: R) => A | PromiseLike<A>): Promise<A>
  /** Stores the view when the agent is done. */
  afterAgent?: (state: {
    readonly messages: readonly Message[]
  }) => { messages: never[]; _balerView: string } | undefined
}

/**
 * Returns a middleware for `createAgent({ middleware: [...] })`, which sends the model a view of the history that fits its context
 * window.
 *
 * If the model refuses a request as too long, a smaller one is sent once. Views are remembered by the middleware, or stored with
 * `stateSchema`.
 */
export function balerMiddleware<S = undefined>(options: MiddlewareOptions<S> = {}): BalerMiddleware<S> {
  const { stateSchema, ...sizes } = options
  const windows = new Windows(sizes)
  /** Views by the last message of the history that they were shown for. */
  const views = new WeakMap<Message, string>()

  /** Returns the request to send now in the place of one, which is the same if all is shown, and what is shown. */
  async function viewed<R extends ModelCall>(request: R, less = false): Promise<{ made: R; shown: Shown }> {
    const { state, runtime, model } = request
    const system = systemOf(request)
    const history = system === undefined ? request.messages : [system, ...request.messages]
    const body = { model: nameOf(model), tools: request.tools.map(describedTool), messages: history.map(described) }
    // What was refused is not shown again.
    const view = less ? null : storedIn(state)
    const window = windows.of((model as Model).profile?.maxInputTokens)
    const shown = await window.show('openai-chat', body, { less, view, signal: runtime.signal ?? null })
    if (shown.isWhole) return { made: request, shown }
    const last = state.messages.at(-1)
    const made = shown.view
    if (last !== undefined && made !== null) views.set(last, made)
    return { made: { ...request, messages: messagesOf(shown, history).filter((message) => message !== system) }, shown }
  }

  async function wrapModelCall<R extends ModelCall, A>(
    request: R,
    handler: (request: R) => A | PromiseLike<A>,
  ): Promise<A> {
    const first = await viewed(request)
    try {
      return counted(await handler(first.made), first.shown)
    } catch (error) {
      const smaller = isOverflow(error) ? await viewed(request, true) : undefined
      if (smaller === undefined || smaller.shown.isWhole) throw error
      return counted(await handler(smaller.made), smaller.shown)
    }
  }

  const middleware = { name: 'BalerMiddleware', wrapModelCall } as const
  if (stateSchema === undefined) return middleware
  const afterAgent: BalerMiddleware['afterAgent'] = (state) => {
    const last = state.messages.findLast((message) => views.has(message))
    const view = last && views.get(last)
    // No message is added.
    return view === undefined || view === storedIn(state) ? undefined : { messages: [], _balerView: view }
  }
  return { ...middleware, stateSchema, afterAgent }
}

/** What the model answered. */
interface Answer {
  readonly usage_metadata?: { readonly input_tokens?: unknown }
}

/** Notes the size of a request that its answer tells. Of one with a structured response, the model's is the first message. */
function counted<A>(answer: A, shown: Shown): A {
  const { usage_metadata: own, messages } = (answer ?? {}) as Answer & { readonly messages?: readonly Answer[] }
  shown.noteCount((own ?? messages?.[0]?.usage_metadata)?.input_tokens)
  return answer
}

/** Returns the view that is stored in a state. */
function storedIn(state: object): string | null {
  return (state as { _balerView?: string })._balerView ?? null
}

/** Returns the messages to send. Those that are shown as they are stay the same objects. */
function messagesOf(shown: Shown, history: readonly Message[]): Message[] {
  const sent = withoutThinking(shown, history, withoutOwnThinking)
  // Messages are made by classes, of which only the user's program is sure to have the right ones.
  const Human = history.find(({ type }) => type === 'human')?.constructor as (new (text: string) => Message) | undefined
  const inserted = (form: Described): Message => {
    const text = textsOf(form).join('\n\n')
    return Human === undefined ? ({ role: 'user', content: text } as unknown as Message) : new Human(text)
  }
  return applied(shown.placed, sent, inserted, rewritten<Message>)
}

/** Returns the message that LangChain puts before all others. */
function systemOf({ systemMessage, systemPrompt }: ModelCall): Message | undefined {
  const system = systemMessage ?? { type: 'system', content: systemPrompt }
  return textsOf(described(system)).some((text) => text !== '') ? system : undefined
}

/** What counts of a model. */
interface Model {
  readonly model?: unknown
  readonly modelName?: unknown
  readonly profile?: { readonly maxInputTokens?: number }
}

function nameOf(model: unknown): string {
  const name = (model as Model).model ?? (model as Model).modelName
  return typeof name === 'string' ? name : ''
}

const tools = new WeakMap<object, object>()

/** Returns what counts of a tool. Tools of the provider's own have forms that LangChain does not know. */
function describedTool(tool: unknown): object {
  if (typeof tool !== 'object' || tool === null) return {}
  const { name, description, schema } = tool as { name?: string; description?: string; schema?: Schema }
  if (schema == null) return tool
  const known = tools.get(tool) ?? {
    type: 'function',
    function: { name, description, parameters: parametersOf(schema) },
  }
  tools.set(tool, known)
  return known
}

/** The schema of a tool: a JSON Schema, or one of a library's. */
interface Schema {
  readonly shape?: Readonly<Record<string, { readonly description?: string }>>
  readonly '~standard'?: { readonly jsonSchema?: { input(options: { target: string }): object } }
}

function parametersOf(schema: Schema): object {
  const standard = schema['~standard']
  if (standard === undefined) return schema
  try {
    if (standard.jsonSchema) return standard.jsonSchema.input({ target: 'draft-2020-12' })
  } catch {
    // Not all that a library checks has a JSON Schema. Names and descriptions are most of it.
  }
  const shape = Object.entries(schema.shape ?? {})
  return {
    type: 'object',
    properties: Object.fromEntries(shape.map(([name, { description }]) => [name, { description }])),
  }
}

/** Decides whether an error says that a request is too long for the model. */
function isOverflow(error: unknown): boolean {
  return error instanceof Error && (error.name === 'ContextOverflowError' || saysTooLong(error.message))
}
