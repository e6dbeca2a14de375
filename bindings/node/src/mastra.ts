/**
 * For Mastra's agents (`@mastra/core`).
 *
 * ```ts
 * const baler = new BalerProcessor({ contextWindow: 400_000 })
 * const agent = new Agent({ …, inputProcessors: [baler], errorProcessors: [baler] })
 * ```
 *
 * Memory keeps the whole history; the model is sent a view of it.
 */

import type { WindowOptions } from './options.js'
import { isOverflow } from './overflow.js'
import type { Message, ProviderOptions } from './parts.js'
import { isContinued, view, type Request, type Tool } from './prompt.js'
import { Window, type Shown } from './window.js'

/** What Mastra keeps for a processor while a request of the user is answered. */
export type ProcessorState = Record<string, unknown>

/** What the processor keeps there. */
interface Kept {
  tools?: readonly Tool[]
  providerOptions?: ProviderOptions | undefined
  /** What the model was asked last. */
  request?: Request<Message>
  /** What it was shown. */
  shown?: Shown | undefined
  /** The step in which the model was asked for less. */
  retried?: number
}

/** What the last chunk of an answer tells. */
interface Finish {
  readonly output?: { readonly usage?: { readonly inputTokens?: unknown } }
}

/** A processor that sends the model a view of the history that fits its context window. */
export class BalerProcessor {
  readonly id = 'baler'
  readonly name = 'baler'
  readonly #window: Window

  constructor(options: WindowOptions) {
    this.#window = new Window(options)
  }

  /** Runs before each step. It notes what counts besides the messages. */
  processInputStep(step: {
    state: ProcessorState
    tools?: Record<string, unknown>
    activeTools?: string[]
    providerOptions?: ProviderOptions | undefined
  }): undefined {
    const kept = step.state as Kept
    const { tools = {}, activeTools = Object.keys(tools) } = step
    kept.tools = activeTools.flatMap((name) => (name in tools ? toolOf(name, tools[name]) : []))
    kept.providerOptions = step.providerOptions
  }

  /** Runs before each request to the model. What it returns is sent, and not stored. */
  async processLLMRequest<M extends Message>(call: {
    prompt: M[]
    model: { readonly modelId: string }
    state: ProcessorState
    abortSignal?: AbortSignal
  }): Promise<{ prompt: M[] } | undefined> {
    const kept = call.state as Kept
    const request = { model: call.model.modelId, messages: call.prompt, tools: kept.tools }
    kept.request = request
    kept.shown = undefined
    if (isContinued(kept.providerOptions)) return undefined
    const { messages, shown } = await view(this.#window, request, { signal: call.abortSignal ?? null })
    kept.shown = shown
    return messages && { prompt: messages as M[] }
  }

  /** Runs after each answer. It notes the size of the request as the provider counted it. */
  processLLMResponse(answer: {
    chunks: readonly { readonly type: string; readonly payload: unknown }[]
    state: ProcessorState
  }): undefined {
    const kept = answer.state as Kept
    const finish = answer.chunks.findLast(({ type }) => type === 'finish')?.payload as Finish | undefined
    kept.shown?.noteCount(finish?.output?.usage?.inputTokens)
  }

  /** Runs when the model refused a request. If it is too long, and can be smaller, it is sent once more. */
  async processAPIError(failed: {
    error: unknown
    stepNumber: number
    state: ProcessorState
    abortSignal?: AbortSignal
  }): Promise<{ retry: boolean } | undefined> {
    const kept = failed.state as Kept
    const { request, retried } = kept
    if (request === undefined || retried === failed.stepNumber || !isOverflow(failed.error)) return undefined
    if (isContinued(kept.providerOptions)) return undefined
    kept.retried = failed.stepNumber
    // The view is remembered: it is what the next request shows.
    const smaller = await view(this.#window, request, { less: true, signal: failed.abortSignal ?? null })
    return smaller.messages && { retry: true }
  }
}

/** Returns what counts of a tool, which has its schema in one of two places. */
function toolOf(name: string, tool: unknown): Tool {
  const { description, parameters, inputSchema } = (tool ?? {}) as Record<string, unknown>
  const schema = ((parameters ?? inputSchema) as { jsonSchema?: unknown } | undefined)?.jsonSchema
  return {
    name,
    description: typeof description === 'string' ? description : '',
    inputSchema: schema instanceof Promise ? {} : schema,
  }
}
