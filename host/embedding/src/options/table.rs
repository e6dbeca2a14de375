//! Every option of every language: the table that documentation and typed stubs are made of, or held against.

/// What takes an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// A host.
    Host,
    /// Reading a conversation.
    Read,
    /// A compaction, and the question whether one is due.
    Compact,
    /// A strategy that is named, loaded or a function.
    Strategy,
    /// A compactor.
    Compactor,
    /// A window over histories that somebody else stores.
    Window,
}

/// What values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A text.
    Text,
    /// A path; `None`/`null` where the option says so.
    Path,
    /// True or false.
    Flag,
    /// A whole number.
    Count,
    /// A number of seconds.
    Seconds,
    /// A number.
    Number,
    /// A number of tokens, a share from 0 to 1, or a percentage.
    Budget,
    /// `first-user`, `none`, or indices of units.
    Pins,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// An object by name.
    Object,
    /// Texts by name.
    Texts,
    /// Numbers by name.
    Numbers,
    /// Any JSON value.
    Any,
    /// A strategy, or a list of them.
    Strategy,
    /// A host.
    Host,
    /// The name of a model, or a function.
    Model,
    /// A function that is called with each compaction.
    Callback,
    /// The name of a wire format.
    Format,
}

/// An option.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// What takes it.
    pub group: Group,
    /// Its name, in `snake_case`; languages with another convention write it in theirs.
    pub name: &'static str,
    /// What values it takes.
    pub takes: Type,
    /// What it means, and its default.
    pub about: &'static str,
}

const fn row(group: Group, name: &'static str, takes: Type, about: &'static str) -> Row {
    Row {
        group,
        name,
        takes,
        about,
    }
}

/// All options, in the order of documentation.
pub const TABLE: &[Row] = &[
    row(
        Group::Host,
        "state",
        Type::Path,
        "Folder for the secret key that seals summaries, for compiled strategies and for the default archive; that of the program `baler` by default. Null: no folder.",
    ),
    row(
        Group::Host,
        "archive",
        Type::Path,
        "Where removed content is stored first: a folder, a URL such as `s3://bucket/prefix`, `\"memory\"` or `\"off\"`. Default: the folder `archive` in the state folder.",
    ),
    row(
        Group::Host,
        "archive_options",
        Type::Texts,
        "Options of an archive at a URL, such as `aws_access_key_id`.",
    ),
    row(
        Group::Host,
        "project",
        Type::Path,
        "A `baler.toml` whose strategies can be named, and whose policy applies. To name it is to trust it.",
    ),
    row(
        Group::Host,
        "model",
        Type::Model,
        "What strategies may ask: a name such as `\"openai:gpt-5-mini\"`, or a function.",
    ),
    row(
        Group::Host,
        "model_window",
        Type::Count,
        "The model's context window in tokens.",
    ),
    row(
        Group::Host,
        "model_max_output",
        Type::Count,
        "The most tokens of an answer of the model.",
    ),
    row(
        Group::Host,
        "model_calls",
        Type::Count,
        "Questions per compaction. Default: 16.",
    ),
    row(
        Group::Host,
        "model_key",
        Type::Text,
        "Where the model's key is: `\"env:NAME\"` or `\"file:PATH\"`. Default: the provider's usual variable.",
    ),
    row(
        Group::Host,
        "tokenizer",
        Type::Text,
        "The vocabulary that counts, such as `\"o200k_base\"`, or `\"characters\"`. Default: that of the model which the conversation names.",
    ),
    row(
        Group::Host,
        "concurrent_calls",
        Type::Count,
        "Strategies that run at once. Default: 16.",
    ),
    row(
        Group::Host,
        "memory",
        Type::Count,
        "The most bytes that a strategy may ever have.",
    ),
    row(
        Group::Host,
        "wasi",
        Type::Flag,
        "Whether components that import WASI may load; they get nothing from it. Default: true.",
    ),
    row(
        Group::Read,
        "format",
        Type::Format,
        "The wire format. Default: `\"auto\"`, which detects it.",
    ),
    row(
        Group::Read,
        "used",
        Type::Count,
        "Tokens that the provider reported for this conversation: input and output of its last response. Counts are corrected to agree with it.",
    ),
    row(
        Group::Read,
        "repair",
        Type::Flag,
        "Repair broken rules of the wire format first. Default: false.",
    ),
    row(
        Group::Read,
        "timeout",
        Type::Seconds,
        "Seconds after which the call ends. Default: no limit but those of the strategies.",
    ),
    row(
        Group::Read,
        "host",
        Type::Host,
        "The host. Default: one with default options, which all calls without a host share.",
    ),
    row(
        Group::Compact,
        "budget",
        Type::Budget,
        "Tokens that the result should fit in, everything included, such as `8000`; or a share such as `\"50%\"` or `0.5`: the overhead (system prompt, tools, instructions), which always stays, and that share of all other tokens. Default: `\"50%\"`.",
    ),
    row(
        Group::Compact,
        "strategy",
        Type::Strategy,
        "What decides what to keep: a name, a `.wasm` file, a function, a strategy, or a list of these, each the fallback of the one before. Default: `\"tiered\"`; with a model `\"tiered-model\"`.",
    ),
    row(
        Group::Compact,
        "pins",
        Type::Pins,
        "What must not be removed, besides instructions, the user's words, pending calls and tool outputs that the model has not seen: `\"first-user\"` (default), `\"none\"`, or indices of units that stay besides the first user message.",
    ),
    row(
        Group::Compact,
        "max_bytes",
        Type::Count,
        "The most bytes of the result. Default: the provider's limit.",
    ),
    row(
        Group::Compact,
        "max_media",
        Type::Count,
        "The most images, documents and other media of the result. Default: the provider's limit.",
    ),
    row(
        Group::Compact,
        "context_window",
        Type::Count,
        "The context window of the model that the conversation is for, in tokens. Some strategies read it.",
    ),
    row(
        Group::Compact,
        "trigger",
        Type::OneOf(&["threshold", "overflow", "manual", "scheduled"]),
        "Why: `\"threshold\"` (default), `\"overflow\"`, `\"manual\"` or `\"scheduled\"`.",
    ),
    row(
        Group::Compact,
        "instructions",
        Type::Text,
        "What to keep in mind, for strategies that ask a model, such as `\"keep the API design\"`.",
    ),
    row(
        Group::Compact,
        "context",
        Type::Any,
        "What your program knows and the conversation does not say, for strategies that read it.",
    ),
    row(
        Group::Compact,
        "required",
        Type::Flag,
        "Compact even if a strategy declines. Default: false.",
    ),
    row(
        Group::Compact,
        "verify",
        Type::Flag,
        "Ask each strategy twice, and use its plan only if both answers are the same. Default: false.",
    ),
    row(
        Group::Compact,
        "free_text",
        Type::Flag,
        "Put the strategies' free-text messages into the receipt. They are untrusted and may quote the conversation. Default: false.",
    ),
    row(
        Group::Compact,
        "policy",
        Type::Object,
        "What plans may do, as in `baler.toml`. Default: what the host's `baler.toml` says.",
    ),
    row(
        Group::Strategy,
        "config",
        Type::Object,
        "Its options, checked against its schema.",
    ),
    row(
        Group::Strategy,
        "timeout",
        Type::Seconds,
        "Seconds of a call.",
    ),
    row(
        Group::Strategy,
        "memory",
        Type::Count,
        "Bytes that it may have.",
    ),
    row(
        Group::Strategy,
        "fuel",
        Type::Count,
        "Instructions of a call, about.",
    ),
    row(
        Group::Strategy,
        "may_ask_model",
        Type::Flag,
        "Whether a component from a file may ask the host's model, with the conversation and at your cost. Default: false.",
    ),
    row(
        Group::Compactor,
        "context_window",
        Type::Count,
        "The model's context window, in tokens.",
    ),
    row(
        Group::Compactor,
        "triggers",
        Type::Numbers,
        "When to compact: `share` of the window (0.8 by default), `tokens`, `reserve`, `messages`, `turns`, `bytes`.",
    ),
    row(
        Group::Compactor,
        "target_share",
        Type::Number,
        "Target size, as a share of what is between the smallest possible result and the trigger. Default: 0.5.",
    ),
    row(
        Group::Compactor,
        "target_tokens",
        Type::Count,
        "Target size in tokens. It takes precedence over the share.",
    ),
    row(
        Group::Compactor,
        "ask_strategy",
        Type::Flag,
        "Whether each step asks the strategy whether to compact now. Default: true.",
    ),
    row(
        Group::Compactor,
        "retry_after",
        Type::Count,
        "Number of messages that must be appended after a futile compaction before the next attempt. Default: 4.",
    ),
    row(
        Group::Compactor,
        "policy",
        Type::Object,
        "What plans may do, as in `baler.toml`.",
    ),
    row(
        Group::Compactor,
        "preset",
        Type::OneOf(&["planck", "puck", "ptc-runner", "apeira"]),
        "The settings of an earlier system: `planck`, `puck`, `ptc-runner` or `apeira`. Other options take precedence over them.",
    ),
    row(
        Group::Window,
        "context_window",
        Type::Count,
        "The model's context window, in tokens. This or `at` is required.",
    ),
    row(
        Group::Window,
        "at",
        Type::Count,
        "Tokens of a request from which on to compact: the provider's, once it has answered. Default: 80 % of the window.",
    ),
    row(
        Group::Window,
        "budget",
        Type::Count,
        "Tokens that the result should fit in. Default: half of `at`.",
    ),
    row(
        Group::Window,
        "strategy",
        Type::Strategy,
        "What decides what to keep, as in a compaction.",
    ),
    row(
        Group::Window,
        "host",
        Type::Host,
        "The host. Default: one with default options.",
    ),
    row(
        Group::Window,
        "pins",
        Type::Pins,
        "What must not be removed: `\"first-user\"` (default) or `\"none\"`.",
    ),
    row(
        Group::Window,
        "policy",
        Type::Object,
        "What plans may do, as in `baler.toml`.",
    ),
    row(
        Group::Window,
        "on_compaction",
        Type::Callback,
        "Is called with each compaction, for example to log its receipt.",
    ),
];
