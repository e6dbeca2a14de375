/** Options of all calls. Written by a test of `host/embedding` from its table; edit that. */

import type { Compaction } from './compaction.js'
import type { Format, Host, ModelFunction } from './host.js'
import type { AnyStrategy } from './strategy.js'

/** A JSON object. */
export type Json = { readonly [name: string]: unknown }

/** Options of a host. */
export interface HostOptions {
  /** Folder for the secret key that seals summaries, for compiled strategies and for the default archive; that of the program `baler` by default. Null: no folder. */
  state?: string | URL | null
  /** Where removed content is stored first: a folder, a URL such as `s3://bucket/prefix`, `"memory"` or `"off"`. Default: the folder `archive` in the state folder. */
  archive?: string | URL | null
  /** Options of an archive at a URL, such as `aws_access_key_id`. */
  archiveOptions?: Record<string, string> | null
  /** A `baler.toml` whose strategies can be named, and whose policy applies. To name it is to trust it. */
  project?: string | URL | null
  /** What strategies may ask: a name such as `"openai:gpt-5-mini"`, or a function. */
  model?: string | ModelFunction | null
  /** The model's context window in tokens. */
  modelWindow?: number | null
  /** The most tokens of an answer of the model. */
  modelMaxOutput?: number | null
  /** Questions per compaction. Default: 16. */
  modelCalls?: number | null
  /** Where the model's key is: `"env:NAME"` or `"file:PATH"`. Default: the provider's usual variable. */
  modelKey?: string | null
  /** The vocabulary that counts, such as `"o200k_base"`, or `"characters"`. Default: that of the model which the conversation names. */
  tokenizer?: string | null
  /** Strategies that run at once. Default: 16. */
  concurrentCalls?: number | null
  /** The most bytes that a strategy may ever have. */
  memory?: number | null
  /** Whether components that import WASI may load; they get nothing from it. Default: true. */
  wasi?: boolean | null
}

/** Options of how a conversation is read. */
export interface ReadOptions {
  /** The wire format. Default: `"auto"`, which detects it. */
  format?: Format | null
  /** Tokens that the provider reported for this conversation: input and output of its last response. Counts are corrected to agree with it. */
  used?: number | null
  /** Repair broken rules of the wire format first. Default: false. */
  repair?: boolean | null
  /** Seconds after which the call ends. Default: no limit but those of the strategies. */
  timeout?: number | null
  /** The host. Default: one with default options, which all calls without a host share. */
  host?: Host | null
}

/** Options of a compaction. */
export interface CompactOptions extends ReadOptions {
  /** Tokens that the result should fit in, everything included, such as `8000`; or a share such as `"50%"` or `0.5`: the overhead (system prompt, tools, instructions), which always stays, and that share of all other tokens. Default: `"50%"`. */
  budget?: number | string | null
  /** What decides what to keep: a name, a `.wasm` file, a function, a strategy, or a list of these, each the fallback of the one before. Default: `"tiered"`; with a model `"tiered-model"`. */
  strategy?: AnyStrategy | readonly AnyStrategy[] | null
  /** What must not be removed, besides instructions, the user's words, pending calls and tool outputs that the model has not seen: `"first-user"` (default), `"none"`, or indices of units that stay besides the first user message. */
  pins?: 'first-user' | 'none' | readonly number[] | null
  /** The most bytes of the result. Default: the provider's limit. */
  maxBytes?: number | null
  /** The most images, documents and other media of the result. Default: the provider's limit. */
  maxMedia?: number | null
  /** The context window of the model that the conversation is for, in tokens. Some strategies read it. */
  contextWindow?: number | null
  /** Why: `"threshold"` (default), `"overflow"`, `"manual"` or `"scheduled"`. */
  trigger?: 'threshold' | 'overflow' | 'manual' | 'scheduled' | null
  /** What to keep in mind, for strategies that ask a model, such as `"keep the API design"`. */
  instructions?: string | null
  /** What your program knows and the conversation does not say, for strategies that read it. */
  context?: unknown
  /** Compact even if a strategy declines. Default: false. */
  required?: boolean | null
  /** Ask each strategy twice, and use its plan only if both answers are the same. Default: false. */
  verify?: boolean | null
  /** Put the strategies' free-text messages into the receipt. They are untrusted and may quote the conversation. Default: false. */
  freeText?: boolean | null
  /** What plans may do, as in `baler.toml`. Default: what the host's `baler.toml` says. */
  policy?: Json | null
}

/** Options of a strategy. */
export interface StrategyOptions {
  /** Its options, checked against its schema. */
  config?: Json | null
  /** Seconds of a call. */
  timeout?: number | null
  /** Bytes that it may have. */
  memory?: number | null
  /** Instructions of a call, about. */
  fuel?: number | null
  /** Whether a component from a file may ask the host's model, with the conversation and at your cost. Default: false. */
  mayAskModel?: boolean | null
}

/** Options of a compactor. */
export interface CompactorOptions {
  /** The model's context window, in tokens. */
  contextWindow?: number | null
  /** When to compact: `share` of the window (0.8 by default), `tokens`, `reserve`, `messages`, `turns`, `bytes`. */
  triggers?: Record<string, number | null> | null
  /** Target size, as a share of what is between the smallest possible result and the trigger. Default: 0.5. */
  targetShare?: number | null
  /** Target size in tokens. It takes precedence over the share. */
  targetTokens?: number | null
  /** Whether each step asks the strategy whether to compact now. Default: true. */
  askStrategy?: boolean | null
  /** Number of messages that must be appended after a futile compaction before the next attempt. Default: 4. */
  retryAfter?: number | null
  /** What plans may do, as in `baler.toml`. */
  policy?: Json | null
  /** The settings of an earlier system: `planck`, `puck`, `ptc-runner` or `apeira`. Other options take precedence over them. */
  preset?: 'planck' | 'puck' | 'ptc-runner' | 'apeira' | null
}

/** Options of a window over histories. */
export interface WindowOptions {
  /** The model's context window, in tokens. This or `at` is required. */
  contextWindow?: number | null
  /** Tokens of a request from which on to compact: the provider's, once it has answered. Default: 80 % of the window. */
  at?: number | null
  /** Tokens that the result should fit in. Default: half of `at`. */
  budget?: number | null
  /** What decides what to keep, as in a compaction. */
  strategy?: AnyStrategy | readonly AnyStrategy[] | null
  /** The host. Default: one with default options. */
  host?: Host | null
  /** What must not be removed: `"first-user"` (default) or `"none"`. */
  pins?: 'first-user' | 'none' | readonly number[] | null
  /** What plans may do, as in `baler.toml`. */
  policy?: Json | null
  /** Is called with each compaction, for example to log its receipt. */
  onCompaction?: (compaction: Compaction) => void | null
}

/** Names of options by what takes them. */
export const NAMES = {
  HostOptions: [
    'state',
    'archive',
    'archiveOptions',
    'project',
    'model',
    'modelWindow',
    'modelMaxOutput',
    'modelCalls',
    'modelKey',
    'tokenizer',
    'concurrentCalls',
    'memory',
    'wasi',
  ],
  ReadOptions: [
    'format',
    'used',
    'repair',
    'timeout',
    'host',
  ],
  CompactOptions: [
    'budget',
    'strategy',
    'pins',
    'maxBytes',
    'maxMedia',
    'contextWindow',
    'trigger',
    'instructions',
    'context',
    'required',
    'verify',
    'freeText',
    'policy',
  ],
  StrategyOptions: [
    'config',
    'timeout',
    'memory',
    'fuel',
    'mayAskModel',
  ],
  CompactorOptions: [
    'contextWindow',
    'triggers',
    'targetShare',
    'targetTokens',
    'askStrategy',
    'retryAfter',
    'policy',
    'preset',
  ],
  WindowOptions: [
    'contextWindow',
    'at',
    'budget',
    'strategy',
    'host',
    'pins',
    'policy',
    'onCompaction',
  ],
} as const
