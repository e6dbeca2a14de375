/** Strategies: what decides what to keep. */

import { fileURLToPath } from 'node:url'

import { checked } from './errors.js'
import { inbox, isPromise, register, type Asked } from './functions.js'
import { found, kind, toJson } from './json.js'
import { NativeStrategy } from './native.js'
import { notAllowed, only, optionJson, optionsJson } from './named.js'
import { NAMES, type Json, type StrategyOptions } from './options.js'

/**
 * What a function that is a strategy returns: `null` changes nothing. In a list, a number keeps the unit with this index, a
 * text inserts a summary there, and an object is a piece as in `docs/serve.md`. Units that are not named are removed.
 */
export type Plan = readonly (number | string | Json)[] | null | undefined

/** What a function that is a strategy gets: the request of `docs/serve.md`. */
export interface PlanRequest {
  format: string
  /** The provider's request body, or its list of messages. */
  conversation: unknown
  /** Oldest first. A plan names them by index. */
  units: { kind: string; traits: string[]; tokens: number; [member: string]: unknown }[]
  /** Sizes and limits. */
  situation: { budget: number; used: number; overhead: number; [member: string]: unknown }
  policy: Json
  config?: unknown
  [member: string]: unknown
}

/** A function that is a strategy. */
export type PlanFunction = (request: PlanRequest) => Plan | Promise<Plan>

/** What options called `strategy` take: a name, a path or URL of a `.wasm` file, a function, or a `Strategy`. */
export type AnyStrategy = string | URL | PlanFunction | Strategy

/** A strategy with its config and its limits. */
export class Strategy {
  /** @internal */
  readonly native: NativeStrategy
  /** The function that it is, which must live as long as it. */
  readonly #asked: Asked | undefined

  /** Names a strategy that ships with baler (`strategies()`), or that the host's `baler.toml` lists. */
  constructor(name: string, options?: StrategyOptions)
  /** @internal */
  constructor(native: NativeStrategy, asked?: Asked)
  constructor(given: string | NativeStrategy, options?: StrategyOptions | Asked) {
    if (given instanceof NativeStrategy) {
      this.native = given
      this.#asked = options as Asked | undefined
      return
    }
    checkName(given)
    this.native = checked(() => NativeStrategy.named(given, loading(options as StrategyOptions | undefined)))
  }

  /** Reads a component from a `.wasm` file. It may come from anybody: it runs in a sandbox. `name`: its name in receipts. */
  static load(path: string | URL, options: StrategyOptions & { name?: string } = {}): Strategy {
    const { name, ...others } = only(options, [...NAMES.StrategyOptions, 'name'])
    if (name !== undefined) checkName(name)
    return new Strategy(checked(() => NativeStrategy.load(fileOf(path), name, loading(others))))
  }

  /** Takes a component as the bytes of its file. */
  static component(name: string, wasm: Uint8Array, options: StrategyOptions = {}): Strategy {
    checkName(name)
    if (!(wasm instanceof Uint8Array)) throw new TypeError(`expected a component as a Uint8Array, found ${kind(wasm)}`)
    return new Strategy(checked(() => NativeStrategy.component(name, wasm, loading(options))))
  }

  /**
   * Makes a strategy of a function, to try an idea out. Its plans are checked like those of any strategy.
   *
   * It runs in this thread, without a sandbox. An error is reported as a warning and counts as a fault: then the next strategy of
   * the chain runs.
   */
  static of(plan: PlanFunction, options: { name?: string; timeout?: number } = {}): Strategy {
    if (typeof plan !== 'function') throw new TypeError(`expected a function, found ${kind(plan)}`)
    const { name = plan.name || 'function', ...limits } = only(options, ['name', 'timeout'])
    checkName(name)
    const asked: Asked = { name: `the strategy \`${name}\``, ask: (question) => answered(plan, name, question) }
    const load = loading(limits)
    const number = register(asked)
    return new Strategy(checked(() => NativeStrategy.function(name, inbox, number, load)), asked)
  }

  /** The name in marks and receipts. */
  get name(): string {
    return this.native.name
  }

  toString(): string {
    return `Strategy ${this.name}${this.#asked === undefined ? '' : ' (a function)'}`
  }
}

/** @internal Strategies that must live until a call has ended, with their native forms. */
export interface Chain {
  held: Strategy[]
  natives: NativeStrategy[]
}

/** @internal Returns the strategies for an option `strategy`. */
export function chain(given: AnyStrategy | readonly AnyStrategy[] | null | undefined, fallback: string): Chain {
  const list = Array.isArray(given) ? (given as AnyStrategy[]) : [(given as AnyStrategy | null | undefined) ?? fallback]
  const held = list.map(strategyOf)
  return { held, natives: held.map((strategy) => strategy.native) }
}

/** @internal Returns the strategy for one that was given in any form. */
export function strategyOf(given: AnyStrategy): Strategy {
  if (given instanceof Strategy) return given
  if (typeof given === 'string') return given.endsWith('.wasm') ? Strategy.load(given) : new Strategy(given)
  if (given instanceof URL) return Strategy.load(given)
  if (typeof given === 'function') return Strategy.of(given)
  throw new TypeError(`\`strategy\`: expected a name, a .wasm file, a function, a Strategy, or a list of these, found ${kind(given)}`)
}

function loading(options: StrategyOptions = {}) {
  const { config, mayAskModel, ...limits } = only(options, NAMES.StrategyOptions)
  if (mayAskModel != null && typeof mayAskModel !== 'boolean') throw notAllowed('mayAskModel', 'true or false', mayAskModel)
  const load = { limits: optionsJson('StrategyOptions', limits), mayAskModel: mayAskModel ?? false }
  return config == null ? load : { ...load, config: optionJson('config', config) }
}

function checkName(name: unknown): asserts name is string {
  if (typeof name !== 'string') throw new TypeError(`expected the name of a strategy, found ${kind(name)}`)
}

function fileOf(path: string | URL): string {
  if (typeof path === 'string') return path
  if (!(path instanceof URL) || path.protocol !== 'file:') {
    throw new TypeError(`expected the path of a .wasm file or a file: URL, found ${path instanceof URL ? path.protocol : kind(path)}`)
  }
  return fileURLToPath(path)
}

/** Answers a question of the host, in the form of `docs/serve.md`. */
function answered(plan: PlanFunction, name: string, question: Record<string, unknown>): string | Promise<string> {
  if (question.operation === 'introspect') return JSON.stringify({ name, version: '0', description: 'A JavaScript function.' })
  if (question.operation === 'should-compact') return JSON.stringify({ decision: 'host-decides' })
  const made = plan(JSON.parse(question.request as string) as PlanRequest)
  return isPromise(made) ? Promise.resolve(made as PromiseLike<Plan>).then(report) : report(made)
}

function report(plan: Plan): string {
  if (plan == null) return JSON.stringify({ outcome: { unchanged: 'the function returned nothing' } })
  if (!Array.isArray(plan)) throw new TypeError(`expected a list of units, texts and pieces, or null, found ${kind(plan)}`)
  const pieces = Array.from(plan as readonly unknown[], (piece, index) => {
    const place = `plan[${index}]`
    let made = piece
    if (typeof piece === 'string') made = { insert: { role: 'user', purpose: 'summary', placement: 'alone', text: piece } }
    else if (Number.isSafeInteger(piece) && (piece as number) >= 0) made = { keep: { first: piece, count: 1 } }
    else if (typeof piece !== 'object' || piece === null) {
      throw new TypeError(`\`${place}\`: expected the index of a unit, a text or a piece, found ${found(piece)}`)
    }
    return toJson(made, place, (message) => new TypeError(message))
  })
  return `{"outcome":{"compacted":{"pieces":[${pieces.join(',')}]}}}`
}
