// An agent's loop without a framework, with a model that is a function.

import { Compactor } from 'baler'

const berths = 60

/** Stands for a provider: sounds one berth after the other. */
async function model(messages) {
  const outputs = messages.filter(({ role }) => role === 'tool')
  const berth = Math.max(-1, ...outputs.map(({ tool_call_id }) => Number(tool_call_id))) + 1
  if (berth === berths) return { role: 'assistant', content: 'All berths are sounded.' }
  const call = { id: String(berth), type: 'function', function: { name: 'sound', arguments: JSON.stringify({ berth }) } }
  return { role: 'assistant', content: null, tool_calls: [call] }
}

const sound = ({ berth }) => `berth ${berth}: 4.2 m at low water, mud over gravel, two rings on the quay, and the tide is rising`

const task = { role: 'user', content: 'Sound the depth at every berth. Never moor at berth 7.' }
const compactor = await Compactor.start([task], { contextWindow: 2_000 })
let answer
do {
  await compactor.step() // before each request
  answer = await model(compactor.messages)
  compactor.append(answer)
  for (const {
    id,
    function: { arguments: args },
  } of answer.tool_calls ?? []) {
    compactor.append({ role: 'tool', tool_call_id: id, content: sound(JSON.parse(args)) })
  }
} while (answer.tool_calls)

console.log(answer.content)
console.log(`${compactor.history.length} messages, of which the model saw ${compactor.messages.length} in the end`)
console.log(`${compactor.compactions} compactions, ${compactor.tokens} tokens`)
