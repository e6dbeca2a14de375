//! Creates the host, the limits and the request from the arguments.

use std::env;
use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use baler_host::{
    Archive, Compiler, Conversation, FileError, Format, Host, HostError, Limits, Pins, Request,
    conversation::tokenizers::Tokenizer,
    model::ModelGrant,
    project::Project,
    request::Trigger,
    strategy::{CountedFaults, EngineLimits},
};

use crate::arguments::{GoalArguments, SandboxArguments, TriggerArgument};
use crate::exit::Failure;
use crate::output::Messages;
use crate::{descriptor, files};

/// The settings of a host.
#[derive(Debug, Default)]
pub(crate) struct HostSettings {
    pub(crate) format: Option<Format>,
    /// `None` chooses the tokenizer of the conversation's model.
    pub(crate) tokenizer: Option<Tokenizer>,
    pub(crate) archive: Keeping,
    /// The model that `native:summarize` may ask.
    pub(crate) model: Option<ModelGrant>,
    /// How many strategies may run at the same time; `None` for one conversation, and so one strategy, at a
    /// time.
    pub(crate) calls: Option<u32>,
    /// Whether a strategy that keeps faulting is never put in quarantine, as in an evaluation.
    pub(crate) never_quarantined: bool,
    /// The list of strategies that the host is under.
    pub(crate) project: Option<Project>,
    /// Whether the host serves many clients. Then faults that a client can cause do not count towards a
    /// quarantine.
    pub(crate) serves_many: bool,
}

/// Where removed content is archived.
#[derive(Debug, Default)]
pub(crate) enum Keeping {
    #[default]
    Nowhere,
    /// In the state folder, which must be usable.
    State,
    /// In memory, for a dry run of what would be archived in the state folder.
    Rehearsed,
    In(Archive),
}

impl SandboxArguments {
    /// What each guest of a chain may use.
    pub(crate) fn limits(&self) -> Limits {
        self.limits_over(Limits::default())
    }

    /// The limits `base`, except those that were typed.
    pub(crate) fn limits_over(&self, base: Limits) -> Limits {
        base.with_fuel(self.fuel.unwrap_or(base.fuel))
            .with_time(self.timeout.unwrap_or(base.time))
            .with_model_time(self.timeout.unwrap_or(base.model_time))
            .with_memory(self.memory.unwrap_or(base.memory))
    }

    /// What a strategy that runs somewhere else may use: it says itself how long it takes.
    pub(crate) fn limits_of_remote(&self, own: Limits) -> Limits {
        own.with_time(self.timeout.unwrap_or(own.time))
    }

    fn engine_limits(&self, settings: &HostSettings) -> EngineLimits {
        let default = EngineLimits::default();
        default
            .with_concurrent_calls(settings.calls.unwrap_or(1))
            .with_faults(if settings.never_quarantined {
                u32::MAX
            } else {
                default.faults
            })
            .with_counted_faults(if settings.serves_many {
                CountedFaults::Unprovoked
            } else {
                CountedFaults::All
            })
            .with_memory(default.memory.max(self.limits().memory))
    }

    /// A host, with the state folder where one can be used. Without one it goes on, unless the
    /// archive should be in it: then what leaves would be lost. One that others can write into is
    /// no inconvenience but a danger, and an error.
    pub(crate) fn host(&self, settings: HostSettings, messages: Messages) -> Result<Host, Failure> {
        let limits = self.engine_limits(&settings);
        let HostSettings {
            format,
            tokenizer,
            archive,
            model,
            project,
            ..
        } = settings;
        let builder = || {
            let builder = Host::builder()
                .limits(limits)
                .compiler(Compiler::ThisProgram)
                .format(format)
                .tokenizer(tokenizer.clone())
                .model(model.clone());
            let builder = match &archive {
                Keeping::Nowhere => builder.without_archive(),
                Keeping::State => builder,
                Keeping::Rehearsed => builder.archive(Archive::in_memory()),
                Keeping::In(archive) => builder.archive(archive.clone()),
            };
            match &project {
                Some(project) => builder.project(project),
                None => builder,
            }
        };
        let why = match state_folder(self.state.as_deref()) {
            None => "neither $XDG_STATE_HOME nor $HOME says where, by an absolute path".to_owned(),
            Some(folder) => match builder().state(&folder).build() {
                Ok(host) => match room_for_code(&folder) {
                    Ok(()) => return Ok(host),
                    Err(error) => format!("`{}`: {error}", folder.display()),
                },
                Err(HostError::Files(FileError::Io { source, path, .. }))
                    if source.kind() != ErrorKind::InvalidData =>
                {
                    format!("`{}`: {source}", path.display())
                }
                Err(error) => return Err(error.into()),
            },
        };
        let archive = match archive {
            Keeping::State => {
                return Err(anyhow!(
                    "cannot use the state folder ({why}), so removed content could not be archived, and nothing was compacted: name another state folder by --state, or an archive by --archive (with `off`, removed content is lost)"
                )
                .into());
            }
            Keeping::Rehearsed => {
                "without --dry-run nothing would be compacted, since removed content could not be archived; "
            }
            Keeping::Nowhere | Keeping::In(_) => "",
        };
        messages.warn(&format!(
            "going on without a state folder ({why}): {archive}later runs will treat summaries of this one as ordinary messages, and each run compiles its strategies again; name another folder with --state"
        ));
        Ok(builder().build()?)
    }
}

/// The state folder: the typed one, else that of the environment. Of the variables that other
/// programs have too, a relative path counts for none: it would be another folder everywhere.
pub(crate) fn state_folder(typed: Option<&Path>) -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
    typed
        .map(Path::to_owned)
        .or_else(|| variable("BALER_STATE").map(PathBuf::from))
        .or_else(|| {
            let absolute = |name| {
                variable(name)
                    .map(PathBuf::from)
                    .filter(|folder| folder.is_absolute())
            };
            absolute("XDG_STATE_HOME")
                .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
                .map(|folder| folder.join("baler"))
        })
}

/// The file of the key in the state folder, without which baler takes all summaries that it wrote
/// for ordinary messages.
pub(crate) fn key_file(state: Option<&Path>) -> Option<PathBuf> {
    state_folder(state).map(|folder| folder.join("key"))
}

/// Makes the folder that the host keeps compiled strategies in: it does so itself only when
/// the first one is loaded, which is too late to go on without.
fn room_for_code(state: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(state.join("compiled"))
}

impl GoalArguments {
    /// Returns the request, without the options of single commands.
    ///
    /// # Errors
    /// The context cannot be read or is not JSON, or --instructions are given with another --trigger than
    /// manual.
    pub(crate) fn request(&self) -> Result<Request, Failure> {
        Ok(Request::default()
            .with_trigger(self.trigger()?)
            .with_context(self.context()?)
            .with_budget(self.budget.unwrap_or(Request::default().budget))
            .with_pins(self.pin.0.clone())
            .with_context_window(self.context_window)
            .with_required(self.required)
            .with_max_bytes(self.max_bytes)
            .with_max_media(self.max_media))
    }

    fn trigger(&self) -> Result<Trigger, Failure> {
        match (self.trigger, &self.instructions) {
            (None | Some(TriggerArgument::Manual), Some(wish)) => {
                Ok(Trigger::Manual(Some(wish.clone())))
            }
            (Some(_), Some(_)) => Err(Failure::wrong_use(anyhow::anyhow!(
                "--instructions require --trigger manual, because they come from a person"
            ))),
            (None | Some(TriggerArgument::Threshold), None) => Ok(Trigger::Threshold),
            (Some(TriggerArgument::Overflow), None) => Ok(Trigger::Overflow),
            (Some(TriggerArgument::Manual), None) => Ok(Trigger::Manual(None)),
            (Some(TriggerArgument::Scheduled), None) => Ok(Trigger::Scheduled),
        }
    }

    /// Returns the file that the context is read from; `None` if there is no such file.
    pub(crate) fn context_file(&self) -> Option<&Path> {
        self.context.as_deref().and_then(named_file)
    }

    fn context(&self) -> Result<Option<String>, Failure> {
        let Some(typed) = &self.context else {
            return Ok(None);
        };
        let context = text_or_file(typed, "context")?;
        serde_json::from_str::<serde::de::IgnoredAny>(&context)
            .map_err(|error| anyhow::anyhow!("--context is not JSON: {error}"))
            .map_err(Failure::wrong_use)?;
        Ok(Some(context))
    }

    /// Fails if a pinned unit does not exist, which is known only when the conversation has been read.
    pub(crate) fn check_pins(&self, conversation: &Conversation) -> Result<(), Failure> {
        let units = conversation.units().len();
        let Pins::Units(pinned) = &self.pin.0 else {
            return Ok(());
        };
        match pinned.iter().find(|unit| **unit >= units) {
            None => Ok(()),
            Some(unit) => Err(Failure::wrong_use(anyhow::anyhow!(
                "unit {unit} cannot be pinned: the conversation has {}; `baler compact --dry-run` shows them",
                match units {
                    0 => "no units".to_owned(),
                    1 => "one unit, number 0".to_owned(),
                    units => format!("units 0 to {}", units - 1),
                }
            ))),
        }
    }
}

/// Returns the tokenizer with this name; `None` for `auto`.
pub(crate) fn tokenizer(name: &str) -> Result<Option<Tokenizer>, Failure> {
    if name == "auto" {
        return Ok(None);
    }
    Tokenizer::named(name).map(Some).map_err(Failure::wrong_use)
}

/// Returns a config that was given as JSON, or as a file named after `@`.
pub(crate) fn config(typed: &str) -> Result<String, Failure> {
    text_or_file(typed, "config")
}

/// Returns the file that is named after `@`.
pub(crate) fn named_file(typed: &str) -> Option<&Path> {
    typed.strip_prefix('@').map(Path::new)
}

/// The most bytes of a file named after `@`. Configs and contexts are far smaller.
const MOST: u64 = 16 << 20;

/// Returns a text that was given directly, or as a file named after `@`, which may be a pipe.
fn text_or_file(typed: &str, what: &str) -> Result<String, Failure> {
    let Some(file) = typed.strip_prefix('@') else {
        return Ok(typed.to_owned());
    };
    let read = || -> anyhow::Result<String> {
        descriptor::check_input(Path::new(file))?;
        let bytes = files::bounded(File::open(file)?, MOST)?;
        let bytes = bytes.ok_or_else(|| {
            let why = format!("the most that a {what} may have; name a file of JSON");
            files::too_large(MOST, &why)
        })?;
        let bytes = files::without_byte_order_mark(&bytes).to_vec();
        String::from_utf8(bytes).map_err(|_| anyhow!("expected JSON, and it is not UTF-8"))
    };
    read()
        .with_context(|| format!("cannot read the {what} `{file}`"))
        .map_err(Failure::wrong_use)
}
