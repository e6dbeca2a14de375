/** `npx baler` runs the program that comes with the library. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { platformPackage, program } from '../dist/program.js'
import { bug, folder, running, sleep } from './support.mjs'
import { scratch } from './scratch.mjs'

const isWindows = process.platform === 'win32'

/** Runs `bin/baler.js` of a folder. */
function started(where, ...argv) {
  const child = spawn(process.execPath, running(join(where, 'bin/baler.js'), ...argv), { cwd: tmpdir() })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (data) => (stdout += data))
  child.stderr.on('data', (data) => (stderr += data))
  const ended = new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr })))
  return { child, ended, output: () => stdout }
}

/** A copy of the package without a library, with a script in place of the program where `place` says. */
function copied(place, script) {
  const where = scratch('program')
  for (const part of ['bin', 'dist', 'node_modules', `node_modules/${platformPackage}`]) mkdirSync(join(where, part))
  for (const file of ['package.json', 'bin/baler.js', 'dist/program.js']) copyFileSync(join(folder, file), join(where, file))
  if (place !== undefined) {
    writeFileSync(join(where, `node_modules/${platformPackage}/package.json`), '{}')
    writeFileSync(join(where, place), `#!/bin/sh\n${script}\n`)
    chmodSync(join(where, place), 0o755)
  }
  return where
}

const inPackage = `node_modules/${platformPackage}/baler`

test('a program that is missing is a clear error', async () => {
  const { code, stdout, stderr } = await started(copied()).ended
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, new RegExp(`^baler: the program is missing: expected it in the package \`${platformPackage}\`.*install`))
  assert.equal(stderr.trim().split('\n').length, 1)
})

test('the program of the package of the platform runs, with its arguments', { skip: isWindows }, async () => {
  const { code, stdout } = await started(copied(inPackage, 'printf "%s|" "$@"'), 'compact', 'a b', '--x=$HOME', '').ended
  assert.deepEqual([code, stdout], [0, 'compact|a b|--x=$HOME||'])
})

test('the program of a local build takes precedence, as its library does', { skip: isWindows }, async () => {
  const where = copied(inPackage, 'echo package')
  writeFileSync(join(where, 'dist/baler'), '#!/bin/sh\necho local\n', { mode: 0o755 })
  assert.equal((await started(where).ended).stdout, 'local\n')
})

test('a program that cannot be started is a clear error', { skip: isWindows }, async () => {
  const where = copied(inPackage, '')
  chmodSync(join(where, inPackage), 0o644)
  const { code, stderr } = await started(where).ended
  assert.equal(code, 1)
  assert.match(stderr, /^baler: the program `.*` cannot be started: .*EACCES/)
})

test('exit codes and standard input pass', { skip: isWindows }, async () => {
  for (const code of [0, 2, 77]) assert.equal((await started(copied(inPackage, `exit ${code}`)).ended).code, code)
  const { child, ended } = started(copied(inPackage, 'read line; echo "$line" >&2; exit 3'))
  child.stdin.end('water\n')
  const { code, stderr } = await ended
  assert.deepEqual([code, stderr], [3, 'water\n'])
})

// `npx` takes Node.js. Deno tells of a program that ended in its own way as of one that a signal ended.
test('signals pass, and end both', { skip: isWindows || 'Deno' in globalThis }, async () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // What ends by the signal.
    const mortal = started(copied(inPackage, 'echo up; while :; do sleep 0.05; done'))
    while (mortal.output() === '') await sleep(10)
    mortal.child.kill(signal)
    assert.deepEqual([(await mortal.ended).signal, mortal.output()], [signal, 'up\n'])
    // What ends in its own way.
    const own = started(copied(inPackage, `trap 'echo down; exit 5' ${signal.slice(3)}; echo up; while :; do sleep 0.05; done`))
    while (own.output() === '') await sleep(10)
    own.child.kill(signal)
    const { code, stdout } = await own.ended
    assert.deepEqual([code, stdout], [5, 'up\ndown\n'])
  }
})

test('the real one compacts', { skip: program() === undefined && 'it is not built here' }, async () => {
  assert.ok(existsSync(program()))
  const { child, ended } = started(folder, 'compact', '--strategy', 'native:digest', '-')
  child.stdin.end(JSON.stringify(bug()))
  const { code, stdout, stderr } = await ended
  assert.equal(code, 0, stderr)
  assert.equal(JSON.parse(stdout).model, bug().model)
})
