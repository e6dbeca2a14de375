/** Makes a strategy of a component's file. It is transpiled here, by the transpiler of jco, which is loaded only for that. */

const COMPONENT = [0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]
const OFFERED = ['history', 'tokenizer', 'log', 'model', 'types'].map((name) => `baler:compaction/${name}`)
const STRATEGY = 'baler:compaction/strategy'
const DEADLINE = 30_000

/** @param {Uint8Array} bytes */
export function isWebAssembly(bytes) {
  return COMPONENT.slice(0, 4).every((byte, at) => bytes[at] === byte)
}

/**
 * @param {string} file
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {Promise<{ name: string, module: string, files: Record<string, string>, hash: string }>}
 */
export async function strategyOf(file, bytes) {
  if (!COMPONENT.every((byte, at) => bytes[at] === byte)) {
    throw new Error(`${file} is a WebAssembly module, not a component. Build it for the target wasm32-wasip2, or wrap it with \`wasm-tools component new\`.`)
  }
  const hash = hex(await crypto.subtle.digest('SHA-256', bytes))
  const { files, imports, exports } = await transpiled(file, bytes)
  check(file, imports, exports.map(([name]) => name))
  /** @type {Record<string, string>} */
  const urls = {}
  for (const [name, content] of files) {
    const type = name.endsWith('.js') ? 'text/javascript' : 'application/wasm'
    urls[name] = URL.createObjectURL(new Blob([content], { type }))
  }
  return { name: file.replace(/\.wasm$/i, ''), module: urls['strategy.js'], files: urls, hash }
}

/**
 * @param {string} file
 * @param {string[]} imports
 * @param {string[]} exports
 */
function check(file, imports, exports) {
  if (!exports.some((name) => unversioned(name) === STRATEGY)) {
    throw new Error(`${file} is a component, but no strategy: it exports ${listed(exports)}, and a strategy exports ${STRATEGY}. Build it with baler's SDK, or from its wit folder.`)
  }
  const other = imports.filter((name) => !OFFERED.includes(unversioned(name)))
  if (other.length > 0) {
    throw new Error(`${file} asks for ${listed(other)}, which a strategy does not get. Build it without WASI (baler's guide to strategies says how).`)
  }
}

/**
 * @param {string} file
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {Promise<{ files: [string, Uint8Array<ArrayBuffer>][], imports: string[], exports: [string, string][] }>}
 */
async function transpiled(file, bytes) {
  const worker = new Worker(new URL('./transpile-worker.js', import.meta.url), { type: 'module' })
  try {
    return await new Promise((resolve, reject) => {
      const fail = (/** @type {string} */ why) => reject(new Error(`${file} cannot be transpiled: ${why.replace(/\s+/g, ' ')}`))
      setTimeout(fail, DEADLINE, `it took longer than ${DEADLINE / 1_000} s. Give a smaller component.`)
      worker.addEventListener('error', () => fail('the transpiler cannot be loaded. Look whether the folder `transpiler` is beside the page (`transpiler.sh` makes it).'))
      worker.addEventListener('message', ({ data }) => (data.error === undefined ? resolve(data.made) : fail(`${data.error}. Give a component as a compiler wrote it.`)))
      worker.postMessage(bytes)
    })
  } finally {
    worker.terminate()
  }
}

/** @param {string} name */
function unversioned(name) {
  return name.split('@')[0]
}

/** @param {string[]} names */
function listed(names) {
  const shown = names.slice(0, 4).join(', ')
  return names.length === 0 ? 'nothing' : names.length > 4 ? `${shown} and ${names.length - 4} more` : shown
}

/** @param {ArrayBuffer} buffer */
function hex(buffer) {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
