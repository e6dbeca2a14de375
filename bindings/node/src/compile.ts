/** Compiles a component in a process of its own, which a host started for that. */

import { compileComponent } from './native.js'

process.exitCode = compileComponent(process.argv) ?? 1
