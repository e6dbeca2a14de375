/**
 * Applies a change of a described message to the parts of a framework's message.
 *
 * Frameworks whose messages have parts are described as Anthropic Messages, block by block. When a message was changed,
 * each block of its new form is matched with the part that it describes, so that parts which did not change stay the same
 * objects.
 */

import { isDeepStrictEqual } from 'node:util'

/** A block of a described message. */
export interface Block {
  readonly type: string
  readonly [member: string]: unknown
}

/** A part of a framework's message, with its block; without one if nothing of it is described, and then it stays. */
export type Described<P> = readonly [block: Block | undefined, part: P]

/** Blocks whose text may be another, with the member that says which one it is. */
const TEXTS: Record<string, string | undefined> = { text: undefined, tool_use: 'id', tool_result: 'tool_use_id' }

/**
 * Returns the parts of a message that was changed. `blocks`: the content of its new form. `changed` makes a copy of a part
 * that says what a block says, `inserted` a part of a text that is new.
 */
export function rebuilt<P>(
  parts: readonly Described<P>[],
  blocks: string | readonly Block[],
  changed: (part: P, block: Block) => P,
  inserted: (text: string) => P,
): P[] {
  const wanted: readonly Block[] = typeof blocks === 'string' ? [{ type: 'text', text: blocks }] : blocks
  const left = parts.flatMap(([block, part], place) => (block === undefined ? [] : [{ place, block, part }]))
  const taken = (isIt: (old: Block) => boolean) => {
    const index = left.findIndex(({ block }) => isIt(block))
    return index < 0 ? undefined : left.splice(index, 1)[0]
  }
  const same = wanted.map((block) => taken((old) => isSame(old, block)))
  // Parts have the order that they had, with those that are not described where they were.
  const placed = parts.flatMap(([block, part], place) => (block === undefined ? [{ place, part }] : []))
  let place = -1
  for (const [index, block] of wanted.entries()) {
    const kept = same[index]
    // The text of one that is not the same is another. One that is like none was inserted.
    const alike = kept ?? taken((old) => isAlike(old, block))
    place = alike?.place ?? place + 1e-3
    placed.push({ place, part: kept?.part ?? (alike ? changed(alike.part, block) : inserted(textOf(block))) })
  }
  return placed.sort((one, other) => one.place - other.place).map(({ part }) => part)
}

function isSame(old: Block, now: Block): boolean {
  // What has no text, such as thinking, is the same only if all of it is.
  if (!isAlike(old, now)) return isDeepStrictEqual(old, now)
  return isDeepStrictEqual(old.content ?? old.text, now.content ?? now.text)
}

function isAlike(old: Block, now: Block): boolean {
  const id = TEXTS[now.type]
  return old.type === now.type && now.type in TEXTS && (id === undefined || old[id] === now[id])
}

/** Returns the text of a block (a text, or a tool result) or of a whole described message. */
export function textOf(block: object): string {
  const { text: own, content } = block as { text?: unknown; content?: unknown }
  const text = own ?? content
  const texts: unknown[] = Array.isArray(text) ? text.map((part: { text?: unknown }) => part.text) : [text]
  return texts.filter((part) => typeof part === 'string').join('')
}
