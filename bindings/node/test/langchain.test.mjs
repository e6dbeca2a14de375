/** LangChain's agents with a scripted model, of the `langchain` in the folder that BALER_FRAMEWORKS names. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import { Host, OptionError, count, setLog, validate } from 'baler'
import { balerMiddleware } from 'baler/langchain'

const folder = process.env.BALER_FRAMEWORKS
const framework = createRequire(join(folder ?? process.cwd(), 'package.json'))
const isThere = (() => {
  try {
    return folder !== undefined && framework.resolve('langchain') !== ''
  } catch {
    return false
  }
})()
const skip = isThere ? false : 'BALER_FRAMEWORKS names no folder with `langchain`'

const TASK = 'Sound the depth at every berth of the old harbour. Never moor at berth 7. 港の七番には決して係留しないこと。'
const DONE = 'All berths are sounded. Όλα καλά.'
const BERTHS = 44

describe('LangChain', { skip }, () => {
  const state = mkdtempSync(join(tmpdir(), 'baler-langchain-'))
  let lc, core, z, host, Scripted
  const warnings = []

  before(() => {
    lc = framework('langchain')
    core = { ...framework('@langchain/core/messages'), ...framework('@langchain/core/language_models/chat_models') }
    core = { ...core, ...framework('@langchain/core/outputs'), ...framework('@langchain/langgraph') }
    z = framework('zod')
    host = new Host({ state })
    setLog((warning) => warnings.push(warning))
    Scripted = scripted(core)
  })
  after(() => {
    setLog(null)
    rmSync(state, { recursive: true })
  })

  /** An agent whose model sounds two berths at a time. */
  function harbour(
    model,
    { middleware = [], checkpointer, responseFormat, systemPrompt = 'You are the harbour master.', words = '', baler, ...options } = {},
  ) {
    const sounding = lc.tool(
      ({ berth }) =>
        `berth ${berth}: ${4 + (berth % 5)}.2 m at low water, mud over gravel, two rings on the quay, tide rising; 深さ良好`,
      {
        name: 'sound',
        description: `Sounds the depth at a berth. ${words}`,
        schema: z.object({ berth: z.number().describe('its number') }),
      },
    )
    const own = baler ?? balerMiddleware({ host, strategy: 'native:digest', ...options })
    return lc.createAgent({ model, tools: [sounding], systemPrompt, middleware: [...middleware, own], checkpointer, ...(responseFormat && { responseFormat }) })
  }

  const config = { recursionLimit: 500 }
  const threaded = { ...config, configurable: { thread_id: 'harbour' } }
  const task = () => ({ messages: [new core.HumanMessage(TASK)] })

  /** Checks all that a model was sent, and what is stored. */
  async function check(model, messages, { at = Infinity } = {}) {
    assert.equal(messages.filter((message) => message.type === 'tool').length, BERTHS)
    assert.equal(messages[0].content, TASK)
    assert.equal(messages.at(-1).text, DONE)
    for (const sent of model.requests) {
      sound(sent)
      assert.ok((await count(written(sent), { host })) < at, 'each request is below the limit')
      const { isValid, violations } = await validate(written(sent), { host, format: 'openai-chat' })
      assert.ok(isValid, JSON.stringify(violations))
      assert.ok(sent.find((message) => message.type === 'human').content.includes(TASK))
    }
    assert.ok(model.requests.at(-1).length < messages.length / 2, 'the last request is a view')
  }

  test('an agent of 22 tool steps sees a view, and its state has the whole history', async () => {
    const model = new Scripted()
    const compactions = []
    const { messages, ...others } = await harbour(model, { at: 1_500, onCompaction: (made) => compactions.push(made) }).invoke(
      task(),
      config,
    )
    assert.deepEqual(Object.keys(others), [])
    await check(model, messages, { at: 1_500 })
    assert.equal(model.requests.length, BERTHS / 2 + 1)
    assert.ok(compactions.length > 1 && compactions.length < 10)
    assert.ok(compactions.every((made) => made.isCompacted))
    // Between compactions, each request begins with the one before, and kept messages are those of the state.
    let changes = 0
    for (const [n, sent] of model.requests.entries()) {
      const previous = model.requests[n - 1] ?? []
      if (!previous.every((message, place) => same(message, sent[place]))) changes += 1
      assert.equal(sent[0].type, 'system')
      const own = sent.filter((message) => messages.includes(message))
      assert.ok(own.length >= Math.min(3, sent.length - 1), 'the newest messages are the same objects')
      assert.ok(sent.filter((message) => message.type === 'tool').every((message) => messages.includes(message)))
    }
    assert.equal(changes, compactions.length)
    assert.deepEqual(warnings, [])
  })

  test('42 turns of one conversation', async () => {
    const model = new Scripted({ answers: true })
    const checkpointer = new core.MemorySaver()
    const agent = harbour(model, { at: 1_200, checkpointer })
    let stored
    for (let turn = 0; turn < 42; turn += 1) {
      const words = turn === 0 ? TASK : `Turn ${turn}: which ship lies at berth ${turn}? Ποιο πλοίο; Tell me of its cargo, too.`
      stored = (await agent.invoke({ messages: [new core.HumanMessage(words)] }, threaded)).messages
    }
    assert.equal(stored.length, 84)
    assert.equal(model.requests.length, 42)
    for (const sent of model.requests) {
      sound(sent)
      assert.ok(sent[1].content.startsWith(TASK))
      assert.ok((await count(written(sent), { host })) < 1_200)
    }
    assert.ok(model.requests.at(-1).length < 40)
  })

  test('what is streamed is the model alone, piece by piece', async () => {
    const model = new Scripted()
    const agent = harbour(model, { at: 1_500 })
    const seen = []
    for await (const [chunk, { langgraph_node }] of await agent.stream(task(), { ...config, streamMode: 'messages' })) {
      seen.push([langgraph_node, chunk.text, model.requests.length])
    }
    const said = seen.filter(([node, text]) => node.startsWith('model') && text !== '')
    assert.equal(said.map(([, text]) => text).join(''), 'Next.'.repeat(BERTHS / 2) + DONE)
    // Chunks pass before the model has ended.
    assert.ok(model.pieces > said.length / 2 && said.length > model.requests.length)
    assert.ok(model.requests.at(-1).length < BERTHS)
  })

  test('an abort ends a compaction and the agent', async () => {
    const model = new Scripted()
    const controller = new AbortController()
    const compactions = []
    let asked = 0
    const strategy = async () => {
      asked += 1
      setTimeout(() => controller.abort(new Error('the tide turned')), 50)
      await new Promise((resolve) => setTimeout(resolve, 400))
    }
    const agent = harbour(model, { at: 1_200, strategy, onCompaction: (made) => compactions.push(made) })
    await assert.rejects(agent.invoke(task(), { ...config, signal: controller.signal }), /tide turned|abort/i)
    const { length } = model.requests
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    assert.deepEqual([asked, compactions.length, model.requests.length], [1, 0, length])
  })

  test('a history that comes back from a store is shown by the same view', async () => {
    const model = new Scripted()
    const compactions = []
    const agent = harbour(model, { at: 1_500, onCompaction: (made) => compactions.push(made) })
    const { messages } = await agent.invoke(task(), config)
    const before = compactions.length
    assert.ok(before > 1)
    const json = JSON.stringify(core.mapChatMessagesToStoredMessages(messages))
    const restored = core.mapStoredMessagesToChatMessages(JSON.parse(json))
    assert.notEqual(restored[0], messages[0])
    await agent.invoke({ messages: [...restored, new core.HumanMessage('And the lighthouse? 灯台は？')] }, config)
    assert.equal(compactions.length, before)
    const [last, now] = model.requests.slice(-2)
    assert.ok(last.every((message, place) => same(message, now[place])))
    assert.equal(now.length, last.length + 2)
  })

  test('the size of a request is what the provider counts', async () => {
    // More than twice as many tokens as baler.
    const counted = (sent) => Math.round(characters(sent) / 2)
    for (const stream of [false, true]) {
      const ask = async (tokens) => {
        const model = new Scripted({ tokens })
        const compactions = []
        const agent = harbour(model, { at: 3_000, onCompaction: () => compactions.push(model.requests.length) })
        if (stream) for await (const _ of await agent.stream(task(), { ...config, streamMode: 'messages' }));
        else await agent.invoke(task(), config)
        assert.equal(model.requests.length, BERTHS / 2 + 1)
        return { model, compactions }
      }
      assert.deepEqual((await ask(() => 1)).compactions, [])
      const { model, compactions } = await ask(counted)
      assert.ok(compactions.length > 0)
      // What is added in a step is estimated.
      for (const sent of model.requests) assert.ok(counted(sent) < 3_400, `${counted(sent)} tokens`)
    }
    // Of an answer with a structure, too. The first version refuses those of every middleware.
    if (framework('langchain/package.json').version.startsWith('1.0.')) return
    const model = new Scripted({ structure: { deepest: 8 }, tokens: () => 5_990 })
    const compactions = []
    const responseFormat = lc.toolStrategy(z.object({ deepest: z.number() }))
    const agent = harbour(model, { at: 6_000, onCompaction: () => compactions.push(model.requests.length), responseFormat })
    const say = (berth) => [new core.HumanMessage(`Berth ${berth}? Which ship lies there, and since when? 何という船？`), new core.AIMessage('The bark Aurora, of Piraeus.')]
    const history = [...Array(60).keys()].flatMap(say)
    const { messages, structuredResponse } = await agent.invoke({ messages: [...history, new core.HumanMessage(TASK)] }, config)
    assert.deepEqual(structuredResponse, { deepest: 8 })
    assert.deepEqual(compactions, [])
    await agent.invoke({ messages: [...messages, new core.HumanMessage('And the lighthouse? 灯台は？'.repeat(5))] }, config)
    assert.deepEqual(compactions, [1])
  })

  test('another system prompt changes no view, and an edited history gets a new one', async () => {
    const compactions = []
    const baler = balerMiddleware({ host, strategy: 'native:digest', at: 1_500, onCompaction: (made) => compactions.push(made) })
    const model = new Scripted()
    const { messages } = await harbour(model, { baler }).invoke(task(), config)
    const before = compactions.length
    assert.ok(before > 1)
    const more = new core.HumanMessage('And the lighthouse? 灯台は？')
    await harbour(model, { baler, systemPrompt: 'It is the third of May.' }).invoke({ messages: [...messages, more] }, config)
    assert.equal(compactions.length, before)
    const [last, now] = model.requests.slice(-2)
    assert.ok(last.slice(1).every((message) => now.includes(message) || message.text.includes('baler:summary')))
    const edited = messages.filter((_, place) => place < 4 || place > 6)
    await harbour(model, { baler }).invoke({ messages: [...edited, more] }, config)
    assert.equal(compactions.length, before + 1)
    sound(model.requests.at(-1))
    assert.ok(model.requests.at(-1).length < edited.length / 2)
  })

  test('a view that is stored with the state survives a restart', async (t) => {
    const [major, minor] = framework('langchain/package.json').version.split('.').map(Number)
    if (major === 1 && minor < 3) return t.skip('`langchain` before 1.3 shows a middleware its state only after its hooks')
    const checkpointer = new core.MemorySaver()
    const stateSchema = z.object({ _balerView: z.string().optional() })
    const compactions = []
    const options = { at: 1_500, checkpointer, onCompaction: (made) => compactions.push(made) }
    const model = new Scripted()
    const { messages, ...others } = await harbour(model, { ...options, stateSchema }).invoke(task(), threaded)
    assert.ok(!('_balerView' in others))
    assert.equal(messages.length, BERTHS * 1.5 + 2)
    const before = compactions.length
    assert.ok(before > 1)
    const later = new Scripted()
    const agent = harbour(later, { ...options, stateSchema })
    const again = await agent.invoke({ messages: [new core.HumanMessage('And the lighthouse?')] }, threaded)
    assert.equal(compactions.length, before, 'it is shown by the stored view')
    assert.ok(model.requests.at(-1).every((message, place) => same(message, later.requests[0][place])))
    assert.equal(again.messages.length, messages.length + 2)
    assert.ok(!('_balerView' in again))
    assert.equal(typeof (await agent.getState(threaded)).values._balerView, 'string')
    // Without a schema, it is made anew.
    await harbour(new Scripted(), options).invoke({ messages: [new core.HumanMessage('And the crane?')] }, threaded)
    assert.equal(compactions.length, before + 1)
  })

  test('a refused request is sent once more, smaller', async () => {
    const model = new Scripted({ limit: 3_600 })
    const { messages } = await harbour(model, { contextWindow: 1_000_000 }).invoke(task(), config)
    await check(model, messages)
    assert.ok(model.refused > 0)
    const sizes = model.requests.map(characters)
    const refused = sizes.flatMap((size, n) => (size > 3_600 ? [n] : []))
    assert.equal(refused.length, model.refused)
    assert.ok(
      refused.every((n) => sizes[n + 1] < sizes[n] && sizes[n + 1] <= 3_600),
      'each refused one is followed by a smaller one',
    )
  })

  test('a refusal that cannot be helped is the provider’s', async () => {
    const model = new Scripted({ limit: 1 })
    await assert.rejects(
      harbour(model, { contextWindow: 1_000_000 }).invoke(task(), config),
      /prompt is too long: 9 tokens > 8 maximum/,
    )
    assert.equal(model.requests.length, 1)
    const other = new Scripted({ fault: 'the fog is too thick' })
    await assert.rejects(harbour(other, { at: 1_500 }).invoke(task(), config), /the fog is too thick/)
    assert.equal(other.requests.length, 1)
  })

  test('thinking is sent only behind the messages it was made behind', async () => {
    const model = new Scripted({ thinks: true })
    const { messages } = await harbour(model, { at: 1_500 }).invoke(task(), config)
    const thinks = (message) => message.type === 'ai' && JSON.stringify(message.content).includes('"thinking"')
    assert.ok(messages.filter((message) => message.type === 'ai').every(thinks), 'what is stored has all of it')
    const compacted = model.requests.flatMap((sent, n) => (sent.length < (model.requests[n - 1]?.length ?? 0) ? [n] : []))
    assert.ok(compacted.length > 1)
    for (const n of compacted) {
      const [previous, now, next] = model.requests.slice(n - 1, n + 2)
      const place = now.findIndex((message, index) => !same(message, previous[index]))
      const behind = now.slice(place + 1).filter((message) => message.type === 'ai')
      assert.ok(behind.length > 0 && !behind.some(thinks))
      // The call and the words stay.
      assert.ok(behind.every((message) => message.tool_calls.length > 0 && message.text === 'Next.'))
      if (next) assert.ok(thinks(next.findLast((message) => message.type === 'ai')), 'what it thought since is shown')
    }
  })

  test('texts of blocks change, and pictures stay', async () => {
    const model = new Scripted({ answers: true })
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
    const chart = { type: 'text', text: 'The chart of the bay: '.repeat(200) }
    const call = { id: 'chart', name: 'sound', args: { berth: 1 }, type: 'tool_call' }
    const history = [
      new core.HumanMessage(TASK),
      new core.AIMessage({ content: [{ type: 'text', text: 'Let me look.' }], tool_calls: [call] }),
      new core.ToolMessage({ content: [picture, chart], tool_call_id: 'chart', artifact: { scale: 5_000 }, name: 'sound' }),
      new core.AIMessage('A fine bay.'),
      new core.HumanMessage('Where is the lighthouse?'),
    ]
    const shortened = { text: 'The chart of the bay, in short.' }
    const strategy = ({ units }) => {
      const unit = units.findIndex(({ editable = [] }) => editable.length > 0)
      const { message, part } = units[unit].editable[0]
      return units.map((_, n) => (n === unit ? { rewrite: { unit, edits: [{ message, part, change: shortened }] } } : n))
    }
    await harbour(model, { at: 2_500, budget: 2_200, strategy }).invoke({ messages: history }, config)
    const [sent] = model.requests
    const tool = sent.find((message) => message.type === 'tool')
    assert.ok(tool instanceof core.ToolMessage)
    assert.equal(tool.content[0], picture)
    assert.equal(tool.content.length, 2)
    assert.ok(tool.content[1].text.includes(shortened.text) && tool.content[1].text.length < 400)
    assert.deepEqual([tool.tool_call_id, tool.name, tool.artifact], ['chart', 'sound', { scale: 5_000 }])
    assert.equal(JSON.parse(JSON.stringify(tool)).kwargs.content[1].text, tool.content[1].text)
    assert.equal(history[2].content[1].text, chart.text, 'what is stored does not change')
    assert.ok([0, 1, 3, 4].every((n) => sent.includes(history[n])))
  })

  test('the window is that of the model’s profile', async () => {
    const model = new Scripted({ profile: { maxInputTokens: 1_800 } })
    const { messages } = await harbour(model).invoke(task(), config)
    await check(model, messages, { at: 1_800 * 0.8 })
    await assert.rejects(harbour(new Scripted()).invoke(task(), config), /contextWindow/)
    assert.throws(() => balerMiddleware({ host, contextWindw: 5 }), OptionError)
    assert.throws(() => balerMiddleware({ host, budget: -5 }), OptionError)
  })

  test('the system prompt and the tools count', async () => {
    const long = 'Speak softly, and mind the tide. '.repeat(40)
    const firsts = []
    for (const options of [{}, { systemPrompt: long }, { words: long }]) {
      const sizes = []
      const model = new Scripted()
      await harbour(model, { at: 1_500, onCompaction: () => sizes.push(model.requests.length), ...options }).invoke(
        task(),
        config,
      )
      firsts.push(sizes[0])
    }
    const [plain, ...others] = firsts
    assert.ok(
      others.every((first) => first < plain),
      `requests before the first compaction: ${firsts}`,
    )
  })

  test('what fails in baler does not fail the agent', async () => {
    warnings.length = 0
    const model = new Scripted()
    const strategy = () => {
      throw new Error('the foghorn broke')
    }
    const { messages } = await harbour(model, { at: 1_500, strategy }).invoke(task(), config)
    await check(model, messages)
    assert.ok(warnings.some((warning) => warning.includes('the foghorn broke')))
    // A history that breaks the rules of its format is sent whole.
    warnings.length = 0
    const other = new Scripted({ answers: true })
    const tool = new core.ToolMessage({ content: 'deep water '.repeat(900), tool_call_id: 'nobody' })
    await harbour(other, { at: 1_500 }).invoke(
      { messages: [new core.HumanMessage(TASK), tool, new core.HumanMessage('So?')] },
      config,
    )
    assert.equal(other.requests[0][2], tool)
    assert.ok(warnings.some((warning) => warning.includes('sent whole')))
    warnings.length = 0
  })

  test('it works beside other middleware, and for many runs at once', async () => {
    const order = []
    const other = lc.createMiddleware({
      name: 'Outer',
      wrapModelCall: async (request, handler) => {
        const answer = await handler({ ...request, systemPrompt: `${request.systemPrompt} Speak softly.` })
        order.push(answer.type)
        return answer
      },
    })
    const models = [new Scripted(), new Scripted(), new Scripted()]
    await Promise.all(
      models.map(async (model) => {
        const agent = harbour(model, { at: 1_500, middleware: [other] })
        const { messages } = await agent.invoke(task(), config)
        await check(model, messages, { at: 1_500 })
      }),
    )
    assert.ok(order.length === models.length * (BERTHS / 2 + 1) && order.every((type) => type === 'ai'))
    assert.ok(models.every(({ requests }) => requests.every(([system]) => system.text.endsWith('Speak softly.'))))
  })
})

/** Returns the class of a model that sounds two berths at a time, and refuses requests of more than `limit` characters. */
function scripted({ BaseChatModel, AIMessage, AIMessageChunk, ChatGenerationChunk }) {
  return class extends BaseChatModel {
    requests = []
    refused = 0
    pieces = 0

    constructor(script = {}) {
      super({ maxRetries: 0 })
      this.script = script
    }

    get profile() {
      return this.script.profile ?? {}
    }

    _llmType() {
      return 'scripted'
    }

    bindTools(tools) {
      this.bound = tools
      return this
    }

    #answer(messages) {
      const { limit = Infinity, fault, thinks, answers, structure, tokens = () => 1 } = this.script
      this.requests.push([...messages])
      if (fault) throw new Error(fault)
      if (characters(messages) > limit) {
        this.refused += 1
        throw Object.assign(new Error('400 prompt is too long: 9 tokens > 8 maximum'), { status: 400 })
      }
      const thinking = { type: 'thinking', thinking: 'The next two, then.', signature: 'c2lnbmVk' }
      const content = (text) => (thinks ? [thinking, { type: 'text', text }] : text)
      const input_tokens = tokens(messages)
      const usage_metadata = { input_tokens, output_tokens: 1, total_tokens: input_tokens + 1 }
      if (structure) {
        const { name, function: form } = this.bound.at(-1)
        return new AIMessage({ content: '', tool_calls: [{ id: 'structure', name: name ?? form.name, args: structure, type: 'tool_call' }], usage_metadata })
      }
      if (answers)
        return new AIMessage(`A ship with a cargo of salted cod, olives and rope: ${'the bark Aurora, '.repeat(4)}of Piraeus.`)
      const done = Math.max(0, ...messages.flatMap(({ tool_call_id: id }) => (/^\d+$/.test(id) ? [Number(id) + 1] : [])))
      if (done >= BERTHS) return new AIMessage({ content: content(DONE), usage_metadata })
      const calls = [done, done + 1].map((berth) => ({ id: String(berth), name: 'sound', args: { berth }, type: 'tool_call' }))
      return new AIMessage({ content: content('Next.'), tool_calls: calls, usage_metadata })
    }

    async _generate(messages) {
      const message = this.#answer(messages)
      return { generations: [{ message, text: message.text }] }
    }

    async *_streamResponseChunks(messages, _, manager) {
      const answer = this.#answer(messages)
      if (typeof answer.content !== 'string')
        return yield new ChatGenerationChunk({ message: new AIMessageChunk(answer), text: answer.text })
      for (const text of answer.content.match(/.{1,4}/gsu)) {
        this.pieces += 1
        const chunk = new ChatGenerationChunk({ message: new AIMessageChunk(text), text })
        yield chunk
        await manager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk })
      }
      const chunks = answer.tool_calls.map(({ id, name, args }, index) => ({
        id,
        name,
        args: JSON.stringify(args),
        index,
        type: 'tool_call_chunk',
      }))
      yield new ChatGenerationChunk({ message: new AIMessageChunk({ content: '', tool_call_chunks: chunks, usage_metadata: answer.usage_metadata }), text: '' })
    }
  }
}

/** Fails if an output has no call, a call no output, or a message is not one of LangChain's. */
function sound(messages) {
  const open = new Set()
  for (const message of messages) {
    if (message.type === 'tool') assert.ok(open.delete(message.tool_call_id), `the output ${message.tool_call_id} has its call`)
    else assert.equal(open.size, 0, 'all calls have their outputs')
    for (const { id } of message.tool_calls ?? []) open.add(id)
    assert.equal(typeof message.getType, 'function')
  }
  assert.equal(open.size, 0)
}

/** The same messages for a provider: objects may be others. */
function same(one, other) {
  return other !== undefined && JSON.stringify(wire(one)) === JSON.stringify(wire(other))
}

const ROLES = { human: 'user', ai: 'assistant', tool: 'tool', system: 'system' }

function wire({ type, content, tool_call_id, tool_calls = [] }) {
  const calls = tool_calls.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
  const text =
    typeof content === 'string'
      ? content
      : content.filter((block) => block.text).map((block) => ({ type: 'text', text: block.text }))
  return { role: ROLES[type], content: text, tool_call_id, tool_calls: calls.length > 0 ? calls : undefined }
}

const written = (messages) => messages.map(wire)

const characters = (messages) => messages.reduce((sum, message) => sum + JSON.stringify(wire(message)).length, 0)
