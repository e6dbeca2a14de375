// Keeps what must stay and, of the rest, the newest units: at most `units` of them, and no more than fit.
import { units } from 'baler:compaction/history@0.1.0';
import { BadConfig, defineStrategy, metrics, spans } from './baler-strategy.ts';

export const strategy = defineStrategy({
  name: 'keep-newest',
  version: '0.1.0',
  description: 'Keeps the newest units that fit.',
  configSchema: {
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
  },
  defaults: { units: 40 },
  reasonCodes: ['old'],
  metricNames: ['removed'],

  check({ units }) {
    if (!Number.isInteger(units) || units < 0) throw new BadConfig('`units` is a whole number, 0 or more');
  },

  compact(situation, config) {
    // One list for each figure, in the order of the units.
    const { kinds, traits, tokens, bytes, media } = units();
    // What the limits leave: tokens, bytes, and pictures and other files.
    const free = {
      tokens: situation.budget - situation.overhead - situation.openingNote,
      bytes: situation.maxBytes ?? Infinity,
      media: situation.maxMedia ?? Infinity,
    };
    // Subtracts a unit, also one that does not fit. Returns whether all still fits.
    const take = (unit: number) => {
      // The overhead has the tokens of instructions already.
      if (kinds[unit] !== 'instructions') free.tokens -= tokens[unit]!;
      free.bytes -= bytes[unit]!;
      free.media -= media[unit]!;
      return free.tokens >= 0 && free.bytes >= 0 && free.media >= 0;
    };
    const stays = traits.map((trait) => trait.protected === true);
    stays.forEach((kept, unit) => {
      if (kept) take(unit);
    });
    let left = config.units;
    for (let unit = stays.length - 1; unit >= 0 && left > 0; unit -= 1) {
      if (stays[unit]) continue;
      if (!take(unit)) break;
      stays[unit] = true;
      left -= 1;
    }
    const removed = spans(stays.map((kept) => !kept));
    const count = removed.reduce((sum, span) => sum + span.count, 0);
    if (count === 0) {
      return { outcome: { tag: 'unchanged', val: 'all of it is new enough' }, metrics: metrics({ removed: count }) };
    }
    const plan = {
      pieces: spans(stays).map((val) => ({ tag: 'keep' as const, val })),
      reasons: removed.map((span) => ({ units: span, code: 'old' })),
    };
    return { outcome: { tag: 'compacted', val: plan }, metrics: metrics({ removed: count }) };
  },
});
