// Attacks the host as its config says: loops, recurses, eats memory, or throws.
const SCHEMA = JSON.stringify({
  type: 'object',
  properties: { attack: { enum: ['loop', 'recurse', 'memory', 'throw'] } },
});

const attacks = {
  loop() {
    for (;;);
  },
  recurse: (depth = 0) => 1 + attacks.recurse(depth + 1),
  memory() {
    const kept = [];
    for (;;) kept.push(new Uint8Array(1 << 20).fill(1));
  },
  throw() {
    throw new Error('on purpose');
  },
};

export const strategy = {
  introspect: () => ({
    name: 'hostile-js',
    version: '0.1.0',
    description: 'Attacks the host that runs it.',
    configSchema: SCHEMA,
    reasonCodes: [],
    metricNames: [],
    timeoutMs: undefined,
    memoryMib: undefined,
    fuel: undefined,
    metadata: [],
  }),
  shouldCompact: () => ({ tag: 'host-decides' }),
  compact(_, config) {
    const val = String(attacks[JSON.parse(config).attack]());
    return { outcome: { tag: 'unchanged', val }, metrics: [] };
  },
};
