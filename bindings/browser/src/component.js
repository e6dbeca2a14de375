/** Runs a strategy: a component as jco transpiled it, with what it may ask of the conversation. */

/**
 * The module that `jco transpile --instantiation async` makes of a component.
 * @typedef {{ instantiate: (module: (path: string) => WebAssembly.Module | Promise<WebAssembly.Module>, imports: object) => Promise<any> }} Transpiled
 */

/** @typedef {import('./core.js').Core} Core */
/** @typedef {import('./core.js').Question} Question */

const UNIT_TRAITS = ['protected', 'pinned', 'pending', 'live', 'unseen', 'failed', 'thinking', 'media', 'opaque', 'calls', 'finished']
const PART_TRAITS = ['rewritable', 'excerptable', 'rewritten', 'excerpted', 'removable']
const CONTRACT = 'baler:compaction'

/** Called for a question of a strategy to a model; returns the text of the answer. */
/** @typedef {(request: { instructions: string, prompt: string, maxOutputTokens: number }) => string | Promise<string>} Model */

/** A strategy ready to be asked. */
export class Component {
  /**
   * @param {Transpiled} transpiled
   * @param {(path: string) => WebAssembly.Module | Promise<WebAssembly.Module>} module Its core modules by file name.
   */
  constructor(transpiled, module) {
    this.transpiled = transpiled
    this.module = module
  }

  /**
   * Asks it, in an instance of its own: no call leaves anything behind.
   * @param {Question} question
   * @param {Core} core
   * @param {Model} [model]
   * @returns {Promise<string | null>} JSON, or `null` if it trapped.
   */
  async ask(question, core, model) {
    /** @type {string[]} */
    const answers = []
    for (;;) {
      const asked = await this.#run(question, core, model === undefined ? undefined : answers)
      if (!(asked instanceof Asks)) return asked
      // The strategy runs again with the answers that there are so far: it is deterministic, so it comes back to the
      // next question. That needs no suspending of WebAssembly, which not every browser has.
      answers.push(await /** @type {Model} */ (model)(asked.request))
    }
  }

  /**
   * @param {Question} question
   * @param {Core} core
   * @param {string[] | undefined} answers
   */
  async #run(question, core, answers) {
    let asked = 0
    const imports = {
      [`${CONTRACT}/history`]: {
        units: () => figures(core.units()),
        read: (/** @type {number} */ first, /** @type {number} */ count) => core.messages(first, count).map(unit),
        reference: (/** @type {number} */ of) => core.reference(of),
        tools: () => core.tools(),
      },
      [`${CONTRACT}/tokenizer`]: { count: (/** @type {string} */ text) => core.count(text) },
      [`${CONTRACT}/log`]: { emit: () => {} },
      [`${CONTRACT}/model`]: {
        available: () => (answers === undefined ? undefined : { name: 'page', contextWindow: 128_000, maxOutputTokens: 4_096 }),
        complete(/** @type {any} */ request) {
          const text = answers?.[asked]
          asked += 1
          if (text !== undefined) return { text, finish: 'stop', inputTokens: 0, outputTokens: 0 }
          if (answers !== undefined) throw new Asks(request)
          throw Object.assign(new Error('refused'), { payload: { tag: 'refused', val: 'no model was granted' } })
        },
      },
    }
    try {
      const instance = await this.transpiled.instantiate(this.module, imports)
      const strategy = instance.strategy ?? instance[`${CONTRACT}/strategy@0.1.0`] ?? instance[`${CONTRACT}/strategy`]
      return answerOf(question, strategy)
    } catch (error) {
      return error instanceof Asks ? error : null
    }
  }
}

/** A question of the strategy to the model, which ends its run. */
class Asks extends Error {
  /** @param {any} request */
  constructor(request) {
    super('asks a model')
    this.request = request
  }
}

/**
 * @param {Question} question
 * @param {any} strategy
 */
function answerOf({ operation, config, situation }, strategy) {
  const seen = situation === null ? null : JSON.parse(situation)
  try {
    if (operation === 'introspect') return JSON.stringify(described(strategy.introspect(config === '' ? undefined : config)))
    if (operation === 'should-compact') {
      const { tag, val } = strategy.shouldCompact(seen, config)
      return JSON.stringify({ decision: tag, reason: val ?? '' })
    }
    const { outcome, metrics } = strategy.compact(seen, config)
    // A metric's value says by itself of which kind it is.
    const measured = metrics.map((/** @type {any} */ { name, value }) => ({ name, value: value.val }))
    return JSON.stringify({ outcome: plain(outcome), metrics: measured })
  } catch (error) {
    const failure = /** @type {any} */ (error)?.payload
    if (failure?.tag === undefined || error instanceof Asks) throw error
    const told = { kind: failure.tag, message: failure.val ?? '' }
    return JSON.stringify(operation === 'introspect' ? { failure: told } : { outcome: { failure: told } })
  }
}

/** @param {any} said */
function described(said) {
  return {
    name: said.name,
    version: said.version,
    description: said.description,
    'config-schema': said.configSchema,
    'reason-codes': said.reasonCodes,
    'metric-names': said.metricNames,
    ...(said.timeoutMs === undefined ? {} : { 'timeout-ms': said.timeoutMs }),
  }
}

/**
 * Returns a value of the component model in the JSON of `docs/serve.md`: a variant is an object with one member, or its name.
 * @param {any} value
 * @returns {any}
 */
function plain(value) {
  if (typeof value === 'bigint') return Number(value)
  if (ArrayBuffer.isView(value)) return Array.from(/** @type {any} */ (value))
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  if ('tag' in value) return value.val === undefined ? value.tag : { [value.tag]: plain(value.val) }
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [kebab(name), plain(member)]))
}

/** @param {any} told */
function figures(told) {
  const { traits, kinds, ...numbers } = told
  /** @type {Record<string, unknown>} */
  const lists = {}
  for (const [name, list] of Object.entries(numbers)) lists[name] = Uint32Array.from(list)
  return { kinds, traits: traits.map((/** @type {number} */ bits) => flags(bits, UNIT_TRAITS)), ...lists }
}

/** @param {any[]} messages */
function unit(messages) {
  return messages.map(({ role, name, parts }) => ({
    role,
    name: name ?? undefined,
    parts: parts.map((/** @type {any} */ part) => ({ ...part, content: content(part.content), traits: flags(part.traits, PART_TRAITS) })),
  }))
}

/** @param {{ tag: string, val: any }} content */
function content({ tag, val }) {
  const media = (/** @type {any} */ one) => ({ ...one, name: one.name ?? undefined })
  if (tag === 'media') return { tag, val: media(val) }
  return { tag, val: tag === 'output' ? { ...val, media: val.media.map(media) } : val }
}

/**
 * @param {number} bits
 * @param {string[]} names
 */
function flags(bits, names) {
  /** @type {Record<string, boolean>} */
  const set = {}
  names.forEach((name, bit) => {
    set[name] = (bits & (1 << bit)) !== 0
  })
  return set
}

/** @param {string} name */
function kebab(name) {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
