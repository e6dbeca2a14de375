/** The types of results follow the form of what was given. */

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'

import ts from 'typescript'

test('types say what comes out', () => {
  const program = ts.createProgram([fileURLToPath(new URL('types.ts', import.meta.url))], {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    types: ['node'],
  })
  const host = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => '.', getNewLine: () => '\n' }
  const found = ts.getPreEmitDiagnostics(program)
  assert.equal(ts.formatDiagnostics(found, host), '')
  assert.ok(program.getSourceFiles().some(({ fileName }) => fileName.endsWith('dist/index.d.ts')))
})
