/** The host: what all conversations of a program share. */

import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { Running, Waiting, type CallOptions, type WaitOptions } from './calls.js'
import { checked, OptionError } from './errors.js'
import { inbox, register, type Asked } from './functions.js'
import { kind } from './json.js'
import { OF_CALLS, notAllowed, only, optionsJson } from './named.js'
import { NativeHost } from './native.js'
import { NAMES, type HostOptions } from './options.js'
import { program } from './program.js'

/** The name of a wire format; `auto` detects it. */
export type Format = 'auto' | 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini' | 'bedrock-converse'

/** What a strategy asks a model. */
export interface ModelRequest {
  /** The system prompt; `null` if there is none. */
  instructions: string | null
  /** The user message. */
  prompt: string
  /** The answer should have at most this many tokens. */
  maxOutputTokens: number
}

/** A function that is a model. */
export type ModelFunction = (request: ModelRequest) => string | Promise<string>

/** The part of a receipt that `Host.undo` reads. */
export interface Undoable {
  readonly undo?: string | null
}

/**
 * Reads conversations, loads strategies and runs compactions.
 *
 * A program needs one. Without one, the functions of this package share a host with default options.
 */
export class Host {
  /** @internal */
  readonly native: NativeHost
  /** Whether strategies can ask a model. */
  readonly hasModel: boolean
  /** The function that is the model, which must live as long as the host. */
  readonly #asked: Asked | undefined

  constructor(options: HostOptions = {}) {
    const { state, archive, archiveOptions, project, model, ...others } = only(options, NAMES.HostOptions)
    const ofModel = Object.entries(others).find(([name, value]) => name.startsWith('model') && value != null)
    if (model == null && ofModel !== undefined) {
      throw new OptionError(`\`${ofModel[0]}\` is an option of a model, and no \`model\` is given; give it, or leave it out`)
    }
    let given: string | number | undefined
    if (typeof model === 'function') {
      this.#asked = { name: 'the model', ask: (question) => model(question as unknown as ModelRequest) }
      given = register(this.#asked)
    } else if (model != null) {
      if (typeof model !== 'string') throw new TypeError(`\`model\`: expected a name or a function, found ${kind(model)}`)
      given = model
    }
    this.hasModel = this.#asked !== undefined || given !== undefined
    const json = optionsJson('HostOptions', {
      ...others,
      state: state === undefined ? defaultState() : path('state', state),
      archive: path('archive', archive),
      archiveOptions: archiveOptions == null ? null : pairs(archiveOptions),
      project: path('project', project),
    })
    const own = JSON.parse(json) as Record<string, unknown>
    own.compiler = compiler()
    this.native = checked(() => new NativeHost(JSON.stringify(own), inbox, given))
  }

  /** Fetches archived content by the reference that a receipt or a placeholder in a conversation names. */
  async expand(reference: string, options: CallOptions = {}): Promise<string> {
    checkReference(reference)
    return new Running(only(options, OF_CALLS)).run((...call) => this.native.expand(reference, ...call))
  }

  /** The same, blocking the thread. */
  expandSync(reference: string, options: WaitOptions = {}): string {
    checkReference(reference)
    return new Waiting(only(options, OF_CALLS)).run((...call) => this.native.expand(reference, ...call))
  }

  /** Restores the conversation before a compaction, byte for byte, as JSON. `receipt`: that of the compaction. */
  async undo(receipt: Undoable, options: CallOptions = {}): Promise<string> {
    const reference = undoOf(receipt)
    return new Running(only(options, OF_CALLS)).run((...call) => this.native.undo(reference, ...call))
  }

  /** The same, blocking the thread. */
  undoSync(receipt: Undoable, options: WaitOptions = {}): string {
    const reference = undoOf(receipt)
    return new Waiting(only(options, OF_CALLS)).run((...call) => this.native.undo(reference, ...call))
  }
}

function checkReference(reference: unknown): void {
  if (typeof reference !== 'string') throw new TypeError(`expected a reference as a text, found ${kind(reference)}`)
}

function undoOf(receipt: Undoable): string {
  if (typeof receipt?.undo === 'string') return receipt.undo
  throw new OptionError('the receipt has no `undo`: nothing was removed, or the host had no archive')
}

function path(name: string, given: string | URL | null | undefined): string | null {
  if (given == null) return null
  if (given instanceof URL && given.protocol === 'file:') return fileURLToPath(given)
  const text = given instanceof URL ? given.href : given
  if (typeof text === 'string') {
    if (name === 'archive' || !text.includes('://')) return text
    throw notAllowed(name, 'a path, or a URL that begins with file:', text)
  }
  throw new TypeError(`\`${name}\`: expected a path, found ${kind(given)}`)
}

function pairs(given: Record<string, string>): [string, string][] {
  if (typeof given === 'object') return Object.entries(given)
  throw notAllowed('archiveOptions', 'texts by name', given)
}

/** The state folder of the program `baler`; `null` if the environment names none. */
function defaultState(): string | null {
  const { BALER_STATE: named, XDG_STATE_HOME: state = '' } = process.env
  if (named) return named
  if (isAbsolute(state)) return join(state, 'baler')
  const home = process.env.HOME ?? homedir()
  return isAbsolute(home) ? join(home, '.local/state/baler') : null
}

/**
 * The command that compiles components: the program, or where it is missing this runtime with the native part of this package.
 * A runtime reserves memory for itself, and is none in programs such as Electron's.
 */
function compiler(): string[] {
  const own = program()
  if (own !== undefined) return [own]
  const script = fileURLToPath(new URL('./compile.js', import.meta.url))
  const isDeno = 'Deno' in globalThis
  return isDeno ? [process.execPath, 'run', '--allow-all', script] : [process.execPath, script]
}

let common: Host | undefined

/** Returns the host with default options that calls without a host share. */
export function sharedHost(): Host {
  common ??= new Host()
  return common
}
