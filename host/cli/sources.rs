//! Finds and loads strategies by their names, files or URLs.

use std::borrow::Cow;
use std::fs;
use std::path::{self, Path};

use anyhow::{Context as _, anyhow};
use baler_host::{
    Host, Limits, Strategy,
    project::{Listed, ListedSource, Permit, Project, Trust},
    strategy::{EngineLimits, LoadError},
};
use baler_strategies::Bundled;
use serde_json::{Value, json};

use crate::arguments::SandboxArguments;
use crate::exit::Failure;
use crate::figures::cleaned;
use crate::output::Messages;
use crate::progress;
use crate::remote::{self, RemoteArguments, Tokens};
use crate::{figures, files};

/// The strategy of a person who names none.
pub(crate) const DEFAULT: &str = "tiered";

/// The same where a model is named.
const DEFAULT_WITH_MODEL: &str = "tiered-model";

/// Returns the name of the strategy that runs if none is named.
pub(crate) const fn default_name(has_model: bool) -> &'static str {
    if has_model {
        DEFAULT_WITH_MODEL
    } else {
        DEFAULT
    }
}

/// Returns the names of the strategies that were typed, in order, or of the default one.
pub(crate) fn typed_or_default(typed: &[String], has_model: bool) -> Vec<&str> {
    match typed {
        [] => vec![default_name(has_model)],
        typed => typed.iter().map(String::as_str).collect(),
    }
}

/// Tells a person at a terminal about long steps.
const TOLD: Messages = Messages { quiet: false };

/// What each of the host's own strategies does.
pub(crate) fn about_native(name: &str) -> &'static str {
    match name {
        "native:digest" => {
            "Is `tiered`, compiled into baler: for a fallback that needs no component."
        }
        "native:summarize" => "Is `summarize`, compiled into baler (--model).",
        "native:truncate" => "Keeps the newest turns that fit, and a note for the rest.",
        _ => "",
    }
}

/// A strategy that was found, but not loaded.
#[derive(Debug)]
pub(crate) enum Source {
    Native(Strategy),
    /// It runs somewhere else.
    Remote(Strategy),
    Component {
        /// How messages call it.
        shown: String,
        /// How marks and receipts call it.
        name: String,
        wasm: Cow<'static, [u8]>,
        /// What `baler.toml` says of it.
        listed: Option<Listed>,
    },
}

/// Finds a strategy by its name, file or URL.
pub(crate) fn find(
    named: &str,
    remote: &RemoteArguments,
    project: Option<&Project>,
    sandbox: &SandboxArguments,
) -> Result<Source, Failure> {
    find_with(named, &remote.tokens(&urls(&[named]))?, project, sandbox)
}

/// Finds strategies, in order, of which no two have one name. Each server gets the token that was
/// given to it, and no other.
pub(crate) fn find_all(
    named: &[&str],
    remote: &RemoteArguments,
    project: Option<&Project>,
    sandbox: &SandboxArguments,
) -> Result<Vec<Source>, Failure> {
    let tokens = remote.tokens(&urls(named))?;
    let sources: Result<Vec<Source>, Failure> = named
        .iter()
        .map(|named| find_with(named, &tokens, project, sandbox))
        .collect();
    let sources = sources?;
    check_names(&sources)?;
    Ok(sources)
}

/// Receipts, marks and tables go by names, so of two strategies with one name nobody could tell
/// which it was. One that is named twice is refused as well: what failed is not tried again.
fn check_names(sources: &[Source]) -> Result<(), Failure> {
    for (place, source) in sources.iter().enumerate() {
        let before = &sources[..place];
        let Some(other) = before.iter().find(|other| other.name() == source.name()) else {
            continue;
        };
        let (one, two) = (cleaned(other.named()), cleaned(source.named()));
        return Err(Failure::wrong_use(if one == two {
            anyhow!("`{one}` is named more than once; name each strategy once")
        } else {
            anyhow!(
                "`{one}` and `{two}` have the same name, `{}`, so a receipt could not distinguish them; rename one of the files (a strategy has the name of its file without the ending, or host, port and path of its URL)",
                cleaned(source.name())
            )
        }));
    }
    Ok(())
}

/// The strategies that run behind a URL.
fn urls<'n>(named: &[&'n str]) -> Vec<&'n str> {
    let urls = named.iter().filter(|named| remote::is_url(named));
    urls.copied().collect()
}

fn find_with(
    named: &str,
    tokens: &Tokens,
    project: Option<&Project>,
    sandbox: &SandboxArguments,
) -> Result<Source, Failure> {
    if let Some(native) = Strategy::native(named) {
        return Ok(Source::Native(native));
    }
    if let Some(bundled) = baler_strategies::by_name(named) {
        return Ok(Source::bundled(bundled));
    }
    let is_file = named.ends_with(".wasm") || named.contains(path::is_separator);
    if let Some((project, listed)) = project.and_then(|project| {
        let by_path = || {
            let is_only_way = is_file && project.policy().unlisted == Permit::Refuse;
            let mut listed = project.strategies().filter(|_| is_only_way);
            listed.find(|listed| {
                let mut path = listed.path().into_iter();
                path.any(|path| files::is_same(path, Path::new(named)))
            })
        };
        let listed = project.strategy(named).or_else(by_path)?;
        Some((project, listed))
    }) {
        let wasm = component(project, listed, sandbox)?;
        return Ok(Source::Component {
            shown: named.to_owned(),
            name: listed.name().to_owned(),
            wasm: wasm.into(),
            listed: Some(listed.clone()),
        });
    }
    if let Some(project) = project
        && (is_file || remote::is_url(named))
        && project.policy().unlisted == Permit::Refuse
    {
        return Err(Failure::wrong_use(anyhow!(
            "`{}` is not listed in `{}`, whose policy refuses strategies that are not; list it there, or name another list by --project",
            cleaned(named),
            project.file().display()
        )));
    }
    if remote::is_url(named) {
        return remote::find(named, tokens).map(Source::Remote);
    }
    if is_file {
        let wasm = read(Path::new(named)).map_err(Failure::wrong_use)?;
        return Ok(Source::Component {
            shown: named.to_owned(),
            name: name_of(Path::new(named), &wasm, project),
            wasm: wasm.into(),
            listed: None,
        });
    }
    Err(unknown(named, project))
}

/// Reads the component of a listed strategy: its file, or what was pulled of it.
#[cfg_attr(
    not(feature = "registry"),
    expect(
        unused_variables,
        reason = "only what was pulled is in the state folder"
    )
)]
fn component(
    project: &Project,
    listed: &Listed,
    sandbox: &SandboxArguments,
) -> Result<Vec<u8>, Failure> {
    let cannot_use = |error: &dyn std::error::Error| {
        Failure::wrong_use(anyhow!("{}", cleaned(&baler_host::with_causes(error))))
    };
    #[cfg(feature = "registry")]
    if let ListedSource::Registry(source) = listed.source() {
        let state = crate::settings::state_folder(sandbox.state.as_deref());
        return baler_registry::project::load(project, listed, source, state.as_deref())
            .map_err(|error| cannot_use(&error));
    }
    let wasm = listed.read(project, EngineLimits::default().component_bytes);
    wasm.map_err(|error| cannot_use(&error))
}

impl Source {
    pub(crate) fn bundled(bundled: &'static Bundled) -> Self {
        Self::Component {
            shown: bundled.name.to_owned(),
            name: bundled.name.to_owned(),
            wasm: bundled.wasm.into(),
            listed: None,
        }
    }

    /// What marks and receipts call it.
    fn name(&self) -> &str {
        match self {
            Self::Native(strategy) | Self::Remote(strategy) => strategy.name(),
            Self::Component { name, .. } => name,
        }
    }

    /// What it is named by on the command line.
    pub(crate) fn named(&self) -> &str {
        match self {
            Self::Native(strategy) => strategy.name(),
            Self::Remote(strategy) => strategy.address().unwrap_or_else(|| strategy.name()),
            Self::Component { shown, .. } => shown,
        }
    }

    /// Whether the strategy reads the context of a request; `None` if unknown.
    pub(crate) fn reads_context(&self) -> Option<bool> {
        match self {
            Self::Native(_) => Some(false),
            Self::Remote(_) => None,
            Self::Component { wasm, .. } => baler_strategies::reads_context(wasm),
        }
    }

    /// What `baler.toml` says of the strategy; `None` if it is not listed.
    pub(crate) const fn listed(&self) -> Option<&Listed> {
        match self {
            Self::Component { listed, .. } => listed.as_ref(),
            Self::Native(_) | Self::Remote(_) => None,
        }
    }

    /// Makes the strategy ready, under the limits that were typed, else those of `baler.toml`, and with the config of
    /// `baler.toml`.
    pub(crate) async fn load(
        &self,
        host: &Host,
        arguments: &SandboxArguments,
    ) -> Result<Strategy, Failure> {
        self.load_within(host, arguments, self.base(), TOLD).await
    }

    /// The same, without telling a terminal, which may be another program's.
    #[cfg(feature = "http")]
    pub(crate) async fn load_silently(
        &self,
        host: &Host,
        arguments: &SandboxArguments,
    ) -> Result<Strategy, Failure> {
        let silent = Messages { quiet: true };
        self.load_within(host, arguments, self.base(), silent).await
    }

    /// The limits of a component where none were typed: those of `baler.toml`, else the host's.
    fn base(&self) -> Limits {
        let base = Limits::default();
        self.listed().map_or(base, |listed| listed.limits(base))
    }

    /// The limits of a component in a compaction.
    pub(crate) fn limits(&self, arguments: &SandboxArguments) -> Limits {
        arguments.limits_over(self.base())
    }

    /// Makes the strategy ready to describe itself. What a list sets for its work is no reason to wait for that.
    pub(crate) async fn load_to_show(
        &self,
        host: &Host,
        arguments: &SandboxArguments,
    ) -> Result<Strategy, Failure> {
        self.load_within(host, arguments, Limits::default(), TOLD)
            .await
    }

    /// Makes the strategy ready, a component under the limits `base` where none were typed.
    async fn load_within(
        &self,
        host: &Host,
        arguments: &SandboxArguments,
        base: Limits,
        messages: Messages,
    ) -> Result<Strategy, Failure> {
        match self {
            Self::Native(strategy) => Ok(strategy.clone().with_limits(arguments.limits())),
            Self::Remote(strategy) => {
                let limits = arguments.limits_of_remote(*strategy.limits());
                Ok(strategy.clone().with_limits(limits))
            }
            Self::Component {
                shown,
                name,
                wasm,
                listed,
            } => match loading(host, name, wasm, messages).await {
                Ok(strategy) => {
                    let mut strategy = strategy.with_limits(arguments.limits_over(base));
                    if let Some(config) = listed.as_ref().and_then(Listed::config) {
                        strategy = configured(host, &strategy, self, config).await?;
                    }
                    Ok(match baler_strategies::writes_digests(wasm) {
                        true => strategy.writing_digests(),
                        false => strategy,
                    })
                }
                Err(error) => Err(cannot_use(shown, error)),
            },
        }
    }
}

/// What `baler.toml` says of a strategy, for people. Its file was checked when it was read.
pub(crate) fn listed_in_words(listed: &Listed) -> String {
    let digest = match (listed.path(), listed.digest()) {
        (None, _) => "as it is locked",
        (_, Some(_)) => "its digest is right",
        (_, None) => "without a digest, so any file may be in its place",
    };
    let may = if listed.may_ask_model() {
        "granted: model"
    } else {
        "granted: nothing"
    };
    let file = place(listed);
    let trust = match listed.trust() {
        Trust::Trusted => "",
        Trust::Untrusted => "; the list is not trusted",
    };
    format!("`{file}`, {digest}; {may}{trust}")
}

/// Where a listed strategy is: its file, or its place in a registry.
fn place(listed: &Listed) -> String {
    match listed.source() {
        ListedSource::File(path) => cleaned(&path.to_string_lossy()),
        ListedSource::Registry(source) => cleaned(&source.place),
        _ => String::new(),
    }
}

/// What `baler.toml` says of a strategy, as JSON.
pub(crate) fn listed_as_json(listed: &Listed) -> Value {
    json!({
        "path": listed.path(),
        "source": listed.path().is_none().then(|| place(listed)),
        "digest": listed.digest(),
        "grant": listed.grants(),
        "trusted": listed.trust() == Trust::Trusted,
        "limits": listed.limits(Limits::default()),
        "config": listed.config().map(|config| serde_json::from_str::<Value>(config).ok()),
    })
}

/// Loads a component. Tells a person at a terminal if that takes long, as compiling it for the first time does.
async fn loading(
    host: &Host,
    name: &str,
    wasm: &[u8],
    messages: Messages,
) -> Result<Strategy, LoadError> {
    let what = format!("compiling `{name}`, once");
    progress::waiting(messages, &what, host.load(name, wasm)).await
}

/// The strategies called so, in order; the first with the config.
pub(crate) async fn load(
    host: &Host,
    sources: &[Source],
    config: Option<&str>,
    arguments: &SandboxArguments,
) -> Result<Vec<Strategy>, Failure> {
    let mut chain = Vec::with_capacity(sources.len());
    for source in sources {
        chain.push(source.load(host, arguments).await?);
    }
    if let (Some(config), Some(source), Some(first)) = (config, sources.first(), chain.first_mut())
    {
        *first = configured(host, first, source, config).await?;
    }
    Ok(chain)
}

/// The strategy of this source with a config that was checked against its schema.
pub(crate) async fn configured(
    host: &Host,
    strategy: &Strategy,
    source: &Source,
    config: &str,
) -> Result<Strategy, Failure> {
    if strategy.is_native() {
        return Err(Failure::wrong_use(anyhow!(
            "`{}` is a native strategy and takes no config; leave --config out, or name first the strategy that it is for",
            strategy.name()
        )));
    }
    host.configure(strategy.clone(), config)
        .await
        .map_err(|error| {
            // The error quotes the strategy's schema, which is untrusted.
            let told = cleaned(&baler_host::with_causes(&error));
            Failure::wrong_use(anyhow!("{told}")).with_more(format!(
                "\n\n`baler introspect {}` shows what it takes.",
                figures::shortened(source.named())
            ))
        })
}

/// Returns whether this machine failed, and not the component.
pub(crate) fn is_ours(error: &LoadError) -> bool {
    match error {
        LoadError::Host(_) => true,
        LoadError::Compiler(error) => error.is_by_the_machine(),
        _ => false,
    }
}

fn cannot_use(shown: &str, error: LoadError) -> Failure {
    let is_ours = is_ours(&error);
    let hint = match error {
        LoadError::Empty
        | LoadError::NotWasm
        | LoadError::Malformed { .. }
        | LoadError::NoStrategy => {
            "; give the .wasm component of a strategy, whole as its author made it"
        }
        _ => "",
    };
    let told = anyhow!(
        "cannot use `{}`: {}{hint}",
        cleaned(shown),
        cleaned(&baler_host::with_causes(&error))
    );
    if is_ours {
        told.into()
    } else {
        Failure::wrong_use(told)
    }
}

/// The name of a strategy from a file: its own, without ending, and only of characters that
/// can neither imitate the host's own strategies nor do anything in a mark or on a terminal.
/// If another strategy has this name, one that ships with baler or a listed one, the ending stays,
/// which no name of those has.
fn name_of(file: &Path, wasm: &[u8], project: Option<&Project>) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let shipped = baler_strategies::by_name_in_any_case(&stem);
    let is_another = shipped.is_some_and(|shipped| shipped.wasm != wasm)
        || project.is_some_and(|project| project.strategy(&stem).is_some());
    let name = match is_another {
        true => file.file_name().unwrap_or_default().to_string_lossy(),
        false => stem,
    };
    let name: String = name
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') {
                c
            } else {
                '-'
            }
        })
        .take(64)
        .collect();
    if name.is_empty() {
        "strategy".to_owned()
    } else {
        name
    }
}

pub(crate) fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = cleaned(&file.to_string_lossy());
    let metadata = fs::metadata(file).with_context(|| unreadable(&shown))?;
    if metadata.is_dir() {
        return Err(anyhow!(
            "`{shown}` is a folder; name a strategy's .wasm file"
        ));
    }
    let limit = EngineLimits::default().component_bytes;
    let too_large = |bytes: u64| {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let error = LoadError::TooLarge { bytes, limit };
        anyhow!("cannot use `{shown}`: {error}")
    };
    if metadata.len() > limit as u64 {
        return Err(too_large(metadata.len()));
    }
    let opened = files::regular(file).with_context(|| unreadable(&shown))?;
    files::bounded(opened, limit as u64)
        .with_context(|| unreadable(&shown))?
        // It grew meanwhile.
        .ok_or_else(|| too_large(limit as u64 + 1))
}

fn unreadable(shown: &str) -> String {
    format!(
        "cannot read the strategy `{shown}`; name a readable .wasm file, or one that `baler strategies` lists"
    )
}

fn unknown(named: &str, project: Option<&Project>) -> Failure {
    let listed = project.into_iter().flat_map(Project::strategies);
    let known: Vec<&str> = Strategy::NATIVE
        .iter()
        .copied()
        .chain(baler_strategies::ALL.iter().map(|bundled| bundled.name))
        .chain(listed.map(Listed::name))
        .collect();
    let nearest = known
        .iter()
        .map(|name| {
            let own = name.strip_prefix("native:").unwrap_or(name);
            (
                strsim::jaro_winkler(named, name).max(strsim::jaro_winkler(named, own)),
                *name,
            )
        })
        .filter(|(nearness, _)| *nearness > 0.75)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let mut message = format!("no strategy is called `{}`", cleaned(named));
    if let Some((_, name)) = nearest {
        message.push_str(&format!("; did you mean `{name}`?"));
    }
    Failure::wrong_use(anyhow!(message)).with_more(format!(
        "\n\nKnown: {}. A file is named with its ending or folder, such as `my.wasm`; a server by its URL.",
        known.join(", "),
    ))
}
