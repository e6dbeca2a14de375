// Runs the strategy in Node, with a conversation of its own. `npm test` bundles it before.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

// The bundle imports the contract by names that only a component host knows.
const bundle = readFileSync(new URL('build/strategy.js', import.meta.url), 'utf8')
  .replace(/import \{ (.*?) \} from "baler:compaction\/(\w+)@0.1.0";/g, 'const { $1 } = globalThis.contract.$2;');
const file = new URL('build/strategy.test.mjs', import.meta.url);
writeFileSync(file, bundle);

// Each token has four bytes.
const unit = (kind, tokens, isProtected = false, media = 0) => ({ kind, tokens, media, trait: { protected: isProtected } });
const harbour = [
  unit('instructions', 50, true),
  unit('user', 20, true),
  unit('step', 300),
  unit('step', 200, false, 1),
  unit('user', 10, true),
  unit('step', 100),
];
const logged = [];
let failing = false;
globalThis.contract = {
  history: {
    units() {
      if (failing) throw new RangeError('no units');
      return {
        kinds: harbour.map(({ kind }) => kind),
        traits: harbour.map(({ trait }) => trait),
        tokens: Uint32Array.from(harbour, ({ tokens }) => tokens),
        bytes: Uint32Array.from(harbour, ({ tokens }) => tokens * 4),
        media: Uint32Array.from(harbour, ({ media }) => media),
      };
    },
  },
  log: { emit: (level, message) => logged.push([level, message]) },
};
const { strategy } = await import(file);
const situation = (budget, limits = {}) => ({ budget, overhead: 50, openingNote: 0, ...limits });
const kept = (budget, config = '', limits = {}) =>
  strategy.compact(situation(budget, limits), config).outcome.val.pieces.map(({ val }) => [val.first, val.count]);

test('keeps what must stay and the newest that fit', () => {
  assert.deepEqual(kept(380), [[0, 2], [3, 3]]);
  assert.deepEqual(kept(379), [[0, 2], [4, 2]]);
  assert.deepEqual(kept(0), [[0, 2], [4, 1]]);
});

test('keeps what fits in bytes, pictures and other files', () => {
  // Those that must stay have 320 bytes.
  assert.deepEqual(kept(10_000, '', { maxBytes: 1520 }), [[0, 2], [3, 3]]);
  assert.deepEqual(kept(10_000, '', { maxBytes: 1519 }), [[0, 2], [4, 2]]);
  assert.deepEqual(kept(10_000, '', { maxMedia: 0 }), [[0, 2], [4, 2]]);
});

test('keeps at most `units`', () => {
  assert.deepEqual(kept(10_000, '{"units": 1}'), [[0, 2], [4, 2]]);
});

test('leaves a conversation that fits', () => {
  const { outcome, metrics } = strategy.compact(situation(10_000), '');
  assert.deepEqual(outcome, { tag: 'unchanged', val: 'all of it is new enough' });
  assert.deepEqual(metrics, [{ name: 'removed', value: { tag: 'count', val: 0 } }]);
});

test('says of a config what is wrong', () => {
  for (const config of ['{"units": -1}', '{"units": "two"}', '[']) {
    assert.throws(() => strategy.introspect(config), { tag: 'bad-config' }, config);
  }
  assert.equal(JSON.parse(strategy.introspect(undefined).configSchema).type, 'object');
});

test('declares an error and logs where it was', () => {
  failing = true;
  assert.throws(() => strategy.compact(situation(100), ''), { tag: 'other', val: 'RangeError: no units' });
  assert.equal(logged[0][0], 'error');
});
