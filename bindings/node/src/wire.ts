/** Requests of providers' clients, on their way to the provider. */

import type { Format } from './host.js'
import { NativeUsage, formatOfPath, isTooLong } from './native.js'
import type { Shown, Window } from './window.js'

/** A wire format. */
export type WireFormat = Exclude<Format, 'auto'>

/** Returns the wire format of a request; `undefined` if it holds no messages to compact. */
export function formatOf(method: string | undefined, url: string): WireFormat | undefined {
  if (method?.toUpperCase() !== 'POST') return undefined
  return (formatOfPath(url.replace(/[?#].*$/s, '')) ?? undefined) as WireFormat | undefined
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
  const response = await send(shown.isWhole ? undefined : shown.document)
  if (response.status < 400) return counted(response, shown)
  // The client reads the answer as well.
  const refusal = Buffer.from(await response.clone().arrayBuffer())
  if (!isTooLong(response.status, refusal)) return response
  const smaller = await window.show(format, content, { ...options, less: true })
  return smaller.isWhole ? response : counted(await send(smaller.document), smaller)
}

/** Returns a response that notes the size of its request as it is read. */
function counted(response: Response, shown: Shown): Response {
  const { body, url, redirected, type } = response
  if (!response.ok || !(body instanceof ReadableStream) || body.locked || response.bodyUsed) return response
  const usage = new NativeUsage(/^text\/event-stream/i.test(response.headers.get('content-type') ?? ''))
  // The body is not touched before somebody reads: the runtime gives up the connection of a response that nobody reads.
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  // Also of an answer that is given up or breaks off: some providers tell the size at the beginning.
  const note = () => shown.noteCount(usage.end())
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(out) {
      reader ??= response.body!.getReader()
      const { done, value } = await reader.read().catch((error: unknown) => {
        note()
        throw error
      })
      if (done) {
        note()
        return out.close()
      }
      if (ArrayBuffer.isView(value)) usage.see(value)
      out.enqueue(value)
    },
    cancel(reason) {
      note()
      return (reader ?? response.body!).cancel(reason)
    },
  }
  const made = new Response(new ReadableStream(source, { highWaterMark: 0 }), response)
  // What a constructor does not take.
  return Object.defineProperties(made, { url: { value: url }, redirected: { value: redirected }, type: { value: type } })
}
