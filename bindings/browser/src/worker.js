/**
 * The worker in which the host and the strategies run. The page ends it at a deadline, whatever a strategy does; so a strategy
 * that never returns cannot block the page.
 */

import { Component } from './component.js'
import { Core } from './core.js'

/** @type {Promise<Core> | undefined} */
let core
/** By the URL of the module: two components can have the same name. @type {Map<string, Promise<Component>>} */
const components = new Map()
/** @type {Map<number, { resolve: (text: string) => void, reject: (error: Error) => void }>} */
const asked = new Map()
let questions = 0

/** @param {{ module: string, files: Record<string, string> }} strategy Where the transpiled component is. */
function component({ module, files }) {
  let known = components.get(module)
  if (known === undefined) {
    known = import(module).then((transpiled) => new Component(transpiled, (path) => compiled(new URL(files[path] ?? path, module))))
    components.set(module, known)
  }
  return known
}

/** @param {URL} url */
async function compiled(url) {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${url} cannot be loaded: ${answer.status}`)
  return WebAssembly.compile(await answer.arrayBuffer())
}

/** @param {any} request */
function model(request) {
  questions += 1
  const id = questions
  return new Promise((resolve, reject) => {
    asked.set(id, { resolve, reject })
    postMessage({ question: id, request })
  })
}

/** @type {Record<string, (given: any) => Promise<unknown>>} */
const TASKS = {
  async load({ core: url }) {
    core = compiled(new URL(url)).then((module) => Core.of(module))
    await core
  },
  async read({ document, options }) {
    return (await ready()).read(document, options)
  },
  async compact({ document, how, strategies, hasModel }) {
    return (await ready()).compact(document, how, async (question, host) => {
      const strategy = strategies[question.component]
      return (await component(strategy)).ask(question, host, hasModel ? model : undefined)
    })
  },
  async undo() {
    return (await ready()).undo()
  },
}

function ready() {
  if (core === undefined) throw new Error('the host was not loaded')
  return core
}

addEventListener('message', async ({ data }) => {
  if (data.answer !== undefined) {
    const waiting = asked.get(data.answer)
    asked.delete(data.answer)
    if (data.error === undefined) waiting?.resolve(data.text)
    else waiting?.reject(new Error(data.error))
    return
  }
  // A worker whose handler rejects says nothing.
  try {
    const task = TASKS[data.task]
    if (task === undefined) throw new Error(`no task is called ${data.task}`)
    postMessage({ id: data.id, made: await task(data.given) })
  } catch (error) {
    const { kind, message, option } = /** @type {any} */ (error)
    postMessage({ id: data.id, error: { kind: kind ?? 'HostError', message: message ?? String(error), option: option ?? null } })
  }
})
