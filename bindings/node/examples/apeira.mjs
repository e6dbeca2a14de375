// A turn of an Apeira agent with baler's plugin, and a scripted model.
//
// Apeira is not on npm. So a few lines stand for its agent, which shows each plugin a copy of the items before each request:
//   createAgent({ instructions, runner, tools, plugins: [baler({ contextWindow: 2_000 })] })

import { baler } from 'baler/apeira'

const berths = 60
const sizes = []
const plugin = baler({ contextWindow: 2_000 })

/** Stands for a model such as `responses({ model: 'gpt-5-mini' })`. */
function model(input) {
  sizes.push(input.length)
  const berth = Math.max(-1, ...input.flatMap(({ call_id }) => (call_id === undefined ? [] : [Number(call_id)]))) + 1
  if (berth < berths)
    return { type: 'function_call', call_id: String(berth), name: 'sound', arguments: JSON.stringify({ berth }) }
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'All berths are sounded.' }] }
}

const sound = (berth) => `berth ${berth}: 4.2 m at low water, mud over gravel, two rings on the quay, and the tide is rising`

const items = [{ type: 'message', role: 'user', content: 'Sound the depth at every berth. Never moor at berth 7.' }]
for (;;) {
  const { input } = await plugin.prepareStep({ input: structuredClone(items), model: 'gpt-5-mini' })
  const answer = model(input ?? items)
  items.push(answer)
  if (answer.type === 'message') break
  items.push({ type: 'function_call_output', call_id: answer.call_id, output: sound(Number(answer.call_id)) })
}

console.log(items.at(-1).content[0].text)
console.log(`${items.length} items in the storage; the longest request had ${Math.max(...sizes)}`)
