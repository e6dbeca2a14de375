/** Items of OpenAI's Agents SDK. They are described as those of Responses, which they are made of. */

/** What an item or a part of it holds, by name. */
export type Members = { [name: string]: unknown }

/** Items that the SDK calls by another name than the provider. */
const RESULTS: Record<string, string> = {
  function_call_result: 'function_call_output',
  computer_call_result: 'computer_call_output',
}

/** Parts of which the same is true. */
const PARTS: Record<string, string> = { text: 'input_text', image: 'input_image', file: 'input_file', audio: 'input_audio' }

/** The id that the SDK gives to all messages of models that give none. */
const MADE_UP = 'FAKE_ID'

/** Returns an item as the provider takes it. */
export function described(item: object): Members {
  const { provider_data: data, raw_content: _, ...own } = (inSnakeCase(item) ?? {}) as Members
  // Tools of the provider's own, and what the SDK does not know, are whole in there.
  if (own.type === 'hosted_tool_call' || own.type === 'unknown') return { ...own, type: own.name ?? own.type, ...(data as Members) }
  const type = own.type as string | undefined
  const wire: Members = { ...(data as Members), ...own, type: RESULTS[type ?? 'message'] ?? type ?? 'message' }
  if (wire.id === MADE_UP) delete wire.id
  if (type === 'reasoning') {
    wire.summary = list(own.content).map((part) => ({ ...(part as Members), type: 'summary_text' }))
    delete wire.content
  } else if (Array.isArray(own.content)) wire.content = own.content.map(describedPart)
  if (type === 'function_call_result') wire.output = describedOutput(own.output)
  else if (type === 'computer_call_result') wire.output = describedPart(own.output)
  return wire
}

function describedOutput(output: unknown): unknown {
  if (Array.isArray(output)) return output.map(describedPart)
  const { type, text } = (output ?? {}) as Members
  if (type === 'text') return text
  return type === 'image' || type === 'file' ? [describedPart(output)] : output
}

function describedPart(part: unknown): Members {
  const { type, image, file, audio, data, provider_data, ...others } = (part ?? {}) as Members
  const wire = { ...(provider_data as Members), ...others, type: PARTS[type as string] ?? type }
  if (image !== undefined) return { ...wire, ...source(image, 'image_url', 'image_url') }
  if (file !== undefined) return { ...wire, ...source(file, 'file_url', 'file_data') }
  if (audio !== undefined) return { ...wire, input_audio: { data: audio } }
  return data === undefined ? wire : { ...wire, image_url: data }
}

/** Returns where a picture or a file is. */
function source(given: unknown, ofUrl: string, ofData: string): Members {
  if (typeof given === 'string') return { [given.startsWith('http') ? ofUrl : ofData]: given }
  const { id, file_id = id, url, data, media_type = 'application/octet-stream', filename } = (given ?? {}) as Members
  if (url !== undefined) return { [ofUrl]: url }
  if (data === undefined) return { file_id }
  const base64 = data instanceof Uint8Array ? Buffer.from(data).toString('base64') : String(data)
  const isUrl = base64.startsWith('data:')
  return { filename, [ofData]: isUrl ? base64 : `data:${String(media_type)};base64,${base64}` }
}

function inSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inSnakeCase)
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      inSnakeCase(member),
    ]),
  )
}

/** Returns a copy of an item with the texts that its described form has now. */
export function rewritten<I extends object>(item: I, written: Members): I {
  const { type, role, content, output } = item as Members
  if (type === 'function_call') return { ...item, arguments: written.arguments }
  if (type === 'function_call_result') return { ...item, output: rewrittenParts(output, written.output) }
  if (role === 'user') return { ...item, content: rewrittenParts(content, written.content) }
  if (role === 'assistant') return { ...item, content: list(rewrittenParts(content, written.content), 'output_text') }
  return role === undefined ? item : { ...item, content: textOf(written.content) }
}

/** Parts that did not change stay the same objects. */
function rewrittenParts(before: unknown, after: unknown): unknown {
  if (!Array.isArray(after)) return after
  const parts = new Map(list(before).map((part) => [JSON.stringify(describedPart(inSnakeCase(part))), part]))
  return after.map((part: Members) => parts.get(JSON.stringify(part)) ?? { type: part.type, text: part.text })
}

/** Returns the item for a text that stands in place of others. */
export function inserted({ role, content }: Members): Members {
  const text = textOf(content)
  if (role !== 'assistant') return { type: 'message', role: role === 'user' ? 'user' : 'system', content: text }
  return { type: 'message', role, status: 'completed', content: list(text, 'output_text') }
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : list(content).map((part) => String((part as Members).text ?? '')).join('')
}

/** Returns content that is a list, or a text as one. */
function list(content: unknown, type = 'input_text'): unknown[] {
  if (Array.isArray(content)) return content as unknown[]
  return content == null ? [] : [{ type, text: content }]
}
