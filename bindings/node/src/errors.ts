/** What can go wrong. All errors of baler are a `BalerError`; arguments of a wrong type are a `TypeError`. */

import { NAMES } from './options.js'

/** Base of all errors of baler. */
export class BalerError extends Error {
  /** The option that it is about, if it is about one. */
  readonly option: string | undefined

  constructor(message: string, details: { option?: string | undefined; cause?: unknown } = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.name = new.target.name
    this.option = details.option
  }
}

/** What was given is not a conversation. The message names the place. */
export class ConversationError extends BalerError {}

/** An option has a value that is not allowed. The message says what is. */
export class OptionError extends BalerError {}

/** A strategy cannot be used: its file, its contract, or what it wants to do. */
export class StrategyError extends BalerError {}

/** The config of a strategy does not fit its schema. */
export class ConfigError extends StrategyError {}

/** Removed content could not be archived, so nothing was removed; or it could not be read back. */
export class ArchiveError extends BalerError {}

/** baler or the machine failed: a folder that cannot be written, no memory, too many calls at once. */
export class HostError extends BalerError {}

const CLASSES: Record<string, typeof BalerError> = {
  ConversationError,
  OptionError,
  StrategyError,
  ConfigError,
  ArchiveError,
  HostError,
}

const OPTIONS: ReadonlySet<string> = new Set(Object.values(NAMES).flat())

const REMEDIES: Record<string, string> = {
  'grant-model':
    ': load it with `mayAskModel: true`, or list it in `baler.toml` with `grant = ["model"]`, if you trust it with the ' +
    'conversation and the cost',
  'give-model': ": give one, such as `new Host({ model: 'openai:gpt-5-mini' })`",
  'load-file': '. Load a file with `Strategy.load(path)`',
  'give-archive': ': create it with a state folder or with `archive`',
}

/** Returns the error for one of the native part, which has its parts as JSON in its message. */
export function raised(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.startsWith('{')) return error
  const { kind, option, message, remedy } = JSON.parse(error.message) as {
    kind: string
    option: string | null
    message: string
    remedy: string | null
  }
  if (kind === 'CancelledError') return new DOMException(message, 'AbortError')
  const name = option === null ? undefined : camel(option)
  const place = name === undefined ? '' : `\`${name}\`: `
  // Names of options as JavaScript has them; wire formats have such names too.
  const words = message.replace(/`([a-z]+(?:[-_][a-z]+)+)`/g, (all, word: string) => {
    const known = camel(word)
    return OPTIONS.has(known) ? `\`${known}\`` : all
  })
  const Class = CLASSES[kind] ?? HostError
  return new Class(place + words + (remedy === null ? '' : (REMEDIES[remedy] ?? '')), { option: name })
}

/** Runs `work`, and throws errors of the native part as those of this package. */
export function checked<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw raised(error)
  }
}

function camel(name: string): string {
  return name.replace(/[-_]([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
