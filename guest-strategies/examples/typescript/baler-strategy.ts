// What every strategy in TypeScript needs around its `compact`: what it declares, its config, and its errors.
//
// An `Error` that leaves an export of a component is a trap: the host runs another strategy, and nobody learns why.
// `defineStrategy` makes of it a failure that the strategy declares, and logs where it was thrown.
import { emit } from 'baler:compaction/log@0.1.0';
import type {
  Decision,
  Failure,
  Introspection,
  Metric,
  Report,
  Situation,
  Span,
} from 'baler:compaction/strategy@0.1.0';

/** The config is not one. The message is for people. */
export class BadConfig extends Error {}

export interface Definition<Config> {
  name: string;
  version: string;
  description: string;
  /** JSON Schema of the config; none without a config. */
  configSchema?: object;
  /** The config where none is given. */
  defaults: Config;
  /** Throws `BadConfig` if the config is not one. */
  check?(config: Config): void;
  reasonCodes?: string[];
  metricNames?: string[];
  shouldCompact?(situation: Situation, config: Config): Decision;
  compact(situation: Situation, config: Config): Report;
}

/** The exports of a component. A module exports them as `strategy`. */
export interface Exports {
  introspect(config: string | undefined): Introspection;
  shouldCompact(situation: Situation, config: string): Decision;
  compact(situation: Situation, config: string): Report;
}

export function defineStrategy<Config extends object>(own: Definition<Config>): Exports {
  const settings = (text: string | undefined): Config => {
    let given: unknown = {};
    try {
      given = text ? JSON.parse(text) : {};
    } catch (error) {
      throw new BadConfig(`not JSON: ${(error as Error).message}`);
    }
    const config = { ...own.defaults, ...(given as Config) };
    own.check?.(config);
    return config;
  };
  const declaring = <Result>(run: () => Result): Result => {
    try {
      return run();
    } catch (error) {
      throw failureOf(error);
    }
  };
  return {
    introspect: (config) =>
      declaring(() => {
        settings(config);
        return {
          name: own.name,
          version: own.version,
          description: own.description,
          configSchema: own.configSchema ? JSON.stringify(own.configSchema) : '',
          reasonCodes: own.reasonCodes ?? [],
          metricNames: own.metricNames ?? [],
          timeoutMs: undefined,
          memoryMib: undefined,
          fuel: undefined,
          metadata: [],
        };
      }),
    shouldCompact: (situation, config) =>
      declaring(() => own.shouldCompact?.(situation, settings(config)) ?? { tag: 'host-decides' }),
    compact: (situation, config) => declaring(() => own.compact(situation, settings(config))),
  };
}

// A thrown plain object is the `err` of a result in WIT.
function failureOf(error: unknown): Failure {
  if (error instanceof BadConfig) return { tag: 'bad-config', val: error.message };
  if (error instanceof Error) {
    emit('error', `${error.name}: ${error.message}\n${error.stack ?? ''}`);
    return { tag: 'other', val: `${error.name}: ${error.message}` };
  }
  return error as Failure;
}

/** The runs of units for which `chosen` is true. */
export function spans(chosen: boolean[]): Span[] {
  const found: Span[] = [];
  chosen.forEach((isChosen, index) => {
    if (!isChosen) return;
    const last = found.at(-1);
    if (last && last.first + last.count === index) last.count += 1;
    else found.push({ first: index, count: 1 });
  });
  return found;
}

/** Metrics from plain values. A number is a count; a report may hold other metrics beside these. */
export function metrics(values: Record<string, number | boolean | string>): Metric[] {
  return Object.entries(values).map(([name, val]): Metric => {
    if (typeof val === 'number') return { name, value: { tag: 'count', val } };
    if (typeof val === 'boolean') return { name, value: { tag: 'flag', val } };
    return { name, value: { tag: 'text', val } };
  });
}
