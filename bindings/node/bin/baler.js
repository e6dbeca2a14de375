#!/usr/bin/env node
/** Runs the program `baler`, which is part of the package of the platform. */

import { spawn } from 'node:child_process'
import { platformPackage, program } from '../dist/program.js'

const path = program()
if (path === undefined) {
  console.error(
    `baler: the program is missing: expected it in the package \`${platformPackage}\` or in \`dist\`; install \`baler\` with its ` +
      'optional dependencies (npm: without `--omit=optional`), or build it with `build.sh`',
  )
  process.exit(1)
}

// What is typed in a terminal reaches the program too, and it must not get it twice.
const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY)
// Before the program runs, so that no signal ends this process alone.
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP']) {
  const isTyped = hasTerminal && (signal === 'SIGINT' || signal === 'SIGQUIT')
  process.on(signal, () => isTyped || child.kill(signal))
}

const child = spawn(path, process.argv.slice(2), { stdio: 'inherit' })
child.on('error', (error) => {
  console.error(`baler: the program \`${path}\` cannot be started: ${error.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})
