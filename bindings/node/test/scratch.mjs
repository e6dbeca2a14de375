/** Folders of the tests. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a folder that is gone when the process ends. */
export function scratch(name) {
  const made = mkdtempSync(join(tmpdir(), `baler-${name}-`))
  process.on('exit', () => rmSync(made, { recursive: true, force: true }))
  return made
}
