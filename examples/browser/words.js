/** The text of a message, whatever the wire format: what a reader would want to see of it. */

/** @typedef {{ label: string, text: string }} Part A part of a message; its label is empty if it is plain text. */

/**
 * Returns the list of messages of a request body, or `undefined` if there is none.
 * @param {any} body
 * @returns {any[] | undefined}
 */
export function messagesOf(body) {
  const list = Array.isArray(body) ? body : (body?.messages ?? body?.input ?? body?.contents)
  if (typeof list === 'string') return [{ role: 'user', content: list }]
  return Array.isArray(list) ? list : undefined
}

/** @param {any} message */
export function roleOf(message) {
  return String(message.role ?? message.type ?? 'message').replaceAll('_', ' ')
}

/**
 * @param {any} message
 * @returns {Part[]}
 */
export function partsOf(message) {
  const { type } = message
  if (type === 'reasoning') return [{ label: 'thinking', text: joined(message.summary ?? message.content) || '(encrypted)' }]
  if (type === 'function_call' || type === 'custom_tool_call') return [called(message.name, message.arguments ?? message.input)]
  if (type === 'function_call_output' || type === 'custom_tool_call_output') return [output(message.output)]
  const parts = [message.reasoning_content && { label: 'thinking', text: message.reasoning_content }, ...contentOf(message)]
  for (const call of message.tool_calls ?? []) parts.push(called(call.function?.name ?? call.custom?.name, call.function?.arguments ?? call.custom?.input))
  return parts.filter(Boolean)
}

/** @param {any} message */
function contentOf(message) {
  const content = message.content ?? message.parts
  if (content === null || content === undefined) return []
  if (message.role === 'tool') return [output(content)]
  return typeof content === 'string' ? [{ label: '', text: content }] : [content].flat().map(part)
}

/**
 * @param {any} one
 * @returns {Part}
 */
function part(one) {
  if (typeof one === 'string') return { label: '', text: one }
  if (one.thought === true || one.type === 'thinking') return { label: 'thinking', text: one.thinking ?? one.text ?? '' }
  if (one.reasoningContent) return { label: 'thinking', text: one.reasoningContent.reasoningText?.text ?? '(encrypted)' }
  if (typeof one.text === 'string') return { label: '', text: one.text }
  const call = one.functionCall ?? one.toolUse ?? (one.type === 'tool_use' ? one : undefined)
  if (call) return called(call.name, call.args ?? call.input)
  const answer = one.functionResponse ?? one.toolResult ?? (one.type === 'tool_result' ? one : undefined)
  if (answer) return output(answer.content ?? answer.response, answer.is_error === true || answer.status === 'error')
  return { label: String(one.type ?? Object.keys(one)[0] ?? 'part').replaceAll('_', ' '), text: JSON.stringify(one) }
}

/**
 * @param {string} name
 * @param {unknown} input
 */
function called(name, input) {
  return { label: `call of ${name}`, text: typeof input === 'string' ? input : JSON.stringify(input ?? {}) }
}

/**
 * @param {unknown} content
 * @param {boolean} [failed]
 */
function output(content, failed = false) {
  return { label: failed ? 'tool output, an error' : 'tool output', text: joined(content) }
}

/** @param {any} content */
function joined(content) {
  if (content === undefined || content === null) return ''
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map((one) => (typeof one === 'string' ? one : part(one).text)).join('\n')
  return JSON.stringify(content, null, 1)
}
