/** Where baler tells of what does not stop a call, such as a strategy that failed. */

/** Takes a warning. */
export type Log = (message: string) => void

const standard: Log = (message) => process.emitWarning(message, 'BalerWarning')
let log: Log = standard

/** Sets where warnings go. Default: `process.emitWarning`. `null` restores that; a function that does nothing silences them. */
export function setLog(to: Log | null): void {
  if (to !== null && typeof to !== 'function') throw new TypeError('expected a function, or null')
  log = to ?? standard
}

/** @internal */
export function warn(message: string): void {
  try {
    log(`baler: ${message}`)
  } catch (error) {
    // An error in the log must not end the call.
    standard(`baler: ${message} (the log failed: ${textOf(error)})`)
  }
}

/** Returns what was thrown, as text. */
export function textOf(error: unknown): string {
  try {
    return String(error)
  } catch {
    // Anything can be thrown, also what has no text.
    return 'it threw something that cannot be shown'
  }
}
