/** What types say; checked by `types.test.mjs`, and never run. */

import {
  type AnyStrategy,
  type Compaction,
  type CompactOptions,
  Compactor,
  type Conversation,
  Host,
  Strategy,
  Window,
  compact,
  compactSync,
  count,
  introspect,
  repair,
  validate,
} from 'baler'

/** Fails to compile unless both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>) => {}

interface Message {
  role: 'user' | 'assistant'
  content: string
}

declare const messages: Message[]
declare const frozen: readonly Message[]
declare const body: { model: string; messages: Message[]; tools?: { name: string }[] }
declare const responses: { model: string; input: Message[]; instructions: string }
declare const gemini: { contents: { role: string; parts: object[] }[] }
declare const asked: { model: string; input: string | Message[] }
declare const text: string
declare const anything: Conversation

// Messages: the same type comes out.
const ofMessages = await compact(messages)
same<typeof ofMessages, Compaction<Message[]>>(true)
same<typeof ofMessages.messages, Message[]>(true)
same<typeof ofMessages.body, Message[]>(true)
same<Awaited<ReturnType<typeof ofMessages.undo>>, Message[]>(true)
const ofFrozen = compactSync(frozen, { budget: '50%' })
same<typeof ofFrozen.messages, Message[]>(true)
same<typeof ofFrozen.body, readonly Message[]>(true)
same<ReturnType<typeof ofFrozen.undoSync>, readonly Message[]>(true)
const written = await compact([{ role: 'user', content: 'hi' }])
same<typeof written.messages, { role: string; content: string }[]>(true)

// Bodies: the body's type, and the type of the members of its list.
const ofBody = await compact(body)
same<typeof ofBody.body, typeof body>(true)
same<typeof ofBody.messages, Message[]>(true)
const ofResponses = await compact(responses)
same<typeof ofResponses.body.instructions, string>(true)
same<typeof ofResponses.messages, Message[]>(true)
const ofGemini = await compact(gemini)
same<(typeof ofGemini.messages)[number], { role: string; parts: object[] }>(true)
const ofAsked = await compact(asked)
same<typeof ofAsked.body, typeof asked>(true)

// Text and bytes: the same form, and messages of any type.
const ofText = await compact(text)
same<typeof ofText.body, string>(true)
same<typeof ofText.messages, any[]>(true)
const ofLiteral = await compact('[]')
same<typeof ofLiteral.body, string>(true)
const ofBuffer = await compact(Buffer.from('[]'))
same<typeof ofBuffer.messages, any[]>(true)
ofBuffer.body satisfies Buffer
const ofBytes = await compact(new Uint8Array(2))
ofBytes.body satisfies Uint8Array
const ofView = await compact(new DataView(new ArrayBuffer(2)))
ofView.body satisfies DataView
const ofArrayBuffer = await compact(new ArrayBuffer(2))
same<typeof ofArrayBuffer.body, ArrayBuffer>(true)
const ofAnything = await compact(anything)
same<typeof ofAnything.body, Conversation>(true)

// Repairs keep the form too.
const repaired = await repair(body)
same<typeof repaired.body, typeof body>(true)
same<typeof repaired.validation.isValid, boolean>(true)

// What else comes out.
same<Awaited<ReturnType<typeof count>>, number>(true)
same<(typeof ofMessages.changes)[number]['kind'], 'kept' | 'changed' | 'inserted'>(true)
const outcome: 'compacted' | 'repaired' | 'unchanged' = ofMessages.receipt.outcome
const budget: number = ofMessages.receipt.tokens.budget

// Options.
const host = new Host({ state: new URL('file:///tmp'), archive: 'memory', model: async ({ prompt }) => prompt.toUpperCase() })
const strategies: AnyStrategy[] = ['tiered', new URL('file:///mine.wasm'), Strategy.load('mine.wasm', { name: 'mine', fuel: 1e9 }), ({ units }) => units.map((_, index) => index)]
const options: CompactOptions = { budget: 8_000, strategy: strategies, host, pins: [0], trigger: 'overflow', policy: { excerpts: true } }
await compact(messages, { ...options, signal: AbortSignal.timeout(1_000), timeout: 5 })
await compact(messages, { strategy: async (request) => (request.situation.used > 5 ? [0, 'Earlier steps were removed.'] : null) })
const compactor = await Compactor.start(body, { contextWindow: 200_000, triggers: { share: 0.5 }, host }, { signal: AbortSignal.timeout(5) })
same<Awaited<ReturnType<typeof compactor.step>>['isCompacted'], boolean>(true)
const window = new Window({ contextWindow: 200_000, onCompaction: ({ receipt }) => console.log(receipt.tokens) })
const shown = await window.show('openai-chat', body, { less: true })
shown?.placed satisfies readonly { kind: string }[] | undefined
const { introspection } = await introspect('tiered')
introspection?.name satisfies string | undefined

// What is wrong.
// @ts-expect-error: no option is called so
await compact(messages, { budgets: 5 })
// @ts-expect-error: an option in snake case
await compact(messages, { context_window: 5 })
// @ts-expect-error: no such trigger
await compact(messages, { trigger: 'noon' })
// @ts-expect-error: no such format
await validate(messages, { format: 'xml' })
// @ts-expect-error: what is read takes no budget
await count(messages, { budget: 5 })
// @ts-expect-error: no conversation
await compact(5)
// @ts-expect-error: nothing can abort it
compactSync(messages, { signal: AbortSignal.timeout(5) })
// @ts-expect-error: the native part is none of the program's business
host.native
// @ts-expect-error: a receipt is read, and not written
ofMessages.receipt.outcome = 'unchanged'
// @ts-expect-error: a window has to know the format
await window.show('auto', body)

export { budget, compactor, options, outcome, strategies }
