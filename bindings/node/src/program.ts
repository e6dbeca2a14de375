/** The program `baler`, which comes with the native library. */

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What the names of platforms' packages end with. */
const ABIS: Partial<Record<NodeJS.Platform, string>> = { linux: '-gnu', win32: '-msvc' }

/** The package of this platform, which holds the library and the program. */
export const platformPackage = `baler-${process.platform}-${process.arch}${ABIS[process.platform] ?? ''}`

/** Returns the path of the program: that of a local build, as `native.js` prefers it, or that of the platform's package. */
export function program(): string | undefined {
  const name = process.platform === 'win32' ? 'baler.exe' : 'baler'
  const folders = [dirname(fileURLToPath(import.meta.url))]
  try {
    folders.push(dirname(createRequire(import.meta.url).resolve(`${platformPackage}/package.json`)))
  } catch {
    // A local build has no such package.
  }
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}
