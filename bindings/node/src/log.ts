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
  log(`baler: ${message}`)
}
