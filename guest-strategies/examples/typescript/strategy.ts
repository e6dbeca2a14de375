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
    properties: { units: { type: 'integer', minimum: 0, default: 40 } },
  },
  defaults: { units: 40 },
  reasonCodes: ['old'],
  metricNames: ['removed'],

  check({ units }) {
    if (!Number.isInteger(units) || units < 0) throw new BadConfig('`units` is a whole number, 0 or more');
  },

  compact(situation, config) {
    // One list for each figure, in the order of the units.
    const { kinds, traits, tokens } = units();
    // Instructions are part of the overhead already.
    const cost = (unit: number) => (kinds[unit] === 'instructions' ? 0 : tokens[unit]!);
    const stays = traits.map((trait) => trait.protected === true);
    let free = situation.budget - situation.overhead - situation.openingNote;
    stays.forEach((kept, unit) => {
      if (kept) free -= cost(unit);
    });
    let left = config.units;
    for (let unit = stays.length - 1; unit >= 0 && left > 0; unit -= 1) {
      if (stays[unit]) continue;
      free -= cost(unit);
      if (free < 0) break;
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
