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
  /** The steps of the turn so far. */
  readonly steps?: readonly { readonly usage?: { readonly inputTokens?: unknown } | undefined }[]
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
}

/**
 * Returns a plugin for `createAgent({ plugins: [...] })`, which sends the model a view of the history that fits its context window.
 *
 * Without `contextWindow` and `at`, the window is the `contextLength` of the agent's state.
 */
export function baler(options: WindowOptions = {}): BalerPlugin {
  const windows = new Windows(options)
  let agent: Agent | undefined
  /** What was shown last. Forks of an agent share its plugin, and run at the same time. */
  const last: Sent[] = []

  async function prepareStep<I extends object>({ input, model, steps }: Step<I>): Promise<{ input?: I[] }> {
    const text = beginningOf(input)
    const place = last.findLastIndex((one) => text?.startsWith(`${one.text},`))
    const [before] = place < 0 ? [] : last.splice(place, 1)
    before?.shown.noteCount(steps?.at(-1)?.usage?.inputTokens)
    const parts = input.flatMap((item: Item) => partsOf(item).map((part): Part => ({ item, part })))
    const frame = { model, instructions: textOf(agent?.instructions), tools: agent?.tools.map(describedTool) }
    const window = windows.of(agent?.state.get().contextLength)
    const shown = await window.show('openai-responses', { ...frame, input: parts.map(({ part }) => part) })
    if (text !== undefined) last.push({ text, shown })
    if (last.length > INPUTS) last.shift()
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
  }
}

/** Inputs that are remembered until the next step tells what the provider counted of them. */
const INPUTS = 16

/** What was shown of an input. */
interface Sent {
  /** What the JSON of a longer input begins with. */
  readonly text: string
  readonly shown: Shown
}

/** Returns what the JSON of a longer input begins with; `undefined` if it cannot be written. */
function beginningOf(input: readonly object[]): string | undefined {
  try {
    return JSON.stringify(input).slice(0, -1)
  } catch {
    return undefined
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
