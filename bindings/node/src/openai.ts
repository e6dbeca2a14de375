/**
 * For clients that take a `fetch`: those of OpenAI, Anthropic and Google, and any framework on top of them.
 *
 * ```ts
 * const client = new OpenAI({ fetch: balerFetch({ contextWindow: 400_000 }) })
 * ```
 */

import { warn } from './log.js'
import type { WindowOptions } from './options.js'
import { Window } from './window.js'
import { contentOf, fitted, formatOf, withoutLength } from './wire.js'

/** A `fetch`, as clients take it. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * Returns a `fetch` that compacts requests to model providers, and sends a smaller one if the provider refuses one as too
 * long. `inner` sends them.
 *
 * It serves Chat Completions, Responses, Anthropic Messages, `generateContent` of Gemini and Converse of Bedrock. Other
 * requests pass unchanged, and so do all responses, streams included.
 */
export function balerFetch(options: WindowOptions, inner: Fetch = globalThis.fetch): Fetch {
  const window = new Window(options)
  let hasWarned = false
  return async (...sent) => {
    const [input, init] = sent
    const request = typeof input === 'object' && 'url' in input ? input : undefined
    const format = formatOf(init?.method ?? request?.method, request?.url ?? String(input))
    if (format === undefined) return inner(...sent)
    const headers = withoutLength(init?.headers ?? request?.headers)
    if (headers.get('authorization')?.startsWith('AWS4-')) {
      if (!hasWarned) warn('requests that are signed with their body pass as they are; use an API key, or sign in `inner`')
      hasWarned = true
      return inner(...sent)
    }
    const content = await contentOf(init?.body ?? request?.clone().body)
    if (content === undefined) return inner(...sent)
    // A stream can be read once.
    const asItIs: typeof sent = init?.body instanceof ReadableStream ? [input, { ...init, body: content as BodyInit }] : sent
    return fitted(window, { format, content, signal: init?.signal ?? request?.signal }, (body) =>
      body === undefined ? inner(...asItIs) : inner(input, { ...init, headers, body }),
    )
  }
}
