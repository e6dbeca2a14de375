/** Options by name, on their way to the native part. */

import { OptionError } from './errors.js'
import { found, kind, toJson } from './json.js'
import { NAMES } from './options.js'

/** Options of every call. */
export const OF_CALLS = ['timeout', 'signal'] as const

/** Returns options as JSON, in the names of the native part. */
export function optionsJson(group: keyof typeof NAMES, options: object): string {
  const named = Object.entries(only(options, NAMES[group])).filter(([, value]) => value !== undefined)
  const members = named.map(([name, value]) => `"${snake(name)}":${optionJson(name, value)}`)
  return `{${members.join(',')}}`
}

/** Returns the value of an option as JSON. */
export function optionJson(name: string, value: unknown): string {
  return toJson(value, name, (message, cause) => {
    return new OptionError(message, { option: name, ...(cause === undefined ? {} : { cause }) })
  })
}

/** Returns options after a check that none is unknown. */
export function only<T>(options: T, known: readonly string[]): T {
  if (typeof options !== 'object' || options === null) throw new TypeError(`expected options, found ${kind(options)}`)
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return options
  throw new OptionError(`no option is called \`${unknown}\`; known: ${known.join(', ')}`)
}

/** Returns the error for an option with a value that is not allowed. */
export function notAllowed(option: string, expected: string, given: unknown): OptionError {
  return new OptionError(`\`${option}\`: expected ${expected}, found ${found(given)}`, { option })
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
