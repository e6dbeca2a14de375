/**
 * baler in the browser: the same host, in WebAssembly, around strategies in a worker.
 *
 * ```js
 * import { Host } from '@baler/browser'
 *
 * const host = await Host.load()
 * const { document, receipt } = await host.compact(JSON.stringify(body), { budget: '50%', strategy: 'sliding-window' })
 * ```
 */

import { BalerError } from './errors.js'

export { BalerError }

/**
 * A strategy: the name of a native one (`native:digest`, `native:truncate`), of one that was shipped with this package, or a component
 * that jco transpiled, with the SHA-256 of its file (`hash`, 64 hex digits). `files`: where its core modules are, by file name; those that
 * are not named are beside `module`.
 * @typedef {string | { name: string, module: string | URL, hash: string, files?: Record<string, string>, config?: object }} Strategy
 */

/**
 * Where the files of this package are, if not beside it.
 * @typedef {{ core?: string | URL, worker?: string | URL, strategies?: string | URL }} Files
 */

/**
 * @typedef {object} CompactOptions
 * @property {number | string} [budget] Tokens, or a share such as `50%`. Default: `50%`.
 * @property {Strategy | Strategy[]} [strategy] Default: `native:digest`, which needs no download.
 * @property {string} [format] The wire format. Default: it is detected.
 * @property {number} [used] Tokens that the provider reported.
 * @property {string} [tokenizer] `characters`, or none for an estimate: a token for four bytes.
 * @property {number} [timeout] Seconds after which a strategy is ended, and `native:digest` takes its place. Default: 5.
 * @property {(request: { instructions: string, prompt: string, maxOutputTokens: number }) => string | Promise<string>} [model]
 * @property {'first-user' | 'none' | number[]} [pins]
 * @property {boolean} [required]
 */

/**
 * @typedef {object} Result
 * @property {string} document The request to send, as JSON.
 * @property {boolean} isCompacted
 * @property {any} receipt What was done and why, as of every host (`docs/receipt.schema.json`).
 * @property {['kept' | 'changed' | 'inserted', number | null, string | null][]} messages
 * @property {('kept' | 'rewritten' | 'removed')[]} units
 * @property {string | null} ended Why the strategy was ended and another took its place; `null` if it was not.
 */

/** The host. Calls take turns. */
export class Host {
  /** @type {Worker | undefined} */
  #worker
  #files
  #calls = 0
  /** @type {Promise<unknown>} */
  #turn = Promise.resolve()
  /** @type {Promise<Record<string, { hash: string, writesDigests: boolean }>> | undefined} */
  #shipped
  /** @type {((data: any) => void) | undefined} */
  #told

  /** @param {{ core: URL, worker: URL, strategies: URL }} files */
  constructor(files) {
    this.#files = files
  }

  /**
   * Loads the host.
   * @param {Files} [files]
   */
  static async load(files = {}) {
    const here = import.meta.url
    const host = new Host({
      core: new URL(files.core ?? './baler.wasm', here),
      worker: new URL(files.worker ?? './worker.js', here),
      strategies: new URL(files.strategies ?? './strategies/', here),
    })
    await host.#start()
    return host
  }

  /**
   * Reads a conversation: `format`, `tokens`, `units`, and `validation`.
   * @param {string | Uint8Array} document
   * @param {{ format?: string, used?: number, tokenizer?: string }} [options]
   * @returns {Promise<any>}
   */
  read(document, options = {}) {
    return this.#inTurn(() => this.#call('read', { document, options }))
  }

  /**
   * Fits a conversation into a budget. What comes back is a conversation that the provider accepts, or the same one.
   * @param {string | Uint8Array} document
   * @param {CompactOptions} [options]
   * @returns {Promise<Result>}
   */
  compact(document, options = {}) {
    return this.#inTurn(() => this.#compact(document, options))
  }

  /** Restores the document before the last compaction. @returns {Promise<string>} */
  undo() {
    return this.#inTurn(() => this.#call('undo', {}))
  }

  /** Names of the strategies that ship with this package. @returns {Promise<string[]>} */
  async strategies() {
    return ['native:digest', 'native:truncate', ...Object.keys(await this.#list())]
  }

  /** Ends the worker. */
  close() {
    this.#worker?.terminate()
    this.#worker = undefined
  }

  /**
   * @param {string | Uint8Array} document
   * @param {CompactOptions} options
   */
  async #compact(document, { strategy = 'native:digest', format, used, tokenizer, timeout = 5, model, ...own }) {
    const chain = Array.isArray(strategy) ? strategy : [strategy]
    const strategies = chain.map((one) => this.#located(one))
    const listed = await Promise.all(chain.map((one) => this.#listed(one)))
    const how = { options: own, format, used, tokenizer, chain: listed }
    const given = { document, how, strategies, hasModel: model !== undefined }
    try {
      return { ...(await this.#call('compact', given, timeout, model)), ended: null }
    } catch (error) {
      if (!(error instanceof Ended)) throw error
      const again = { ...given, how: { ...how, chain: ['native:digest'] }, strategies: [undefined] }
      return { ...(await this.#call('compact', again)), ended: error.message }
    }
  }

  /** @param {Strategy} strategy */
  #located(strategy) {
    if (typeof strategy !== 'string') {
      const module = String(strategy.module)
      return { module, files: strategy.files ?? {} }
    }
    if (strategy.startsWith('native:')) return undefined
    const module = new URL(`${strategy}/${strategy}.js`, this.#files.strategies).href
    return { module, files: {} }
  }

  /** @param {Strategy} strategy */
  async #listed(strategy) {
    if (typeof strategy !== 'string') {
      const { name, hash, config } = strategy
      return { name, hash, ...(config === undefined ? {} : { config: JSON.stringify(config) }) }
    }
    if (strategy.startsWith('native:')) return strategy
    const shipped = await this.#list()
    const known = shipped[strategy]
    if (known !== undefined) return { name: strategy, ...known }
    const names = ['native:digest', 'native:truncate', ...Object.keys(shipped)].join(', ')
    throw new BalerError('StrategyError', `no strategy is called \`${strategy}\`; known: ${names}`)
  }

  #list() {
    this.#shipped ??= fetched(new URL('index.json', this.#files.strategies)).then((answer) => answer.json())
    return this.#shipped
  }

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  #inTurn(work) {
    const made = this.#turn.then(work, work)
    this.#turn = made.catch(() => {})
    return made
  }

  async #start() {
    this.#worker = new Worker(this.#files.worker, { type: 'module' })
    this.#worker.addEventListener('message', ({ data }) => this.#told?.(data))
    this.#worker.addEventListener('error', ({ message }) => this.#told?.({ id: this.#calls, error: { kind: 'HostError', message: message ?? 'the worker cannot be started', option: null } }))
    await this.#call('load', { core: this.#files.core.href })
  }

  /**
   * @param {string} task
   * @param {any} given
   * @param {number} [timeout] Seconds.
   * @param {CompactOptions['model']} [model]
   * @returns {Promise<any>}
   */
  async #call(task, given, timeout, model) {
    if (this.#worker === undefined) await this.#start()
    const worker = /** @type {Worker} */ (this.#worker)
    this.#calls += 1
    const id = this.#calls
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    try {
      return await new Promise((resolve, reject) => {
        const wind = () => {
          clearTimeout(timer)
          if (timeout === undefined) return
          timer = setTimeout(() => {
            this.close()
            reject(new Ended(`it took longer than ${timeout} s`))
          }, timeout * 1_000)
        }
        this.#told = async (data) => {
          if (data.question !== undefined) {
            // The time of the model is not that of the strategy.
            clearTimeout(timer)
            try {
              worker.postMessage({ answer: data.question, text: String(await model?.(data.request)) })
            } catch (error) {
              worker.postMessage({ answer: data.question, error: String(error) })
            }
            wind()
          } else if (data.id === id) {
            if (data.error === undefined) resolve(data.made)
            else reject(new BalerError(data.error.kind, data.error.message, data.error.option))
          }
        }
        wind()
        worker.postMessage({ id, task, given })
      })
    } finally {
      clearTimeout(timer)
      this.#told = undefined
    }
  }
}

/** A strategy was ended at its deadline. */
class Ended extends Error {}

/** @param {URL} url */
async function fetched(url) {
  const answer = await fetch(url)
  if (!answer.ok) throw new BalerError('HostError', `${url} cannot be loaded: ${answer.status} ${answer.statusText}`)
  return answer
}
