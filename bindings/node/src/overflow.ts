/** Errors that say that a request is too long for its model. */

import { isTooLong, saysTooLong } from './native.js'

/** Errors that are looked into, which wrap one another. */
const MOST = 8

/** Decides whether an error of the AI SDK says that the provider refused a request as too long. */
export function isOverflow(error: unknown): boolean {
  for (let wraps = 0; typeof error === 'object' && error !== null && wraps < MOST; wraps += 1) {
    const { statusCode, responseBody, message, cause, lastError } = error as Record<string, unknown>
    if (typeof statusCode === 'number' && typeof responseBody === 'string') {
      if (isTooLong(statusCode, Buffer.from(responseBody))) return true
    }
    if (typeof message === 'string' && saysTooLong(message)) return true
    error = lastError ?? cause
  }
  return typeof error === 'string' && saysTooLong(error)
}
