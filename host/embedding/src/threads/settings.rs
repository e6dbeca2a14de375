//! What a host is made of.

use std::path::PathBuf;

use baler_host::archive::Archive;
use baler_host::conversation::tokenizers::Tokenizer;
use baler_host::model::ModelGrant;
use baler_host::project::Project;
use baler_host::strategy::EngineLimits;
use baler_host::{Compiler, Host, Limits};

use super::model::Model;
use crate::error::Error;
use crate::options::{Options, count, flag, text};

/// What a host is made of.
#[derive(Debug)]
pub struct Settings {
    pub(super) state: Option<PathBuf>,
    archive: ArchiveChoice,
    tokenizer: Option<Tokenizer>,
    pub(crate) project: Option<Project>,
    pub(crate) model: Option<ModelGrant>,
    compiler: Vec<PathBuf>,
    concurrent_calls: u32,
    memory: usize,
    refuses_wasi: bool,
}

#[derive(Debug)]
enum ArchiveChoice {
    Off,
    InState,
    /// Opened once: it has no threads of its own.
    Opened(Archive),
    /// A URL.
    At(String, Vec<(String, String)>),
}

impl Settings {
    /// Reads the options of a host from JSON.
    ///
    /// # Errors
    /// An option is unknown or has a value that is not allowed.
    pub fn read(options: &str, model: Option<Model>) -> Result<Self, Error> {
        let mut options = Options::read(options)?;
        let model = model.map(|model| model.grant(&mut options)).transpose()?;
        let state = options.take("state", text)?.map(PathBuf::from);
        let archive = options.take("archive", text)?;
        let stores = options.take("archive_options", |value| {
            serde_json::from_value(value.clone()).map_err(|_| "expected pairs of texts".to_owned())
        })?;
        let project = options.take("project", text)?;
        let project = project.map(|file| project_of(&file)).transpose()?;
        let settings = Self {
            archive: archive_of(archive, stores.unwrap_or_default(), state.is_some())?,
            state,
            tokenizer: options.take("tokenizer", |value| {
                let name = text(value)?;
                Tokenizer::named(&name).map_err(|error| error.to_string())
            })?,
            project,
            model,
            compiler: options
                .take("compiler", |value| {
                    serde_json::from_value(value.clone())
                        .map_err(|_| "expected a command as a list of texts".to_owned())
                })?
                .unwrap_or_default(),
            concurrent_calls: options.take("concurrent_calls", count)?.unwrap_or(16),
            memory: options
                .take("memory", count)?
                .unwrap_or(Limits::default().memory),
            refuses_wasi: !options.take("wasi", flag)?.unwrap_or(true),
        };
        options.end()?;
        Ok(settings)
    }

    /// Builds a host.
    pub(crate) fn build(&self) -> Result<Host, Error> {
        let limits = EngineLimits::default()
            .with_concurrent_calls(self.concurrent_calls)
            .with_memory(EngineLimits::default().memory.max(self.memory));
        let mut builder = Host::builder()
            .limits(limits)
            .tokenizer(self.tokenizer.clone())
            .model(self.model.clone());
        if let Some((program, arguments)) = self.compiler.split_first() {
            builder = builder.compiler(Compiler::Command {
                program: program.clone(),
                arguments: arguments.iter().map(Into::into).collect(),
            });
        }
        if let Some(state) = &self.state {
            builder = builder.state(state);
        }
        builder = match &self.archive {
            ArchiveChoice::Off => builder.without_archive(),
            ArchiveChoice::InState => builder,
            ArchiveChoice::Opened(archive) => builder.archive(archive.clone()),
            ArchiveChoice::At(url, options) => {
                let archive = Archive::at(url, options.iter().cloned());
                builder.archive(archive.map_err(|error| Error::option("archive", error))?)
            }
        };
        if self.refuses_wasi {
            builder = builder.without_wasi();
        }
        if let Some(project) = &self.project {
            builder = builder.project(project);
        }
        Ok(builder.build()?)
    }
}

/// Reads the list that the caller named, and so trusts.
fn project_of(file: &str) -> Result<Project, Error> {
    let project = Project::read(file.as_ref())?;
    let is_reserved = |name: &str| baler_strategies::by_name_in_any_case(name).is_some();
    project.check_names(is_reserved)?;
    Ok(project)
}

fn archive_of(
    named: Option<String>,
    options: Vec<(String, String)>,
    has_state: bool,
) -> Result<ArchiveChoice, Error> {
    Ok(match named.as_deref() {
        None if has_state => ArchiveChoice::InState,
        None | Some("off") => ArchiveChoice::Off,
        Some("memory") => ArchiveChoice::Opened(Archive::in_memory()),
        Some(url) if url.contains("://") => ArchiveChoice::At(url.to_owned(), options),
        Some(folder) => {
            let archive = Archive::open(folder);
            ArchiveChoice::Opened(archive.map_err(|error| Error::option("archive", error))?)
        }
    })
}
