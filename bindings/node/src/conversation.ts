/** Conversations as they are given: bytes, text, messages or a whole request body. */

import { types } from 'node:util'

import type { CallOptions, Running, Waiting } from './calls.js'
import { Host, sharedHost } from './host.js'
import { checkText, isBytes, kind, toJson } from './json.js'
import { notAllowed } from './named.js'
import type { NativeConversation } from './native.js'
import type { ReadOptions } from './options.js'

/** The member of a request body that holds its messages, by wire format. */
export const MEMBERS: Record<string, string> = {
  'openai-chat': 'messages',
  anthropic: 'messages',
  'openai-responses': 'input',
  gemini: 'contents',
  'bedrock-converse': 'messages',
}

/** @internal What reads, and how calls of it are made. */
export type Reading = Omit<ReadOptions, 'timeout'> & CallOptions

/** @internal A conversation that was read, and the form in which it was given. */
export interface Read {
  readonly host: Host
  readonly given: unknown
  readonly conversation: NativeConversation
  /** Whether the conversation is a repaired one, whose messages are others than those that were given. */
  readonly isRepaired: boolean
}

/** @internal Returns the host of a call. */
export function hostOf(given: Host | null | undefined): Host {
  const host = given ?? sharedHost()
  if (!(host instanceof Host)) throw new TypeError(`\`host\`: expected a Host, found ${kind(host)}`)
  return host
}

/** @internal Returns what a call of the native part reads. */
function toRead(given: unknown, options: Reading) {
  const { format, used, repair } = options
  if (format != null && typeof format !== 'string') throw notAllowed('format', 'the name of a wire format', format)
  if (used != null && !(Number.isInteger(used) && used > 0 && used < 2 ** 32)) {
    throw notAllowed('used', 'a number of tokens above 0', used)
  }
  if (repair != null && typeof repair !== 'boolean') throw notAllowed('repair', 'true or false', repair)
  return {
    host: hostOf(options.host),
    document: documentOf(given),
    format: format == null || format === 'auto' ? undefined : format,
    used: used ?? undefined,
  }
}

function documentOf(given: unknown): Uint8Array | string {
  if (typeof given === 'string') return checkText(given)
  if (types.isArrayBuffer(given)) return new Uint8Array(given)
  if (ArrayBuffer.isView(given)) {
    if (viewOf(given) !== undefined) return new Uint8Array(given.buffer, given.byteOffset, given.byteLength)
    throw new TypeError(`expected bytes such as a Uint8Array, found ${kind(given)}`)
  }
  if (typeof given === 'object' && given !== null) return toJson(given)
  throw new TypeError(`expected a conversation: messages, a request body, bytes or text, found ${kind(given)}`)
}

/** @internal */
export async function read(given: unknown, options: Reading, running: Running): Promise<Read> {
  const { host, document, format, used } = toRead(given, options)
  const kept = copied(given)
  const conversation: NativeConversation = await running.run((...call) =>
    host.native.read(document, format, used, ...call),
  )
  return finished(host, kept, conversation, options)
}

/** @internal */
export function readSync(given: unknown, options: Reading, waiting: Waiting): Read {
  const { host, document, format, used } = toRead(given, options)
  const conversation: NativeConversation = waiting.run((...call) => host.native.read(document, format, used, ...call))
  return finished(host, copied(given), conversation, options)
}

function finished(host: Host, given: unknown, conversation: NativeConversation, options: Reading): Read {
  if (options.repair) {
    const repaired = conversation.repaired()
    // One that is repaired only in part is not used.
    if (!repaired.isBroken && (JSON.parse(repaired.violations) as { repairs: unknown[] }).repairs.length > 0) {
      return { host, given, conversation: repaired, isRepaired: true }
    }
  }
  return { host, given, conversation, isRepaired: false }
}

/** Copies the list of what was given, which may change while a call runs. Messages stay the same objects. */
function copied(given: unknown): unknown {
  if (Array.isArray(given)) return [...(given as unknown[])]
  if (typeof given !== 'object' || given === null || isBytes(given)) return given
  const copy: Record<string, unknown> = { ...given }
  for (const member of new Set(Object.values(MEMBERS))) {
    const list = copy[member]
    if (Array.isArray(list)) copy[member] = [...(list as unknown[])]
  }
  return copy
}

/** @internal The messages as the objects that were given, if they were. */
export function itemsOf({ given, conversation, isRepaired }: Read): unknown[] | undefined {
  if (isRepaired || typeof given !== 'object' || given === null || isBytes(given)) return undefined
  const list: unknown = Array.isArray(given) ? given : (given as Record<string, unknown>)[MEMBERS[conversation.format] ?? '']
  return Array.isArray(list) && list.length === conversation.messageCount ? (list as unknown[]) : undefined
}

/** @internal Returns a document in the form in which the conversation was given. */
export function inForm({ given, conversation }: Read, document: string | Uint8Array, messages?: unknown[]): unknown {
  if (isBytes(given)) return bytesLike(given, typeof document === 'string' ? new TextEncoder().encode(document) : document)
  if (typeof given === 'string') return document
  if (messages === undefined) return JSON.parse(document as string)
  return Array.isArray(given) ? messages : { ...(given as object), [MEMBERS[conversation.format] ?? 'messages']: messages }
}

/** Views that show single bytes. */
const VIEWS: Record<string, new (buffer: ArrayBufferLike, offset: number, length: number) => ArrayBufferView> = {
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  DataView: DataView as never,
}

function viewOf(given: ArrayBufferView) {
  return VIEWS[(given as Uint8Array | DataView)[Symbol.toStringTag]]
}

/** Returns bytes in the form of others. */
function bytesLike(given: ArrayBufferLike | ArrayBufferView, { buffer, byteOffset, byteLength }: Uint8Array): unknown {
  if (!ArrayBuffer.isView(given)) return buffer.slice(byteOffset, byteOffset + byteLength)
  if (Buffer.isBuffer(given)) return Buffer.from(buffer, byteOffset, byteLength)
  return new (viewOf(given) ?? Uint8Array)(buffer, byteOffset, byteLength)
}
