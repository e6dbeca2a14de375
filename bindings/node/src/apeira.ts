/**
 * For Apeira (`@apeira/core` 0.0.7).
 *
 * ```ts
 * const agent = createAgent({ instructions, runner, tools, plugins: [baler({ contextWindow: 400_000 })] })
 * ```
 *
 * The agent's storage keeps the whole history; the model is sent a view of it.
 */

import { applied } from './compaction.js'
import type { WindowOptions } from './options.js'
import type { Shown } from './window.js'
import { Windows } from './windows.js'

/** What the plugin reads of an agent. */
export interface Agent {
  readonly instructions: unknown
  readonly tools: readonly object[]
  readonly state: { get(): { readonly contextLength?: number } }
}

/** An agent's next request to its model. */
export interface Step<I extends object> {
  readonly input: I[]
  readonly model: string
}

/** A plugin of `createAgent`. */
export interface BalerPlugin {
  readonly name: 'baler'
  /** Other plugins change the input first. */
  readonly enforce: 'post'
  /** Runs before the first turn. */
  init(agent: Agent): void
  /** Runs before each request to the model. */
  prepareStep<I extends object>(step: Step<I>): Promise<{ input?: I[] }>
  /** Runs after each answer. */
  onStepFinish(step: { readonly usage?: { readonly inputTokens?: unknown } }): void
}

/**
 * Returns a plugin for `createAgent({ plugins: [...] })`, which sends the model a view of the history that fits its context window.
 *
 * Without `contextWindow` and `at`, the window is the `contextLength` of the agent's state.
 */
export function baler(options: WindowOptions = {}): BalerPlugin {
  const windows = new Windows(options)
  let agent: Agent | undefined
  let last: Shown | undefined

  async function prepareStep<I extends object>({ input, model }: Step<I>): Promise<{ input?: I[] }> {
    const parts = input.flatMap((item: Item) => partsOf(item).map((part): Part => ({ item, part })))
    const frame = { model, instructions: textOf(agent?.instructions), tools: agent?.tools.map(describedTool) }
    const window = windows.of(agent?.state.get().contextLength)
    const shown = await window.show('openai-responses', { ...frame, input: parts.map(({ part }) => part) })
    last = shown
    if (shown.isWhole) return {}
    const sent = applied<Part, Item>(
      shown.placed,
      parts,
      (part) => ({ part }),
      (one, part) => ({ ...one, part, isChanged: true }),
    )
    return { input: itemsOf(sent) as I[] }
  }

  return {
    name: 'baler',
    enforce: 'post',
    init: (given) => {
      agent = given
    },
    prepareStep,
    onStepFinish: ({ usage }) => last?.noteCount(usage?.inputTokens),
  }
}

/** An item of Responses. Messages of the runner for Chat Completions have their calls inside, as that has them. */
interface Item {
  readonly type?: string
  readonly role?: string | undefined
  readonly content?: string | readonly object[] | null
  readonly tool_calls?: readonly Call[] | null
}

interface Call {
  readonly id: string
  readonly function: { readonly name?: string; readonly arguments?: string }
}

/** An item as Responses has it. */
interface Part {
  readonly part: Item
  /** The item that it is part of; none if it stands in place of others. */
  readonly item?: Item
  readonly isChanged?: boolean
}

/** Returns the items of Responses that an item is made of. */
function partsOf(item: Item): Item[] {
  const { role, content, tool_calls } = item
  if (tool_calls == null || tool_calls.length === 0) return [item]
  const calls = tool_calls.map(({ id, function: { name = '', arguments: args = '' } }) => {
    return { type: 'function_call', call_id: id, name, arguments: args }
  })
  return content == null || content.length === 0 ? calls : [{ type: 'message', role, content }, ...calls]
}

/** Returns the items that parts make. An item stays or goes as a whole, and stays the same object unless its text changed. */
function itemsOf(sent: readonly Part[]): Item[] {
  const items = new Map<Item, Item>()
  for (const { item, part, isChanged } of sent) {
    if (item === undefined) items.set(part, { type: 'message', ...part })
    else if (isChanged) items.set(item, item.tool_calls == null ? part : { ...item, content: part.content ?? null })
    else if (!items.has(item)) items.set(item, item)
  }
  return [...items.values()]
}

function textOf(instructions: unknown): string | undefined {
  return typeof instructions === 'string' ? instructions : undefined
}

/** Returns what counts of a tool. */
function describedTool(tool: object): object {
  const { name, description, parameters } = (tool as { function?: Record<string, unknown> }).function ?? {}
  return { type: 'function', name, description, parameters }
}
