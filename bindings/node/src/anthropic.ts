/**
 * For the client of Anthropic (`@anthropic-ai/sdk`), whatever framework calls it.
 *
 * ```ts
 * const client = new Anthropic({ middleware: [balerMiddleware({ contextWindow: 200_000 })] })
 * ```
 *
 * Versions without `middleware` take `fetch: balerFetch({ … })`.
 */

import type { WindowOptions } from './options.js'
import { Window } from './window.js'
import { contentOf, fitted, formatOf, withoutLength } from './wire.js'

export { balerFetch, type Fetch } from './openai.js'

/** A request, as the client's middleware gets it. */
export interface MiddlewareRequest {
  url: string
  method?: string
  headers: Headers
  body?: unknown
  signal?: AbortSignal | null
}

/** The rest of the chain of middleware, which sends a request. */
export type MiddlewareNext<R> = (request: R) => Promise<Response>

/**
 * Returns a middleware that compacts messages, and sends fewer if the provider refuses them as too long. Responses pass
 * unchanged, streams included.
 *
 * It runs before the client adapts a request to Bedrock or Vertex and signs it, so it serves these too.
 */
export function balerMiddleware(options: WindowOptions) {
  const window = new Window(options)
  /** Runs for each attempt of the client. */
  return async <R extends MiddlewareRequest>(request: R, next: MiddlewareNext<R>): Promise<Response> => {
    const format = formatOf(request.method, request.url)
    const content = format === 'anthropic' ? await contentOf(request.body) : undefined
    if (format === undefined || content === undefined) return next(request)
    return fitted(window, { format, content, signal: request.signal }, (body) =>
      next(body === undefined ? request : { ...request, headers: withoutLength(request.headers), body }),
    )
  }
}
