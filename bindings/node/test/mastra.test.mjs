/** Mastra's agents with scripted models. They need Node 22.13 or newer. */

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'

import { setLog } from 'baler'
import { BalerProcessor } from 'baler/mastra'

import { TASK, assertStable, assertValid, counted, framework, host, isSummary, measured, nextBed, partsOf, resultsIn, thinks } from './prompts.mjs'

const warnings = []
setLog((warning) => warnings.push(warning))
after(() => setLog(null))

const [major, minor] = process.versions.node.split('.').map(Number)
const isNew = major > 22 || (major === 22 && minor >= 13)
const core = isNew ? await framework('@mastra/core/agent') : undefined
const skip = !isNew ? 'Mastra needs Node 22.13' : core === undefined && '@mastra/core is not in the folder BALER_FRAMEWORKS'

describe('Mastra', { skip }, () => tests())

async function tests() {
  const { Agent } = core
  const { createTool } = await framework('@mastra/core/tools')
  const { InMemoryStore } = await framework('@mastra/core/storage')
  const { noopLogger } = await framework('@mastra/core/logger')
  const { Mastra } = await framework('@mastra/core/mastra')
  const { z } = await framework('zod')
  const memories = await framework('@mastra/memory')

  const small = { host, at: 1_800, strategy: 'native:digest' }
  const error = (most) => Object.assign(new Error('Bad Request'), {
    statusCode: 400,
    responseBody: JSON.stringify({ error: { message: `This model's maximum context length is ${most} tokens.` } }),
  })

  /** Measures two beds at a time, until all are. It refuses prompts of more than `most` characters, and says that they have `tokens`. */
  function gardener({ beds = 80, most = Infinity, tokens = () => 1 } = {}) {
    const seen = []
    const refused = []
    const answer = (prompt) => {
      if (JSON.stringify(prompt).length > most) {
        refused.push(prompt)
        throw error(most)
      }
      seen.push(structuredClone(prompt))
      const bed = nextBed(prompt)
      if (bed >= beds) return [{ type: 'text', text: 'All beds are fine.' }]
      const calls = [bed, bed + 1].map((bed) => ({ toolCallId: `call-${bed}`, toolName: 'soil', input: JSON.stringify({ bed }) }))
      const thought = { type: 'reasoning', text: `Bed ${bed} is next.`, providerMetadata: { anthropic: { signature: `c2ln${bed}` } } }
      return [thought, { type: 'text', text: `Beds ${bed}, ${bed + 1}. ` }, ...calls.map((call) => ({ type: 'tool-call', ...call }))]
    }
    const used = (prompt) => ({ inputTokens: tokens(prompt), outputTokens: 1, totalTokens: tokens(prompt) + 1 })
    const reason = (content) => (content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop')
    const model = {
      specificationVersion: 'v2',
      provider: 'scripted',
      modelId: 'gpt-5',
      supportedUrls: {},
      async doGenerate({ prompt }) {
        const content = answer(prompt)
        return { content, finishReason: reason(content), usage: used(prompt), warnings: [] }
      },
      async doStream({ prompt }) {
        const content = answer(prompt)
        const parts = content.flatMap((part, index) => {
          if (part.type === 'tool-call') return [part]
          const [id, { type, text, providerMetadata }] = [String(index), part]
          return [{ type: `${type}-start`, id }, { type: `${type}-delta`, id, delta: text }, { type: `${type}-end`, id, providerMetadata }]
        })
        const chunks = [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', finishReason: reason(content), usage: used(prompt) }]
        return { stream: ReadableStream.from(chunks) }
      },
    }
    return { model, seen, refused }
  }

  const soil = createTool({
    id: 'soil',
    description: 'Measures the soil of a bed. '.repeat(10),
    inputSchema: z.object({ bed: z.number() }),
    execute: async (input, context) => {
      const { bed } = input.context ?? input
      void context
      if (bed === 7) throw new Error('the probe of bed 7 is broken')
      return { soil: measured(bed) }
    },
  })

  /** An agent with the processor, and the numbers of the prompts that were the first behind a compaction. */
  function agentOf(script, options = small, more = {}) {
    const compactions = []
    const receipts = []
    const onCompaction = (made) => {
      receipts.push(made.receipt)
      if (made.isCompacted) compactions.push(script.seen.length)
    }
    const baler = new BalerProcessor({ ...options, onCompaction })
    const agent = new Agent({
      ...{ id: 'gardener', name: 'gardener', instructions: 'You are a gardener.', model: script.model, tools: { soil }, maxRetries: 0 },
      ...{ inputProcessors: [baler], errorProcessors: [baler], maxProcessorRetries: 50, ...more },
    })
    new Mastra({ logger: noopLogger, agents: { gardener: agent } })
    return { agent, compactions, receipts }
  }

  function assertViews(script, compactions, receipts, messages = 82) {
    assert.ok(compactions.length >= 1 && compactions.length <= 6, `compactions before the prompts ${compactions}`)
    assertStable(script.seen, compactions)
    for (const prompt of script.seen) assert.ok(prompt.length < messages / 2, `${prompt.length} messages`)
    assert.ok(script.seen.at(-1).some(isSummary))
    // The system prompt and the tool count.
    for (const { tokens } of receipts) assert.ok(tokens.overhead > 60, JSON.stringify(tokens))
  }

  const run = { maxSteps: 100 }

  for (const how of ['generate', 'stream']) {
    test(`${how}: a tool loop is sent as views, and its result is whole`, async () => {
      const script = gardener()
      const { agent, compactions, receipts } = agentOf(script)
      const result = await agent[how](TASK, run)
      assert.match(await result.text, /All beds are fine\.$/)
      const steps = await result.steps
      assert.equal(steps.length, 41)
      assert.equal(steps.flatMap(({ toolResults }) => toolResults).length, 79)
      assertViews(script, compactions, receipts)
    })
  }

  test('the size of a request is what the provider counts', async () => {
    for (const how of ['generate', 'stream']) {
      const ask = async (tokens) => {
        const script = gardener({ tokens })
        const { agent, compactions } = agentOf(script, { ...small, at: 6_000 })
        await (await agent[how](TASK, run)).text
        return { script, compactions }
      }
      assert.deepEqual((await ask(() => 1)).compactions, [], how)
      const { script, compactions } = await ask(counted)
      assert.ok(compactions.length > 0, how)
      assertStable(script.seen, compactions)
      // What is added in a step is estimated.
      for (const prompt of script.seen) assert.ok(counted(prompt) < 6_400, `${how}: ${counted(prompt)} tokens`)
      // Of the last step, too.
      const talk = gardener({ beds: 0, tokens: () => 5_990 })
      const { agent, compactions: made } = agentOf(talk, { ...small, at: 6_000 })
      const history = Array.from({ length: 40 }, (_, bed) => [{ role: 'user', content: measured(bed) }, { role: 'assistant', content: 'Fine.' }]).flat()
      const messages = [{ role: 'user', content: TASK }, { role: 'assistant', content: 'I will.' }, ...history, { role: 'user', content: 'And the herbs?' }]
      await (await agent[how](messages, run)).text
      await (await agent[how]([...messages, { role: 'assistant', content: 'All beds are fine.' }, { role: 'user', content: measured(40) }], run)).text
      assert.deepEqual(made, [1], how)
    }
  })

  test('reasoning that is signed goes behind a change, and what is thought later stays', async () => {
    const script = gardener()
    const { agent, compactions } = agentOf(script)
    await agent.generate(TASK, run)
    for (const index of compactions) {
      const [prompt, later] = [script.seen[index], script.seen[index + 1]]
      const behind = prompt.slice(prompt.findIndex(isSummary)).filter(({ role }) => role === 'assistant')
      assert.ok(behind.length > 0 && !behind.some(thinks))
      if (later) assert.ok(thinks(later.filter(({ role }) => role === 'assistant').at(-1)))
    }
  })

  test('text is streamed as it comes', async () => {
    const script = gardener({ beds: 40 })
    const { agent } = agentOf(script)
    let text = ''
    for await (const delta of (await agent.stream(TASK, run)).textStream) text += delta
    assert.match(text, /^Beds 0, 1\. Beds 2, 3\. .*All beds are fine\.$/)
    assert.ok(!text.includes('baler'))
  })

  test('memory keeps the whole history, and is shown by the view that it had', { skip: !memories && 'no @mastra/memory' }, async () => {
    const script = gardener()
    const storage = new InMemoryStore()
    const memory = () => new memories.Memory({ storage, options: { lastMessages: 500 } })
    const { agent, compactions, receipts } = agentOf(script, small, { memory: memory() })
    const thread = { memory: { thread: 'north-wall', resource: 'garden' } }
    await agent.generate(TASK, { ...run, ...thread })
    assertViews(script, compactions, receipts)
    const { messages } = await memory().recall({ threadId: 'north-wall', resourceId: 'garden', perPage: false })
    const text = JSON.stringify(messages)
    for (let bed = 0; bed < 80; bed += 1) assert.ok(text.includes(`call-${bed}"`), `bed ${bed}`)
    assert.ok(text.includes(TASK) && !text.includes('baler'))
    const before = { shown: script.seen.at(-1), compactions: compactions.length }
    await agent.generate('And the herbs?', { ...run, ...thread })
    const now = script.seen.at(-1)
    assertValid(now)
    assert.ok(now.length < 41, `${now.length} messages`)
    assert.match(JSON.stringify(now.at(-1)), /And the herbs/)
    assert.equal(compactions.length, before.compactions)
    assert.deepEqual(now.slice(0, before.shown.length), before.shown)
    // Another program makes a view of its own.
    const other = gardener()
    const second = agentOf(other, small, { memory: memory() })
    await second.agent.generate('And the roses?', { ...run, ...thread })
    assert.deepEqual(second.compactions, [0])
    assertValid(other.seen[0])
  })

  for (const how of ['generate', 'stream']) {
    test(`${how}: a request that is too long is sent once more, smaller`, async () => {
      const script = gardener({ most: 14_000 })
      const { agent } = agentOf(script, { ...small, at: undefined, contextWindow: 1_000_000 })
      const result = await agent[how](TASK, run)
      assert.match(await result.text, /All beds are fine\.$/)
      assert.ok(script.refused.length >= 1 && script.refused.length < 8, `${script.refused.length} were refused`)
      script.seen.forEach((prompt) => assertValid(prompt))
      assert.equal(script.seen.length, 41)
      assert.equal((await result.steps).flatMap(({ toolResults }) => toolResults).length, 79)
    })

    test(`${how}: an overflow that cannot be helped is the provider's error`, async () => {
      // Nothing can be left out of the task.
      const script = gardener({ most: 1 })
      const { agent } = agentOf(script)
      const failed = how === 'generate' ? await agent.generate(TASK, run).catch((error) => ({ error })) : await agent.stream(TASK, run)
      if (how === 'stream') await failed.consumeStream()
      assert.match(JSON.stringify(failed.error, Object.getOwnPropertyNames(failed.error)), /Bad Request/)
      assert.equal(script.refused.length, 1)
    })

    test(`${how}: an overflow of what was made smaller is not retried again`, async () => {
      const script = gardener({ most: 14_000 })
      const { agent } = agentOf(script, { ...small, at: undefined, contextWindow: 1_000_000 })
      const inner = script.model[how === 'stream' ? 'doStream' : 'doGenerate']
      let refusals = 0
      script.model[how === 'stream' ? 'doStream' : 'doGenerate'] = async (options) => {
        if (options.prompt.length < 30 && refusals === 0) return inner(options)
        refusals += 1
        throw error(1)
      }
      const failed = how === 'generate' ? await agent.generate(TASK, run).catch((error) => ({ error })) : await agent.stream(TASK, run)
      if (how === 'stream') await failed.consumeStream()
      assert.ok(failed.error)
      assert.equal(refusals, 2)
    })
  }

  test('other errors are not retried', async () => {
    const script = gardener()
    let calls = 0
    const { doGenerate } = script.model
    script.model.doGenerate = async (options) => {
      if (options.prompt.length < 30) return doGenerate(options)
      calls += 1
      throw Object.assign(new Error('the kitchen is closed'), { isRetryable: false })
    }
    const { agent } = agentOf(script, { ...small, at: undefined, contextWindow: 1_000_000 })
    await assert.rejects(agent.generate(TASK, run), /the kitchen is closed/)
    assert.equal(calls, 1)
  })

  test('an abort ends a compaction', { timeout: 20_000 }, async () => {
    const controller = new AbortController()
    const script = gardener()
    const strategy = () => {
      controller.abort()
      return new Promise(() => {})
    }
    const { agent } = agentOf(script, { ...small, strategy })
    await agent.generate(TASK, { ...run, abortSignal: controller.signal }).catch(() => {})
    assert.ok(controller.signal.aborted)
    assert.ok(script.seen.length < 41, `${script.seen.length} prompts`)
  })

  test('what fails in baler does not fail the agent', async () => {
    const script = gardener()
    const strategy = () => {
      throw new Error('no salt')
    }
    const broken = { ...small, strategy, policy: { thinking: 'no such thing' } }
    assert.throws(() => new BalerProcessor(broken), /policy/)
    assert.throws(() => new BalerProcessor({}), /contextWindow/)
    const told = warnings.length
    const { agent } = agentOf(script, { ...small, strategy })
    const result = await agent.generate(TASK, run)
    assert.match(result.text, /All beds are fine\.$/)
    assert.match(warnings.slice(told).join(), /the strategy `strategy` failed/)
    const odd = { prompt: [{ role: 'user', content: null }], model: { modelId: 'gpt-5' }, state: {} }
    assert.equal(await new BalerProcessor(small).processLLMRequest(odd), undefined)
  })

  test('a history that the provider holds is left alone', async () => {
    const script = gardener({ beds: 40 })
    const { agent, receipts } = agentOf(script)
    await agent.generate(TASK, { ...run, providerOptions: { openai: { previousResponseId: 'resp_1' } } })
    assert.deepEqual(receipts, [])
    assert.equal(resultsIn(script.seen.at(-1)).length, 40)
    assert.ok(partsOf(script.seen.at(-1).at(-2)).length > 0)
  })
}
