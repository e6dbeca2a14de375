// The originals in JavaScript: `node with_model.mjs FOLDER pi|gemini-cli < CONVERSATIONS`. FOLDER holds their node_modules.
// Writes where the part begins that each keeps. Only the choice of that part is run, which asks no model.

import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, system] = process.argv.slice(2)
const load = (file) => import(pathToFileURL(join(resolve(folder), 'node_modules', file)))

const begins = {
  'gemini-cli': async () => {
    const { findCompressSplitPoint } = await load('@google/gemini-cli-core/dist/src/context/chatCompressionService.js')
    return ({ contents, preserve }) => findCompressSplitPoint(contents, 1 - preserve)
  },
  pi: async () => {
    const { prepareCompaction } = await load('@mariozechner/pi-coding-agent/dist/core/compaction/compaction.js')
    return ({ chat, keep }) => {
      const entries = chat.map((message, place) => ({ type: 'message', id: String(place), message: ofPi(message) }))
      const settings = { enabled: true, reserveTokens: 16384, keepRecentTokens: keep }
      return Number(prepareCompaction(entries, settings).firstKeptEntryId)
    }
  }
}

function ofPi({ role, content, tool_calls = [], tool_call_id }) {
  const text = content ? [{ type: 'text', text: content }] : []
  switch (role) {
    case 'tool':
      return { role: 'toolResult', toolCallId: tool_call_id, toolName: 'tool', content: text }
    case 'assistant': {
      const calls = tool_calls.map(({ id, function: { name, arguments: json } }) => {
        return { type: 'toolCall', id, name, arguments: JSON.parse(json || '{}') }
      })
      return { role, content: [...text, ...calls], stopReason: calls.length ? 'toolUse' : 'stop' }
    }
    default:
      return { role: 'user', content }
  }
}

const begin = await begins[system]()
let conversations = ''
for await (const chunk of process.stdin.setEncoding('utf8')) conversations += chunk
console.log(JSON.stringify(JSON.parse(conversations).map(begin)))
