/** The AI SDK, versions 6 and 7, with scripted models. `ai6`, `ai60` and so on are other names of `ai` in the folder. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, describe, test } from 'node:test'

import { setLog, validate } from 'baler'
import { balerMiddleware, balerPrepareStep } from 'baler/ai'

import { TASK, assertStable, assertValid, counted, framework, frozen, host, isSummary, measured, nextBed, partsOf, resultsIn, thinks } from './prompts.mjs'

globalThis.AI_SDK_LOG_WARNINGS = false

const warnings = []
setLog((warning) => warnings.push(warning))
after(() => setLog(null))

const used = (tokens) => ({
  inputTokens: { total: tokens, noCache: 1, cacheRead: tokens - 1, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
})
const usage = used(1)
const small = { host, at: 1_500, strategy: 'native:digest' }
const tooLong = 'prompt is too long: 208310 tokens > 200000 maximum'

const PROVIDERS = { ai: ['@ai-sdk/openai', '@ai-sdk/anthropic'], ai6: ['openai-v3', 'anthropic-v3'] }

for (const name of ['ai', 'ai6', 'ai60']) {
  const ai = await framework(name)
  const mocks = await framework(`${name}/test`)
  const skip = ai === undefined && `${name} is not in the folder BALER_FRAMEWORKS`
  describe(name, { skip }, () => tests(ai, mocks))
  const [openai, anthropic] = await Promise.all((PROVIDERS[name] ?? []).map(framework))
  if (openai && anthropic) describe(`${name} with the clients of providers`, () => wireTests(ai, openai, anthropic))
}

function tests(ai, mocks) {
  const isSeven = mocks.MockLanguageModelV4 !== undefined

  /** Measures two beds at a time, until all are. It refuses prompts of more than `most` characters, and says that they have `tokens`. */
  function gardener({ beds = 80, most = Infinity, tokens = () => 1, Mock = mocks.MockLanguageModelV4 ?? mocks.MockLanguageModelV3 } = {}) {
    const seen = []
    const refused = []
    const answer = (prompt) => {
      if (JSON.stringify(prompt).length > most) {
        refused.push(prompt)
        const about = { url: 'https://models.example', requestBodyValues: {}, statusCode: 400, isRetryable: false }
        throw new ai.APICallError({ ...about, message: 'Bad Request', responseBody: JSON.stringify({ error: { message: tooLong } }) })
      }
      seen.push(prompt)
      const bed = nextBed(prompt)
      if (bed >= beds) return [{ type: 'text', text: 'All beds are fine.' }]
      const calls = [bed, bed + 1].map((bed) => ({ toolCallId: `call-${bed}`, toolName: 'soil', input: JSON.stringify({ bed }) }))
      const thought = { type: 'reasoning', text: `Bed ${bed} is next.`, providerMetadata: { anthropic: { signature: `c2ln${bed}` } } }
      return [thought, { type: 'text', text: `Beds ${bed}, ${bed + 1}. ` }, ...calls.map((call) => ({ type: 'tool-call', ...call }))]
    }
    const reason = (content) => (content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop')
    const finish = (content, prompt) => ({ finishReason: { unified: reason(content), raw: reason(content) }, usage: used(tokens(prompt)) })
    const model = new Mock({
      modelId: 'gpt-5',
      doGenerate: async ({ prompt }) => {
        const content = answer(prompt)
        return { content, ...finish(content, prompt), warnings: [] }
      },
      doStream: async ({ prompt }) => {
        const content = answer(prompt)
        const parts = content.flatMap((part, index) => {
          if (part.type === 'tool-call') return [part]
          const [id, { type, text, providerMetadata }] = [String(index), part]
          const delta = { type: `${type}-delta`, id, delta: text }
          return [{ type: `${type}-start`, id }, delta, { type: `${type}-end`, id, providerMetadata }]
        })
        const chunks = [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', ...finish(content, prompt) }]
        return { stream: mocks.convertArrayToReadableStream(chunks) }
      },
    })
    return { model, seen, refused }
  }

  const soil = ai.tool({
    description: 'Measures the soil of a bed.',
    inputSchema: ai.jsonSchema({ type: 'object', properties: { bed: { type: 'number' } }, required: ['bed'] }),
    execute: async ({ bed }) => {
      if (bed === 7) throw new Error('the probe of bed 7 is broken')
      return measured(bed)
    },
  })
  const run = { tools: { soil }, system: 'You are a gardener.', prompt: TASK, stopWhen: ai.stepCountIs(100), maxRetries: 0 }
  const wrapped = ({ model }, options) => ai.wrapLanguageModel({ model, middleware: balerMiddleware(options) })
  /** Messages that were added to a history. */
  const stored = (result) => result.steps.at(-1).response.messages.length > 1 ? result.response.messages : result.responseMessages
  /** Notes before which prompts compactions were made. */
  const watched = (script, options = small) => {
    const compactions = []
    return { compactions, options: { ...options, onCompaction: (made) => made.isCompacted && compactions.push(script.seen.length) } }
  }

  function assertWholeHistory(result, beds = 80) {
    assert.equal(result.text, 'All beds are fine.')
    const messages = stored(result)
    assert.equal(messages.length, beds + 1)
    assert.deepEqual(resultsIn(messages).map(({ toolCallId }) => toolCallId), Array.from({ length: beds }, (_, bed) => `call-${bed}`))
    assert.equal(messages.filter(thinks).length, beds / 2)
    assert.ok(!JSON.stringify(messages).includes('baler'))
  }

  function assertViews(script, compactions, messages = 82) {
    assert.ok(compactions.length >= 1 && compactions.length <= 6, `compactions before the prompts ${compactions}`)
    assertStable(script.seen, compactions)
    for (const prompt of script.seen) {
      assert.equal(prompt[0].role, 'system')
      assert.ok(prompt.length < messages / 2, `${prompt.length} messages`)
    }
    assert.ok(script.seen.at(-1).some(isSummary))
  }

  test('a tool loop is sent as views, and its result is whole', async () => {
    const script = gardener()
    const { compactions, options } = watched(script)
    const result = await ai.generateText({ ...run, model: wrapped(script, options) })
    assertWholeHistory(result)
    assertViews(script, compactions)
  })

  test('reasoning that is signed goes behind a change, and what is thought later stays', async () => {
    const script = gardener()
    const { compactions, options } = watched(script)
    await ai.generateText({ ...run, model: wrapped(script, options) })
    for (const index of compactions) {
      const [prompt, later] = [script.seen[index], script.seen[index + 1]]
      const change = prompt.findIndex(isSummary)
      const behind = prompt.slice(change).filter(({ role }) => role === 'assistant')
      assert.ok(behind.length > 0 && !behind.some(thinks))
      assert.ok(partsOf(behind[0]).some(({ type }) => type === 'text'))
      if (later) assert.ok(thinks(later.filter(({ role }) => role === 'assistant').at(-1)))
    }
  })

  test('reasoning goes behind what was left out without a word, and with it a message of nothing else', async () => {
    const thought = { type: 'reasoning', text: 'The tide turns.', providerOptions: { bedrock: { redactedData: 'c2ln' } } }
    const say = (role, ...content) => ({ role, content })
    const tide = (text) => ({ type: 'text', text })
    const prompt = frozen([
      ...harbour(10),
      say('assistant', thought),
      say('user', tide('And?')),
      say('assistant', thought, tide('High water at 04:12. ')),
    ])
    const strategy = ({ units }) => units.flatMap((_, unit) => (unit > 0 && unit < 9 ? [] : unit))
    const middleware = balerMiddleware({ host, at: 400, budget: 399, strategy })
    const sent = await middleware.transformParams({ params: { prompt }, model: { modelId: 'gpt-5' } })
    assert.ok(!sent.prompt.some(thinks))
    assert.deepEqual(sent.prompt.slice(-2), [prompt.at(-2), say('assistant', prompt.at(-1).content[1])])
    assert.ok(sent.prompt.length < prompt.length && sent.prompt.every(({ content }) => content.length > 0))
    assertValid(sent.prompt, 'Log every ship')
  })

  test('a tool loop is streamed', async () => {
    const script = gardener()
    const { compactions, options } = watched(script)
    const result = ai.streamText({ ...run, model: wrapped(script, options) })
    let text = ''
    for await (const delta of result.textStream) text += delta
    assert.match(text, /^Beds 0, 1\. Beds 2, 3\. .*All beds are fine\.$/)
    assert.ok(!text.includes('baler'))
    assert.equal((await result.steps).length, 41)
    assertViews(script, compactions)
  })

  test('a stream passes as it comes', async () => {
    const gate = Promise.withResolvers?.() ?? deferred()
    const { model } = gardener()
    model.doStream = async () => ({
      stream: new ReadableStream({
        async start(controller) {
          controller.enqueue({ type: 'text-start', id: '0' })
          controller.enqueue({ type: 'text-delta', id: '0', delta: 'The tide ' })
          await gate.promise
          controller.enqueue({ type: 'text-delta', id: '0', delta: 'turns.' })
          controller.enqueue({ type: 'text-end', id: '0' })
          controller.enqueue({ type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage })
          controller.close()
        },
      }),
    })
    const texts = []
    for await (const delta of ai.streamText({ model: wrapped({ model }, small), prompt: TASK }).textStream) {
      texts.push(delta)
      gate.resolve()
    }
    assert.deepEqual(texts, ['The tide ', 'turns.'])
  })

  test('messages that are shown as they are stay the same objects, and none is changed', async () => {
    const middleware = balerMiddleware(small)
    const prompt = frozen([{ role: 'system', content: 'You keep a harbour.' }, ...harbour(40)])
    const params = frozen({ prompt, temperature: 0.2, providerOptions: { openai: { store: false } } })
    const sent = await middleware.transformParams({ type: 'generate', params, model: { modelId: 'gpt-5' } })
    assert.notEqual(sent, params)
    assert.equal(sent.temperature, 0.2)
    assert.ok(sent.prompt.length < prompt.length / 2)
    assert.deepEqual(sent.prompt.filter((message) => !prompt.includes(message)).map(isSummary), [true])
    assertValid(sent.prompt, 'Log every ship')
    const again = await middleware.transformParams({ type: 'generate', params, model: { modelId: 'gpt-5' } })
    assert.deepEqual(again.prompt, sent.prompt)
    const short = frozen({ prompt: prompt.slice(0, 4) })
    assert.equal(await middleware.transformParams({ type: 'generate', params: short, model: { modelId: 'gpt-5' } }), short)
  })

  test('a history from a store is shown by the view that it had', async () => {
    const script = gardener()
    const { compactions, options } = watched(script)
    const model = wrapped(script, options)
    const first = await ai.generateText({ ...run, model })
    const before = { shown: script.seen.at(-1), compactions: compactions.length }
    const { prompt: _, ...rest } = run
    const messages = JSON.parse(JSON.stringify([{ role: 'user', content: TASK }, ...stored(first), { role: 'user', content: 'And the herbs?' }]))
    await ai.generateText({ ...rest, messages, model })
    assert.equal(compactions.length, before.compactions)
    const now = script.seen.at(-1)
    assert.deepEqual(now.slice(0, before.shown.length), before.shown)
    assert.deepEqual(now.at(-1).content[0].text, 'And the herbs?')
    // Another program makes a view of its own.
    const other = gardener()
    const second = watched(other)
    await ai.generateText({ ...rest, messages, model: wrapped(other, second.options) })
    assert.deepEqual(second.compactions, [0])
    assertValid(other.seen[0])
    assert.ok(other.seen[0].length < messages.length / 2)
  })

  for (const how of ['generateText', 'streamText']) {
    test(`${how}: a request that is too long is sent once more, smaller`, async () => {
      const script = gardener({ most: 9_000 })
      const model = wrapped(script, { ...small, at: undefined, contextWindow: 1_000_000 })
      const result = ai[how]({ ...run, model })
      if (how === 'streamText') await result.consumeStream()
      assert.equal(await (how === 'streamText' ? result.text : (await result).text), 'All beds are fine.')
      assert.ok(script.refused.length >= 1 && script.refused.length < 8, `${script.refused.length} were refused`)
      script.seen.forEach((prompt) => assertValid(prompt))
      assert.equal(script.seen.length, 41)
    })

    test(`${how}: an overflow that cannot be helped is the provider's error, after one request`, async () => {
      const script = gardener({ most: 1 })
      const errors = []
      const call = { ...run, model: wrapped(script, small), onError: ({ error }) => errors.push(error) }
      if (how === 'streamText') await ai.streamText(call).consumeStream()
      else await ai.generateText(call).catch((error) => errors.push(error))
      assert.equal(errors.length, 1)
      assert.ok(ai.APICallError.isInstance(errors[0]) && errors[0].responseBody.includes(tooLong), String(errors[0]))
      assert.equal(script.refused.length, 1)
    })
  }

  test('other errors are not retried', async () => {
    const { model } = gardener()
    let calls = 0
    model.doGenerate = async () => {
      calls += 1
      throw new Error('the kitchen is closed')
    }
    const prompt = harbour(40)
    await assert.rejects(ai.generateText({ messages: prompt, model: wrapped({ model }, small), maxRetries: 0 }), /the kitchen is closed/)
    assert.equal(calls, 1)
  })

  test('an abort ends a compaction', { timeout: 20_000 }, async () => {
    const controller = new AbortController()
    const strategy = () => {
      controller.abort(new Error('the ship has sailed'))
      return new Promise(() => {})
    }
    const script = gardener()
    const call = { messages: harbour(40), model: wrapped(script, { ...small, strategy }), abortSignal: controller.signal }
    await assert.rejects(ai.generateText(call), /the ship has sailed|aborted/)
    assert.equal(script.seen.length, 0)
  })

  test('what fails in baler does not fail the agent', async () => {
    const script = gardener({ beds: 0 })
    const broken = { role: 'user', content: [{ type: 'text', text: 'the menu 🍲'.repeat(400) }] }
    const model = wrapped(script, { ...small, at: 100, budget: 50, strategy: () => { throw new Error('no salt') } })
    const result = await ai.generateText({ messages: [broken], model })
    assert.equal(result.text, 'All beds are fine.')
    const call = { type: 'tool-call', toolCallId: 'c-1', toolName: 'count', input: { fish: 12n } }
    const told = warnings.length
    const params = { prompt: [...harbour(2), { role: 'assistant', content: [call] }] }
    assert.equal(await balerMiddleware(small).transformParams({ params, model: { modelId: 'gpt-5' } }), params)
    assert.match(warnings.slice(told).join(), /BigInt/)
    // Something that is no message at all.
    const odd = { prompt: [{ role: 'user', content: null }] }
    assert.equal(await balerMiddleware(small).transformParams({ params: odd, model: { modelId: 'gpt-5' } }), odd)
    assert.throws(() => balerMiddleware({}), /contextWindow/)
  })

  test('a history that the provider holds is left alone', async () => {
    const prompt = harbour(40)
    for (const providerOptions of [{ openai: { previousResponseId: 'resp_1' } }, { azure: { conversation: 'conv_1' } }]) {
      const params = { prompt, providerOptions }
      assert.equal(await balerMiddleware(small).transformParams({ params, model: { modelId: 'gpt-5' } }), params)
    }
  })

  test('models of both specifications are wrapped', { skip: !isSeven && 'only version 7 knows two' }, async () => {
    const script = gardener({ Mock: mocks.MockLanguageModelV3 })
    const { compactions, options } = watched(script)
    assertWholeHistory(await ai.generateText({ ...run, model: wrapped(script, options) }))
    assertViews(script, compactions)
  })

  for (const how of ['generateText', 'streamText']) {
    test(`${how}: prepareStep gives each step a view of the whole history`, async () => {
      const script = gardener()
      const { compactions, options } = watched(script)
      const prepareStep = balerPrepareStep(options)
      const call = { ...run, model: script.model, prepareStep }
      let result
      if (how === 'generateText') assertWholeHistory((result = await ai.generateText(call)))
      else {
        const stream = ai.streamText(call)
        await stream.consumeStream()
        result = { steps: await stream.steps, response: await stream.response, responseMessages: await stream.responseMessages }
        assert.equal(result.steps.length, 41)
      }
      assertViews(script, compactions)
      // The next turn starts with the whole history, and is shown by the newest view.
      const { prompt: _, ...rest } = call
      const before = { shown: script.seen.at(-1), compactions: compactions.length }
      const messages = [{ role: 'user', content: TASK }, ...stored(result), { role: 'user', content: 'And the herbs?' }]
      await ai.generateText({ ...rest, messages })
      assert.equal(compactions.length, before.compactions)
      assert.deepEqual(script.seen.at(-1).slice(0, before.shown.length), before.shown)
    })
  }

  test('the size of a request is what the provider counts', async () => {
    const options = { ...small, at: 6_000 }
    for (const how of ['generateText', 'streamText']) {
      for (const by of ['middleware', 'prepareStep']) {
        const ask = async (tokens) => {
          const script = gardener({ tokens })
          const { compactions, options: own } = watched(script, options)
          const call = by === 'middleware' ? { model: wrapped(script, own) } : { model: script.model, prepareStep: balerPrepareStep(own) }
          const result = ai[how]({ ...run, ...call })
          if (how === 'streamText') await result.consumeStream()
          assert.equal((await (await result).steps).length, 41)
          return { script, compactions }
        }
        assert.deepEqual((await ask(() => 1)).compactions, [], `${how}, ${by}`)
        const { script, compactions } = await ask(counted)
        assert.ok(compactions.length > 0, `${how}, ${by}`)
        assertStable(script.seen, compactions)
        // What is added in a step is estimated.
        for (const prompt of script.seen) assert.ok(counted(prompt) < 6_400, `${how}, ${by}: ${counted(prompt)} tokens`)
      }
    }
  })

  test('prepareStep works inside of one of your own', async () => {
    const script = gardener()
    const { compactions, options } = watched(script)
    const inner = balerPrepareStep(options)
    const prepareStep = async (step) => ({ ...(await inner(step)), toolChoice: 'auto' })
    assertWholeHistory(await ai.generateText({ ...run, model: script.model, prepareStep }))
    assertViews(script, compactions)
  })

  test('an agent keeps what it was given', async () => {
    const script = gardener()
    const { compactions, options } = watched(script)
    const agent = new ai.ToolLoopAgent({ ...run, instructions: run.system, model: wrapped(script, options) })
    assertWholeHistory(await agent.generate({ prompt: TASK }))
    assertViews(script, compactions)
  })

  test('a call that waited for the user, and other parts', async () => {
    const picture = { type: 'file', mediaType: 'image/png', data: new Uint8Array([137, 80, 78, 71]) }
    const [ask, call] = [{ type: 'tool-approval-request', approvalId: 'a', toolCallId: 'x-1' }, { type: 'tool-call', toolCallId: 'x-1', toolName: 'moor', input: 'berth 4' }]
    const search = { type: 'tool-call', toolCallId: 's-1', toolName: 'web_search', input: { q: 'tide' }, providerExecuted: true }
    const found = { type: 'tool-result', toolCallId: 's-1', toolName: 'web_search', output: { type: 'json', value: { high: '04:12' } } }
    const prompt = frozen([
      { role: 'user', content: [{ type: 'text', text: 'Log every ship.' }, picture] },
      { role: 'assistant', content: [search, found, { type: 'text', text: 'High water at 04:12. ' }] },
      { role: 'system', content: 'The fog has lifted.' },
      { role: 'assistant', content: [call, ask] },
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a', approved: true }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'x-1', toolName: 'moor', output: { type: 'content', value: [{ type: 'text', text: `moored \ud83d` }, { type: 'image-data', data: 'aGk=', mediaType: 'image/png' }] } }] },
      ...harbour(40).slice(1),
    ])
    const told = warnings.length
    const sent = await balerPrepareStep(small)({ messages: prompt, model: 'anthropic/claude-opus-5-5', instructions: 'Be brief.' })
    assert.deepEqual(warnings.slice(told), [])
    assert.ok(sent.messages.length < prompt.length / 2)
    assert.equal(sent.messages[0], prompt[0])
    assertValid(sent.messages, 'Log every ship')
  })

  test('parts that are shown in another form are copies, and the others are the same objects', async () => {
    const words = 'The north wall is damp. '.repeat(60)
    const picture = { type: 'image-data', data: 'aGk=', mediaType: 'image/png' }
    const text = { type: 'text', text: words, providerOptions: { openai: { itemId: 'msg_1' } } }
    const calls = [1, 2, 3].map((n) => ({ type: 'tool-call', toolCallId: `c-${n}`, toolName: 'soil', input: { bed: n } }))
    const outputs = [
      { type: 'content', value: [{ type: 'text', text: words }, picture] },
      { type: 'error-text', value: words },
      { type: 'json', value: { soil: words } },
    ]
    const results = outputs.map((output, n) => ({ type: 'tool-result', toolCallId: `c-${n + 1}`, toolName: 'soil', output }))
    const thought = { type: 'reasoning', text: 'Damp again.' }
    const prompt = frozen([
      { role: 'user', content: [{ type: 'text', text: TASK }] },
      { role: 'assistant', content: [thought, text, ...calls] },
      { role: 'tool', content: results },
      { role: 'assistant', content: [{ ...thought, providerOptions: { anthropic: { signature: 'c2ln' } } }, { type: 'text', text: 'Bed 2 is broken.' }] },
      { role: 'user', content: [{ type: 'text', text: 'And the herbs?' }] },
    ])
    const edit = (message, part, text) => ({ message, part, change: { text } })
    const edits = [edit(0, 0, 'Damp.'), edit(1, 0, 'one'), edit(1, 1, 'two'), edit(1, 2, 'three')]
    const strategy = ({ units }) => units.map((_, unit) => (unit === 1 ? { rewrite: { unit, edits } } : unit))
    const options = { host, at: 2_400, budget: 2_300, strategy, policy: { 'rewrite-assistant': true } }
    const { prompt: sent } = await balerMiddleware(options).transformParams({ params: { prompt }, model: { modelId: 'gpt-5' } })
    assert.deepEqual([0, 4].map((index) => sent[index] === prompt[index]), [true, true])
    assert.deepEqual(sent[3].content, [prompt[3].content[1]])
    const [, answer, { content: shown }] = sent
    assert.equal(answer.content[0], thought)
    // A text that the provider stored would be sent as it is there.
    assert.equal(answer.content[1].providerOptions, undefined)
    assert.match(answer.content[1].text, /Damp\./)
    assert.deepEqual(answer.content.slice(2).map((call, n) => call === calls[n]), [true, true, true])
    assert.deepEqual(shown.map(({ output }) => output.type), ['content', 'error-text', 'text'])
    assert.match(shown[0].output.value[0].text, /one/)
    assert.equal(shown[0].output.value[1], picture)
    assert.match(shown[1].output.value + shown[2].output.value, /two.*three/s)
    assert.ok(!JSON.stringify(shown).includes('damp'))
    // Where the message is one text, it stays one.
    const plain = [prompt[0], { role: 'assistant', content: words.repeat(4) }, prompt[3], prompt[4]]
    const one = ({ units }) => units.map((_, unit) => (unit === 1 ? { rewrite: { unit, edits: [edit(0, 0, 'Damp.')] } } : unit))
    const step = balerPrepareStep({ ...options, at: 1_000, budget: 900, strategy: one })
    const { messages } = await step({ messages: plain, model: { modelId: 'gpt-5' } })
    assert.equal(typeof messages[1].content, 'string')
    assert.match(messages[1].content, /Damp\./)
  })
}

/** What goes over the wire, with a scripted `fetch`. */
function wireTests(ai, { createOpenAI }, { createAnthropic }) {
  const hash = (messages) => createHash('sha256').update(JSON.stringify(messages)).digest('base64')

  /** Thinking is taken only behind the messages that it was made behind. */
  function assertBound(messages) {
    for (const [index, { content }] of messages.entries()) {
      const [block] = content
      if (block.type === 'thinking') assert.equal(block.signature, hash(messages.slice(0, index)), `bound to another conversation: ${index}`)
    }
  }

  const json = (body, status = 200) => new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
  const call = (bed) => ({ id: `call-${bed}`, name: 'soil', input: { bed } })
  const openaiCall = (bed) => ({ call_id: `call-${bed}`, name: 'soil', arguments: JSON.stringify({ bed }) })

  /** The answers of each API, with two calls or none. */
  const answers = {
    anthropic: (bed, beds, messages) => ({
      ...{ id: `msg_${bed}`, type: 'message', role: 'assistant', model: 'claude-opus-5-5' },
      content: beds
        ? [{ type: 'thinking', thinking: `Bed ${bed} is next.`, signature: hash(messages) }, ...beds.map((bed) => ({ type: 'tool_use', ...call(bed) }))]
        : [{ type: 'text', text: 'All beds are fine.' }],
      ...{ stop_reason: beds ? 'tool_use' : 'end_turn', stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
    }),
    'openai-responses': (bed, beds) => ({
      ...{ id: `resp_${bed}`, object: 'response', created_at: 1, model: 'gpt-5', status: 'completed', incomplete_details: null },
      output: beds
        ? [
            { type: 'reasoning', id: `rs_${bed}`, summary: [], encrypted_content: 'c2ln' },
            ...beds.map((bed) => ({ type: 'function_call', id: `fc_${bed}`, status: 'completed', ...openaiCall(bed) })),
          ]
        : [{ type: 'message', id: `msg_${bed}`, role: 'assistant', content: [{ type: 'output_text', text: 'All beds are fine.', annotations: [] }] }],
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
    'openai-chat': (bed, beds) => ({
      ...{ id: `chat_${bed}`, created: 1, model: 'gpt-5' },
      choices: [{
        index: 0,
        finish_reason: beds ? 'tool_calls' : 'stop',
        message: beds
          ? { role: 'assistant', content: null, tool_calls: beds.map((bed) => ({ id: `call-${bed}`, type: 'function', function: openaiCall(bed) })) }
          : { role: 'assistant', content: 'All beds are fine.' },
      }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  }
  const errors = {
    anthropic: { type: 'error', error: { type: 'invalid_request_error', message: tooLong } },
    'openai-responses': { error: { message: 'Your input exceeds the context window of this model.', code: 'context_length_exceeded', type: 'invalid_request_error' } },
  }
  errors['openai-chat'] = errors['openai-responses']

  const models = {
    anthropic: (fetch) => createAnthropic({ apiKey: 'k', fetch })('claude-opus-5-5'),
    'openai-responses': (fetch) => createOpenAI({ apiKey: 'k', fetch }).responses('gpt-5'),
    'openai-chat': (fetch) => createOpenAI({ apiKey: 'k', fetch }).chat('gpt-5'),
  }

  for (const format of Object.keys(models)) {
    for (const most of [Infinity, 9_000]) {
      test(`${format}: what is sent is valid${most === Infinity ? '' : ', also after an overflow'}`, async () => {
        const bodies = []
        let refused = 0
        const fetch = async (_, { body }) => {
          if (body.length > most) {
            refused += 1
            return json(errors[format], 400)
          }
          bodies.push(body)
          const bed = Math.max(-1, ...[...body.matchAll(/call-(\d+)/g)].map(([, bed]) => Number(bed))) + 1
          const { messages } = JSON.parse(body)
          if (format === 'anthropic') assertBound(messages)
          return json(answers[format](bed, bed < 60 ? [bed, bed + 1] : undefined, messages))
        }
        const limit = most === Infinity ? { at: 1_500 } : { contextWindow: 1_000_000 }
        const middleware = balerMiddleware({ host, strategy: 'native:digest', ...limit })
        const result = await ai.generateText({
          model: ai.wrapLanguageModel({ model: models[format](fetch), middleware }),
          tools: { soil: ai.tool({ description: 'Measures.', inputSchema: ai.jsonSchema({ type: 'object' }), execute: ({ bed }) => measured(bed) }) },
          stopWhen: ai.stepCountIs(100),
          system: 'You are a gardener.',
          prompt: TASK,
          providerOptions: { openai: { store: false, include: ['reasoning.encrypted_content'] }, anthropic: { thinking: { type: 'adaptive' } } },
        })
        assert.equal(result.text, 'All beds are fine.')
        assert.ok(most === Infinity ? refused === 0 : refused > 0 && refused < 8, `${refused} were refused`)
        assert.equal(bodies.length, 31)
        for (const body of bodies) {
          const found = await validate(body, { format, host })
          assert.ok(found.isValid, JSON.stringify(found.violations))
          assert.ok(body.includes(TASK))
        }
        assert.match(bodies.at(-1), /baler:summary/)
        if (format === 'anthropic') assert.match(bodies.at(-1), /"thinking":"/)
      })
    }
  }
}

/** A promise with what settles it; Node 20 has no `Promise.withResolvers`. */
function deferred() {
  const made = {}
  made.promise = new Promise((resolve) => (made.resolve = resolve))
  return made
}

/** A log of a harbour: ships come in, and are asked for by a tool. */
function harbour(ships) {
  const answered = Array.from({ length: ships }, (_, ship) => {
    const call = { toolCallId: `ship-${ship}`, toolName: 'radio' }
    const said = `Ship ${ship}, MV Παναγία ${ship}, draught ${4 + (ship % 5)} m, carries barley and salt, asks for berth ${ship % 9}`
    return [
      { role: 'assistant', content: [{ type: 'tool-call', ...call, input: { ship } }] },
      { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'text', value: said } }] },
    ]
  })
  return [{ role: 'user', content: [{ type: 'text', text: 'Log every ship that comes in. Berth 3 stays free.' }] }, ...answered.flat()]
}
