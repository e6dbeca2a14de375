/** Options by name, on their way to the native part. */

import { OptionError } from './errors.js'
import { toJson } from './json.js'
import { NAMES } from './options.js'

/** Returns options as JSON, in the names of the native part. */
export function optionsJson(group: keyof typeof NAMES, options: object): string {
  const known: readonly string[] = NAMES[group]
  const inner = group === 'CompactOptions' ? [...known, ...NAMES.ReadOptions] : known
  const named: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(options)) {
    if (!inner.includes(name)) {
      throw new OptionError(`no option is called \`${name}\`; known: ${inner.join(', ')}`)
    }
    if (value !== undefined) named[snake(name)] = value
  }
  return toJson(named, '', (message, cause) => new OptionError(message, cause === undefined ? {} : { cause }))
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
