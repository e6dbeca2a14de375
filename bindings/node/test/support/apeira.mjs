/**
 * A stand-in for Apeira 0.0.7, which is not on npm: what its agents do with plugins, in its own words and with its own names.
 *
 * Plugins run in the order of `enforce`. Before each request to the model, each gets a copy of the input that the one before it
 * made, and the model gets a copy of the last. What is stored are the items as they came. There are two ways in which items
 * come: those of Responses, or, with `chat`, messages that have their calls inside.
 */

const ORDER = { pre: 0, post: 2 }

/** `model`: a function of a request that returns the items of its answer. `tokens`: what its provider counts of an input. */
export function createAgent({
  instructions = '',
  tools = [],
  plugins = [],
  initialState = {},
  initialInput = [],
  model,
  tokens = () => 0,
  chat = false,
}) {
  const entries = initialInput.map((data) => ({ type: 'input', data }))
  const sorted = [...plugins].sort((a, b) => (ORDER[a.enforce] ?? 1) - (ORDER[b.enforce] ?? 1))
  const agent = {
    instructions,
    tools,
    initialState,
    state: { get: () => structuredClone(initialState) },
    run,
    entries: () => entries,
  }
  let isInitialised = false

  /** One turn. Rejects where Apeira emits `turn.failed`. */
  async function run(text) {
    if (!isInitialised) for (const plugin of sorted) await plugin.init?.(agent)
    isInitialised = true
    const turn = { type: 'message', role: 'user', content: text }
    const input = structuredClone([...entries.filter(({ type }) => type === 'input').map(({ data }) => data), turn])
    const start = input.length
    const steps = []
    for (;;) {
      const prepared = await prepare(input, steps)
      const answer = await model({ ...prepared, instructions, tools })
      const output = chat ? inside(answer) : answer
      input.push(...structuredClone(output))
      const calls = answer.filter(({ type }) => type === 'function_call')
      for (const { name, arguments: args, call_id } of calls) {
        const tool = tools.find((one) => one.function.name === name)
        input.push({ type: 'function_call_output', call_id, output: await tool.execute(JSON.parse(args), {}) })
      }
      const step = {
        finishReason: calls.length > 0 ? 'tool-calls' : 'stop',
        toolCalls: calls,
        toolResults: [],
        usage: { inputTokens: tokens(prepared.input), outputTokens: 1, totalTokens: tokens(prepared.input) + 1 },
      }
      steps.push(step)
      for (const plugin of sorted) await plugin.onStepFinish?.(structuredClone(step))
      if (calls.length > 0) continue
      for (const data of [turn, ...input.slice(start)]) entries.push({ type: 'input', data })
      for (const plugin of sorted) await plugin.onTurnFinish?.({ input: [turn], output: input.slice(start), turnId: 'turn' })
      return input.slice(start)
    }
  }

  async function prepare(input, steps) {
    let current = { input: structuredClone(input), model: 'scripted', stepNumber: steps.length, steps: structuredClone(steps) }
    for (const plugin of sorted) current = { ...current, ...(await plugin.prepareStep?.(current)) }
    return structuredClone({ input: current.input, model: current.model })
  }

  return agent
}

/** Puts calls into the message before them, as the runner for Chat Completions does. */
function inside(items) {
  const calls = items.filter(({ type }) => type === 'function_call')
  const content = items
    .filter(({ type }) => type === 'message')
    .flatMap((message) => message.content.map(({ text }) => text))
    .join('')
  const tool_calls = calls.map(({ call_id: id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }))
  return [
    { type: 'message', role: 'assistant', content, reasoning: undefined, tool_calls: calls.length > 0 ? tool_calls : undefined },
  ]
}
