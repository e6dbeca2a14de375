/** Makes a hostile component of one that ships: its `compact` never ends. */

/** Returns the component with a loop in place of the function that its core module exports for `compact`. */
export function endless(component) {
  const bytes = Uint8Array.from(component)
  for (const section of sections(bytes, 8, bytes.length)) {
    // A core module in the component.
    if (section.id === 1 && loopIn(bytes, section.start + 8, section.end)) return bytes
  }
  throw new Error('no core module exports `compact`')
}

function loopIn(bytes, start, end) {
  const found = Object.fromEntries(sections(bytes, start, end).map((section) => [section.id, section]))
  const [imports, exports, code] = [found[2], found[7], found[10]]
  const index = exports && exportedFunction(bytes, exports.start)
  if (index === undefined) return false
  let [count, at] = number(bytes, code.start)
  for (let body = importedFunctions(bytes, imports); count > 0; body += 1, count -= 1) {
    const [size, from] = number(bytes, at)
    if (body === index) {
      replace(bytes, from, from + size)
      return true
    }
    at = from + size
  }
  return false
}

/** `loop br 0 end unreachable`, and nothing more, after the declarations of locals. */
function replace(bytes, start, end) {
  let [groups, at] = number(bytes, start)
  for (; groups > 0; groups -= 1) at = number(bytes, at)[1] + 1
  bytes.fill(0x01, at, end - 1)
  bytes.set([0x03, 0x40, 0x0c, 0x00, 0x0b, 0x00], at)
}

function exportedFunction(bytes, start) {
  let [count, at] = number(bytes, start)
  for (; count > 0; count -= 1) {
    const [length, from] = number(bytes, at)
    const name = Buffer.from(bytes.subarray(from, from + length)).toString()
    const kind = bytes[from + length]
    const [index, next] = number(bytes, from + length + 1)
    if (kind === 0 && /#compact$/.test(name)) return index
    at = next
  }
  return undefined
}

function importedFunctions(bytes, section) {
  if (section === undefined) return 0
  let [count, at] = number(bytes, section.start)
  let functions = 0
  for (; count > 0; count -= 1) {
    for (let name = 0; name < 2; name += 1) {
      const [length, from] = number(bytes, at)
      at = from + length
    }
    if (bytes[at] !== 0) throw new Error('expected imports of functions alone')
    functions += 1
    at = number(bytes, at + 1)[1]
  }
  return functions
}

function sections(bytes, start, end) {
  const found = []
  for (let at = start; at < end; ) {
    const [size, from] = number(bytes, at + 1)
    found.push({ id: bytes[at], start: from, end: from + size })
    at = from + size
  }
  return found
}

/** Reads an unsigned LEB128 number; returns it and the place after it. */
function number(bytes, start) {
  let value = 0
  for (let at = start, shift = 0; ; at += 1, shift += 7) {
    value += (bytes[at] & 0x7f) * 2 ** shift
    if (bytes[at] < 0x80) return [value, at + 1]
  }
}
