// Keeps what must stay and, of the rest, the newest units: at most `units` of them, and no more than fit.
import { units } from 'baler:compaction/history@0.1.0';

const NAME = 'keep-newest';
const SCHEMA = JSON.stringify({
  type: 'object',
  additionalProperties: false,
  properties: {
    units: {
      type: 'integer',
      minimum: 0,
      default: 40,
      description: 'How many units to keep at most, beside those that must stay.',
    },
  },
});

// A thrown object is the `err` of the WIT result.
const badConfig = (why) => ({ tag: 'bad-config', val: why });

function settings(config) {
  if (!config) return { units: 40 };
  let parsed;
  try {
    parsed = JSON.parse(config);
  } catch (error) {
    throw badConfig(`not JSON: ${error.message}`);
  }
  const units = parsed.units ?? 40;
  if (!Number.isInteger(units) || units < 0) throw badConfig('`units` is a whole number, 0 or more');
  return { units };
}

export const strategy = {
  introspect(config) {
    settings(config);
    return {
      name: NAME,
      version: '0.1.0',
      description: 'Keeps the newest units that fit.',
      configSchema: SCHEMA,
      reasonCodes: ['old'],
      metricNames: ['removed'],
      timeoutMs: undefined,
      memoryMib: undefined,
      fuel: undefined,
      metadata: [],
    };
  },

  shouldCompact(_situation, _config) {
    return { tag: 'host-decides' };
  },

  compact(situation, config) {
    let { units: left } = settings(config);
    // One list for each figure, in the order of the units.
    const { kinds, traits, tokens, bytes, media } = units();
    // What the limits leave: tokens, bytes, and pictures and other files.
    const free = {
      tokens: situation.budget - situation.overhead - situation.openingNote,
      bytes: situation.maxBytes ?? Infinity,
      media: situation.maxMedia ?? Infinity,
    };
    // Subtracts a unit, also one that does not fit. Returns whether all still fits.
    const take = (unit) => {
      // The overhead has the tokens of instructions already.
      if (kinds[unit] !== 'instructions') free.tokens -= tokens[unit];
      free.bytes -= bytes[unit];
      free.media -= media[unit];
      return free.tokens >= 0 && free.bytes >= 0 && free.media >= 0;
    };
    const stays = traits.map((trait) => trait.protected === true);
    stays.forEach((kept, unit) => { if (kept) take(unit); });
    for (let unit = stays.length - 1; unit >= 0 && left > 0; unit -= 1) {
      if (stays[unit]) continue;
      if (!take(unit)) break;
      stays[unit] = true;
      left -= 1;
    }
    const spans = (wanted) => {
      const found = [];
      stays.forEach((kept, index) => {
        if (kept !== wanted) return;
        const last = found[found.length - 1];
        if (last && last.first + last.count === index) last.count += 1;
        else found.push({ first: index, count: 1 });
      });
      return found;
    };
    const removed = spans(false);
    const count = removed.reduce((sum, span) => sum + span.count, 0);
    const metrics = [{ name: 'removed', value: { tag: 'count', val: count } }];
    if (count === 0) return { outcome: { tag: 'unchanged', val: 'all of it is new enough' }, metrics };
    const plan = {
      pieces: spans(true).map((val) => ({ tag: 'keep', val })),
      reasons: removed.map((span) => ({ units: span, code: 'old' })),
    };
    return { outcome: { tag: 'compacted', val: plan }, metrics };
  },
};
