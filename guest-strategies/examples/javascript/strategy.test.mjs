// Runs the strategy in Node, with a conversation of its own.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

// The strategy imports the contract by names that only a component host knows.
const module = readFileSync(new URL('strategy.js', import.meta.url), 'utf8')
  .replace(/import \{ (.*?) \} from .baler:compaction\/(\w+)@0.1.0.;/g, 'const { $1 } = globalThis.contract.$2;');
mkdirSync(new URL('build', import.meta.url), { recursive: true });
const file = new URL('build/strategy.test.mjs', import.meta.url);
writeFileSync(file, module);

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
globalThis.contract = {
  history: {
    units() {
      return {
        kinds: harbour.map(({ kind }) => kind),
        traits: harbour.map(({ trait }) => trait),
        tokens: Uint32Array.from(harbour, ({ tokens }) => tokens),
        bytes: Uint32Array.from(harbour, ({ tokens }) => tokens * 4),
        media: Uint32Array.from(harbour, ({ media }) => media),
      };
    },
  },
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
