/** Transpiles a component, in a worker that the page ends at a deadline. */

import { $init, generate } from './transpiler/js-component-bindgen-component.js'

addEventListener('message', async ({ data }) => {
  // A worker whose handler rejects says nothing.
  try {
    await $init
    postMessage({
      made: generate(data, { name: 'strategy', instantiation: { tag: 'async' }, noNodejsCompat: true, noTypescript: true, noComponentErrorWrapping: true, base64Cutoff: 0 }),
    })
  } catch (error) {
    postMessage({ error: String(/** @type {any} */ (error)?.payload ?? /** @type {any} */ (error)?.message ?? error) })
  }
})
