/** The parts of the AI SDK's messages, and how they are described: as blocks of Anthropic Messages. */

import { textOf, type Block, type Described } from './blocks.js'

/** A message of the AI SDK. */
export interface Message {
  readonly role: string
  readonly content: string | readonly { readonly type: string }[]
}

/** Options of each provider, by its name. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>

/** The members of parts that count. */
export interface Part {
  readonly type: string
  readonly text?: string
  readonly kind?: string
  readonly mediaType?: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly input?: unknown
  readonly output?: Output
  readonly providerExecuted?: boolean
  readonly providerOptions?: ProviderOptions
}

/** What a tool returned. */
export interface Output {
  readonly type: string
  readonly value?: unknown
  readonly reason?: string
}

/** Returns the parts of a message, each with its block. A text is one part. */
export function described({ role, content }: Message): Described<Part>[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as readonly Part[])
  return parts.map((part, index) => [blockOf(part, role, index), part])
}

function blockOf(part: Part, role: string, index: number): Block | undefined {
  switch (part.type) {
    case 'text': {
      if (part.providerOptions?.anthropic?.type === 'compaction') return { type: 'compaction', content: part.text }
      // The format wants no white space at the end of an answer.
      const text = role === 'assistant' ? part.text?.trimEnd() : part.text
      return isFull(text) ? textBlock(text) : undefined
    }
    case 'image':
    case 'file':
      return role === 'user' ? media(part.type === 'image' ? 'image/*' : part.mediaType, index) : undefined
    case 'reasoning': {
      const { signature, redactedData } = signed(part)
      if (redactedData != null) return { type: 'redacted_thinking', data: String(redactedData) }
      if (signature == null) return undefined
      return { type: 'thinking', thinking: wellFormed(part.text ?? ''), signature: String(signature) }
    }
    case 'tool-call': {
      const type = part.providerExecuted ? 'server_tool_use' : 'tool_use'
      return { type, id: part.toolCallId, name: part.toolName, input: objectOf(part.input) }
    }
    case 'tool-result': {
      const type = role === 'tool' ? 'tool_result' : 'server_tool_result'
      const content = contentOf(part.output)
      const failed = /^(error|execution-denied)/.test(part.output?.type ?? '')
      const isError = failed && typeof content === 'string' && isFull(content)
      return { type, tool_use_id: part.toolCallId, content, ...(isError ? { is_error: true } : {}) }
    }
    case 'custom':
      return part.kind?.endsWith('.compaction') ? { type: 'compaction', content: part.kind } : undefined
    default:
      return undefined
  }
}

function contentOf(output: Output | undefined): string | Block[] {
  if (output?.type === 'execution-denied') return output.reason || 'Tool execution denied.'
  if (output?.type === 'content' && Array.isArray(output.value)) {
    return (output.value as Part[]).flatMap((item, index): Block[] => {
      if (item.type === 'text') return isFull(item.text) ? [textBlock(item.text)] : []
      return item.type === 'custom' ? [] : [media(item.type.startsWith('image') ? 'image/*' : item.mediaType, index)]
    })
  }
  return wellFormed(typeof output?.value === 'string' ? output.value : (JSON.stringify(output?.value) ?? ''))
}

/** Describes a picture or a document, by its place among others. */
function media(type: string | undefined, index: number): Block {
  return { type: type?.startsWith('image') ? 'image' : 'document', source: { type: 'url', url: `part:${index}` } }
}

function itemOf(block: Block): number {
  return Number((block.source as { url?: string } | undefined)?.url?.slice('part:'.length))
}

/** Describes a text. */
export function textBlock(text: string): Block {
  return { type: 'text', text: wellFormed(text) }
}

/** Decides whether a text is more than white space. */
export function isFull(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== ''
}

/** Returns a text without halves of characters, which cannot be written. Outputs that were cut have them. */
function wellFormed(text: string): string {
  return (text as unknown as { toWellFormed(): string }).toWellFormed()
}

function objectOf(input: unknown): unknown {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input
  return input == null ? {} : { input }
}

/** Returns a copy of a part that says what a block says. */
export function changedPart(part: Part, block: Block): Part {
  // A text with its own options may be sent by a reference to what the provider stored of it.
  if (part.type !== 'tool-result') return { type: 'text', text: textOf(block) }
  return { ...part, output: changedOutput(part.output, block) }
}

function changedOutput(output: Output | undefined, { content }: Block): Output {
  if (output?.type === 'content' && Array.isArray(output.value) && Array.isArray(content)) {
    const items = output.value as unknown[]
    const value = (content as Block[]).map((block) => (block.type === 'text' ? block : items[itemOf(block)]))
    return { type: 'content', value }
  }
  return { type: output?.type.startsWith('error') ? 'error-text' : 'text', value: textOf({ content }) }
}

/** Decides whether a part is reasoning that its provider signed. */
export function isSigned(part: Part): boolean {
  return part.type === 'reasoning' && Object.keys(signed(part)).length > 0
}

/** Returns by what its provider knows reasoning that it signed. */
function signed({ providerOptions }: Part): { signature?: unknown; redactedData?: unknown } {
  const own = Object.values(providerOptions ?? {}).find((own) => own?.signature != null || own?.redactedData != null)
  return own ?? {}
}
