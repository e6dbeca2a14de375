/**
 * Shows a view of a prompt of the AI SDK, which Mastra has too.
 *
 * A prompt is a list of messages of the roles `system`, `user`, `assistant` and `tool`, whose content are parts. It is
 * described as Anthropic Messages, block by block, for baler alone: what is sent is made of the prompt's own messages and
 * parts.
 */

import { rebuilt, textOf, type Block } from './blocks.js'
import type { CallOptions } from './calls.js'
import { applied } from './compaction.js'
import { warn } from './log.js'
import {
  changedPart,
  described,
  isFull,
  isSigned,
  textBlock,
  type Message,
  type Part,
  type ProviderOptions,
} from './parts.js'
import { withoutThinking, type Shown, type Window } from './window.js'

/** A tool of a prompt: a function, or one of the provider's own. */
export interface Tool {
  readonly name: string
  readonly description?: string | undefined
  readonly inputSchema?: unknown
  readonly args?: unknown
}

/** What a model is about to be asked. */
export interface Request<M> {
  /** The model's name. */
  readonly model: string
  readonly messages: readonly M[]
  /** System texts outside of the messages. */
  readonly system?: readonly string[]
  readonly tools?: readonly Tool[] | undefined
}

/** Stands for a message of which nothing is described, since the format has no empty ones. */
const NOTHING: Block = { type: 'text', text: '…' }

/** What is sent of a request. */
export interface View<M> {
  /** The messages in place of its own; none if these are sent as they are. Those that are shown as they are stay the same objects. */
  readonly messages?: M[]
  /** None if nothing was read. */
  readonly shown?: Shown
}

/** Returns what to send of a request. With `less`, because the provider refused what was sent before as too long. */
export async function view<M extends Message>(
  window: Window,
  request: Request<M>,
  options: CallOptions & { less?: boolean } = {},
): Promise<View<M>> {
  try {
    // System messages in front do not belong to the history.
    const first = request.messages.findIndex(({ role }) => role !== 'system')
    if (first < 0) return {}
    const system = request.messages.slice(0, first)
    const history = grouped(request.messages.slice(first))
    const instructions = [...(request.system ?? []), ...system.map(({ content }) => String(content))]
    const body = {
      model: request.model,
      system: instructions.filter(isFull).map(textBlock),
      tools: request.tools?.map(toolOf),
      messages: history.map(describe),
    }
    const shown = await window.show('anthropic', body, options)
    return shown.isWhole ? { shown } : { shown, messages: [...system, ...sent(shown, history)] }
  } catch (error) {
    options.signal?.throwIfAborted()
    warn(`a prompt is sent as it is: ${String(error)}`)
    return {}
  }
}

/** Decides whether the provider holds the history, so that a prompt continues it. */
export function isContinued(options: ProviderOptions | undefined): boolean {
  return Object.values(options ?? {}).some((own) => own?.previousResponseId != null || own?.conversation != null)
}

/** Returns messages in groups that are one to baler: results that follow one another answer calls of one response. */
function grouped<M extends Message>(messages: readonly M[]): M[][] {
  const groups: M[][] = []
  for (const message of messages) {
    const last = groups.at(-1)
    if (message.role === 'tool' && last?.[0]?.role === 'tool') last.push(message)
    else groups.push([message])
  }
  return groups
}

function sent<M extends Message>(shown: Shown, history: readonly M[][]): M[] {
  const groups = withoutThinking(shown, history, (group) => group.flatMap(withoutSigned))
  return applied(shown.placed, groups, (written: Written) => [inserted<M>(written)], changed).flat()
}

/** A described message, as it comes back. */
interface Written {
  readonly role: string
  readonly content: string | readonly Block[]
}

function inserted<M extends Message>(written: Written): M {
  const role = written.role === 'assistant' ? 'assistant' : 'user'
  return { role, content: [{ type: 'text', text: textOf(written) }] } as unknown as M
}

function changed<M extends Message>(group: readonly M[], written: Written): M[] {
  const [message] = group
  if (message === undefined) return []
  const parts = rebuilt<Part>(group.flatMap(described), written.content, changedPart, (text) => ({ type: 'text', text }))
  const isText = typeof message.content === 'string' && parts.every(({ type }) => type === 'text')
  return [{ ...message, content: isText ? parts.map(({ text }) => text).join('\n\n') : parts }]
}

/** Returns what counts of messages, as one of Anthropic Messages. It is never sent. */
function describe(group: readonly Message[]): Written {
  const blocks = group.flatMap(described).flatMap(([block]) => block ?? [])
  const isAll = blocks.some(({ type }) => !type.endsWith('thinking'))
  return { role: group[0]?.role === 'assistant' ? 'assistant' : 'user', content: isAll ? blocks : [...blocks, NOTHING] }
}

/** Returns a message without reasoning that its provider signed; without the message if nothing else is in it. */
function withoutSigned<M extends Message>(message: M): M[] {
  if (message.role !== 'assistant' || typeof message.content === 'string') return [message]
  const parts = message.content as readonly Part[]
  const rest = parts.filter((part) => !isSigned(part))
  if (rest.length === parts.length) return [message]
  return rest.length === 0 ? [] : [{ ...message, content: rest }]
}

function toolOf({ name, description, inputSchema, args }: Tool): unknown {
  return { name, description: description ?? '', input_schema: inputSchema ?? args ?? {} }
}
