/**
 * What the host's module asks of WASI: the time and random numbers. There are no files, no environment and no arguments;
 * what it writes to standard error goes to the console.
 */

const SUCCESS = 0
const BAD_DESCRIPTOR = 8
const NOT_SUPPORTED = 58

/**
 * Returns the imports of a module.
 * @param {WebAssembly.Module} module
 * @param {() => WebAssembly.Memory} memory
 * @returns {WebAssembly.Imports}
 */
export function wasi(module, memory) {
  const view = () => new DataView(memory().buffer)
  const bytes = (/** @type {number} */ at, /** @type {number} */ length) => new Uint8Array(memory().buffer, at, length)
  /** @type {Record<string, (...args: any[]) => number>} */
  const known = {
    random_get(at, length) {
      // The browser gives 65,536 bytes at once.
      for (let done = 0; done < length; done += 65_536) {
        crypto.getRandomValues(bytes(at + done, Math.min(65_536, length - done)))
      }
      return SUCCESS
    },
    clock_time_get(id, _precision, at) {
      // Monotonic time is what is measured with; the other is the date.
      const milliseconds = id === 0 ? Date.now() : performance.now()
      view().setBigUint64(at, BigInt(Math.round(milliseconds * 1e6)), true)
      return SUCCESS
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true)
      view().setUint32(size, 0, true)
      return SUCCESS
    },
    environ_get: () => SUCCESS,
    fd_write(_descriptor, vectors, count, written) {
      let text = ''
      let total = 0
      for (let index = 0; index < count; index += 1) {
        const at = view().getUint32(vectors + index * 8, true)
        const length = view().getUint32(vectors + index * 8 + 4, true)
        text += new TextDecoder().decode(bytes(at, length).slice())
        total += length
      }
      console.error(text.trimEnd())
      view().setUint32(written, total, true)
      return SUCCESS
    },
    sched_yield: () => SUCCESS,
    fd_prestat_get: () => BAD_DESCRIPTOR,
    proc_exit(code) {
      throw new Error(`the host ended with code ${code}`)
    },
  }
  /** @type {Record<string, Record<string, Function>>} */
  const imports = {}
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {}
    imports[from][name] = known[name] ?? (() => NOT_SUPPORTED)
  }
  return /** @type {WebAssembly.Imports} */ (imports)
}
