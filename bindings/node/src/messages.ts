/** Messages of LangChain. They are described as those of Chat Completions, without being sent in that form. */

/** What counts of a message of LangChain's. */
export interface Message {
  /** `human`, `ai`, `tool`, `system`, … */
  readonly type: string
  /** A text, or a list of blocks. */
  readonly content: unknown
}

/** A call of a tool. */
interface Call {
  readonly id?: string
  readonly name?: string
  readonly args?: unknown
}

/** What only some messages have. */
interface Members extends Message {
  readonly tool_call_id?: string
  readonly tool_calls?: readonly Call[]
  readonly response_metadata?: { readonly output?: unknown }
}

/** A block of a message's content. */
type Block = { readonly type?: string; readonly text?: unknown; readonly signature?: unknown; readonly value?: Block }

/** A described message. */
export type Described = {
  readonly role: string
  readonly content: string | readonly Block[] | null
  readonly [member: string]: unknown
}

/** What stands for a text where none is and there has to be one. */
const NOTHING = '…'

/** Stands for a picture: what one weighs does not depend on what it shows. */
const PICTURE = { type: 'image_url', image_url: { url: 'data:image/png;base64,' } }

const MEDIA = new Set([
  'image',
  'image_url',
  'input_image',
  'file',
  'input_file',
  'document',
  'audio',
  'input_audio',
  'video',
])

const THINKING = new Set(['thinking', 'redacted_thinking', 'reasoning_content'])

/** Returns what counts of a message. */
export function described(message: Message): Described {
  const content = describedContent(message.content)
  const { tool_call_id, tool_calls = [] } = message as Members
  switch (message.type) {
    case 'system':
      return { role: 'system', content }
    case 'tool':
      return { role: 'tool', tool_call_id, content }
    case 'ai': {
      // Invalid calls are not executed, and not sent.
      const calls = tool_calls.map(describedCall)
      return calls.length === 0
        ? { role: 'assistant', content: content.length > 0 ? content : NOTHING }
        : { role: 'assistant', content: content.length > 0 ? content : null, tool_calls: calls }
    }
    default:
      return { role: 'user', content: content.length > 0 ? content : NOTHING }
  }
}

function describedCall({ id = '', name = '', args = {} }: Call): object {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } }
}

function describedContent(content: unknown): string | Block[] {
  const blocks = blocksOf(content).flatMap((block): Block | Block[] => {
    if (isText(block)) return { type: 'text', text: block.text }
    return MEDIA.has(block.type ?? '') ? PICTURE : []
  })
  const [first] = blocks
  if (first === undefined) return ''
  return blocks.length === 1 && isText(first) ? first.text : blocks
}

/** Returns the texts of a described message. */
export function textsOf({ content }: Described): string[] {
  return blocksOf(content ?? '')
    .filter(isText)
    .map((block) => block.text)
}

/** Returns a copy of a message with the texts of its described form. Blocks that are not texts, or did not change, stay. */
export function rewritten<M extends Message>(message: M, form: Described): M {
  const texts = textsOf(form)
  if (typeof message.content === 'string') return copied(message, texts.join('\n\n'))
  const blocks = blocksOf(message.content)
  const own = blocks.filter(isText)
  const others = blocks.filter((block) => !isText(block))
  const now = texts.map((text) => own.find((block) => block.text === text) ?? { type: 'text', text })
  const place = blocks.findIndex(isText)
  return copied(message, place < 0 ? [...now, ...others] : [...others.slice(0, place), ...now, ...others.slice(place)])
}

/** Returns a message without the thinking that Anthropic binds to what came before it. */
export function withoutOwnThinking<M extends Message>(message: M): M {
  if (message.type !== 'ai' || !Array.isArray(message.content)) return message
  const blocks = message.content as readonly Block[]
  const others = blocks.filter((block) => !isThinking(block))
  return others.length === blocks.length ? message : copied(message, others)
}

function isThinking({ type = '', signature, value }: Block): boolean {
  return (
    THINKING.has(type) ||
    (type === 'reasoning' && signature !== undefined) ||
    (value !== undefined && isThinking(value))
  )
}

function blocksOf(content: unknown): Block[] {
  if (!Array.isArray(content))
    return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []
  return content.map((block: unknown) => (typeof block === 'string' ? { type: 'text', text: block } : (block as Block)))
}

function isText(block: Block): block is Block & { readonly text: string } {
  return typeof block.text === 'string'
}

/** Returns a copy of a message with another content. */
function copied<M extends Message>(message: M, content: unknown): M {
  const own = Object.getOwnPropertyDescriptors(message)
  const copy = Object.create(Object.getPrototypeOf(message) as object, own) as M & {
    content: unknown
    response_metadata: unknown
  }
  copy.content = content
  // OpenAI's integration sends the items that it keeps there in the place of the content.
  const { output, ...metadata } = (message as Members).response_metadata ?? {}
  if (output !== undefined) copy.response_metadata = metadata
  return copy
}
