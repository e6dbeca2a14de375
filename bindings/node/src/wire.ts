/** Requests of providers' clients, on their way to the provider. */

import type { Format } from './host.js'
import { isTooLong } from './native.js'
import type { Window } from './window.js'

/** A wire format. */
export type WireFormat = Exclude<Format, 'auto'>

/** Ends of paths to which messages are posted, with their wire formats. */
const PATHS: readonly (readonly [string, WireFormat])[] = [
  ['/chat/completions', 'openai-chat'],
  ['/responses', 'openai-responses'],
  ['/messages', 'anthropic'],
  [':generateContent', 'gemini'],
  [':streamGenerateContent', 'gemini'],
  ['/converse', 'bedrock-converse'],
  ['/converse-stream', 'bedrock-converse'],
]

/** Returns the wire format of a request; `undefined` if it holds no messages to compact. */
export function formatOf(method: string | undefined, url: string): WireFormat | undefined {
  if (method?.toUpperCase() !== 'POST') return undefined
  const path = url.replace(/[?#].*$/s, '').replace(/\/$/, '')
  return PATHS.find(([end]) => path.endsWith(end))?.[1]
}

/** Returns the content of a request body; `undefined` for a form, and for anything that `fetch` does not take as a body. */
export async function contentOf(body: unknown): Promise<string | Uint8Array | undefined> {
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  const isRead = [ArrayBuffer, Blob, ReadableStream].some((one) => body instanceof one) || ArrayBuffer.isView(body)
  return isRead ? new Uint8Array(await new Response(body as BodyInit).arrayBuffer()) : undefined
}

/** Returns the headers of a request whose body is another one. */
export function withoutLength(headers: HeadersInit | undefined): Headers {
  const others = new Headers(headers)
  others.delete('content-length')
  return others
}

/** A request: its format, its content, and what ends it. */
export interface Posted {
  format: WireFormat
  content: string | Uint8Array
  signal: unknown
}

/**
 * Sends a request as small as its window asks for, and a smaller one if the provider refuses that as too long. `send`
 * gets the body to send; `undefined` to send the request as it is.
 */
export async function fitted(
  window: Window,
  { format, content, signal }: Posted,
  send: (body?: string) => Promise<Response>,
): Promise<Response> {
  // Clients may bring a class of signals of their own.
  const options = signal instanceof AbortSignal ? { signal } : {}
  const shown = await window.show(format, content, options)
  const response = await send(shown?.document)
  if (response.status < 400) return response
  // The client reads the answer as well.
  const refusal = Buffer.from(await response.clone().arrayBuffer())
  if (!isTooLong(response.status, refusal)) return response
  const smaller = await window.show(format, content, { ...options, less: true })
  return smaller === undefined ? response : send(smaller.document)
}
