/**
 * Fits an AI agent's conversation into its model's context window.
 *
 * ```ts
 * import { compact } from 'baler'
 *
 * const { messages } = await compact(history, { budget: 100_000 })    // kept messages are the same objects
 * ```
 *
 * A *strategy* decides what to keep: one that ships with baler, a `.wasm` file of anybody in a sandbox, or a function. Whatever it
 * does, the result is a conversation that the provider accepts, or the same conversation with the reason. Removed content is
 * archived first, so that `Compaction.undo` restores it.
 */

export type { CallOptions, WaitOptions } from './calls.js'
export {
  compact,
  compactSync,
  count,
  countSync,
  introspect,
  introspectSync,
  repair,
  repairSync,
  shouldCompact,
  shouldCompactSync,
  validate,
  validateSync,
  type Conversation,
  type Form,
  type Introspection,
  type Repaired,
  type Validation,
  type Violation,
} from './compact.js'
export type { Change, Compaction, Receipt } from './compaction.js'
export { Compactor, type CompactorStart, type Step } from './compactor.js'
export {
  ArchiveError,
  BalerError,
  ConfigError,
  ConversationError,
  HostError,
  OptionError,
  StrategyError,
} from './errors.js'
export { Host, type Format, type ModelFunction, type ModelRequest } from './host.js'
export { setLog, type Log } from './log.js'
export type { CompactOptions, CompactorOptions, HostOptions, ReadOptions, StrategyOptions, WindowOptions } from './options.js'
export { Strategy, type AnyStrategy, type Plan, type PlanFunction, type PlanRequest } from './strategy.js'
export { Window, type ShowOptions, type Shown } from './window.js'

import { strategies as shipped, version as ofNative } from './native.js'

/** Returns the names of the strategies that ship with baler. */
export function strategies(): string[] {
  return shipped()
}

/** The version of the package. */
export const version: string = ofNative()
