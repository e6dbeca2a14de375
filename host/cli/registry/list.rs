//! The list of strategies, what is locked of it, and where it is stored.

use std::fs::{self, File};
use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use baler_host::project::{FILE_NAME, ListedSource, Project, Trust, TrustedLists};
use baler_registry::{Entry, Held, Lock, Store, Unsigned, Wanted, project, resolve};

use super::component::Component;
use super::{RegistryArguments, refused, state, working_folder};
use crate::arguments::SandboxArguments;
use crate::exit::Failure;
use crate::files::folder_of;
use crate::output::Messages;
use crate::whole_file::{WholeFile, commit_all};

/// A list of strategies, for commands that pull and lock them.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) project: Project,
    pub(crate) lock: Lock,
    pub(crate) store: Store,
    /// Held as long as this is in use: of two commands at once, one would overwrite what the other wrote.
    _only_one: File,
}

impl List {
    /// Opens the list that counts.
    pub(crate) fn open(sandbox: &SandboxArguments, messages: Messages) -> Result<Self, Failure> {
        let project = sandbox.project(messages)?.ok_or_else(|| {
            Failure::wrong_use(anyhow!(
                "there is no `{FILE_NAME}` in the working folder or above it; `baler add` makes one"
            ))
        })?;
        Self::of(project, sandbox)
    }

    /// Opens the lock and the store of a list.
    pub(crate) fn of(project: Project, sandbox: &SandboxArguments) -> Result<Self, Failure> {
        let (store, only_one) = hold(sandbox)?;
        let lock = Lock::read(&project::lock_file(&project)).map_err(Failure::wrong_use)?;
        Ok(Self {
            project,
            lock: lock.unwrap_or_default(),
            store,
            _only_one: only_one,
        })
    }

    /// Returns what is wanted of the strategies that are in registries, by name.
    pub(crate) fn wanted(&self) -> Result<Vec<Wanted>, Failure> {
        let mut wanted = Vec::new();
        for listed in self.project.strategies() {
            if let ListedSource::Registry(source) = listed.source() {
                let own = project::wanted(&self.project, listed.name(), source);
                wanted.push(own.map_err(Failure::wrong_use)?);
            }
        }
        Ok(wanted)
    }

    /// Pulls a strategy, checks it, and stores it. The lock is not written yet.
    pub(crate) async fn pull(
        &self,
        wanted: &Wanted,
        held: Held<'_>,
        registry: &RegistryArguments,
        sandbox: &SandboxArguments,
    ) -> Result<(Entry, Component), Failure> {
        let from = registry.open(&wanted.source, folder_of(self.project.file()))?;
        let pulled = resolve(&from, wanted, self.unsigned(), held).await;
        let pulled = pulled.map_err(refused)?;
        let component = Component::of(pulled.wasm.clone(), &wanted.name, sandbox).await?;
        self.store.keep(&pulled).map_err(anyhow::Error::from)?;
        let (contract, imports) = (&component.contract, &component.interfaces.imports);
        let entry = pulled.entry(wanted, contract.clone(), imports.clone());
        Ok((entry, component))
    }

    /// Returns whether a locked strategy is here, as it is locked.
    pub(crate) fn is_stored(&self, entry: &Entry, wanted: &Wanted) -> Result<bool, Failure> {
        let limits = baler_registry::Limits::default();
        let stored = self.store.load(entry, wanted, self.unsigned(), &limits);
        Ok(stored.map_err(refused)?.is_some())
    }

    /// Writes the lock.
    pub(crate) fn write_lock(&self) -> Result<(), Failure> {
        let written = self.lock.write(&project::lock_file(&self.project));
        written.map_err(|error| anyhow::Error::from(error).into())
    }

    pub(crate) fn unsigned(&self) -> Unsigned {
        project::unsigned(&self.project)
    }
}

/// Opens the store, and waits until no other command changes lists, for as long as the file is kept.
pub(crate) fn hold(sandbox: &SandboxArguments) -> Result<(Store, File), Failure> {
    let state = state(sandbox.state.as_deref())?;
    let store = project::store(&state).map_err(anyhow::Error::from)?;
    let path = state.join("strategies/lists.lock");
    let opened = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path);
    let locked = opened.and_then(|file| file.lock().map(|()| file));
    let locked = locked.with_context(|| format!("cannot lock `{}`", path.display()))?;
    Ok((store, locked))
}

/// A list that is to be changed, and the text that it will have.
#[derive(Debug)]
pub(crate) struct Changed {
    file: PathBuf,
    text: String,
    /// Whether the list is trusted afterwards: it is new, or was trusted before.
    is_trusted: bool,
    /// The list as it will be.
    pub(crate) project: Project,
}

/// Adds tables to the list that counts, or to a new one in the working folder. Nothing is written yet.
pub(crate) fn change(
    sandbox: &SandboxArguments,
    tables: impl FnOnce(Option<&Project>) -> Result<String, Failure>,
) -> Result<Changed, Failure> {
    if sandbox.project.as_deref().is_some_and(|off| off == "off") {
        return Err(Failure::wrong_use(anyhow!(
            "`--project off` means no list, and this command writes one; name a file"
        )));
    }
    let before = sandbox.project(Messages { quiet: false })?;
    let (file, mut text) = match &before {
        Some(project) => {
            let file = project.file().to_owned();
            let text = fs::read_to_string(&file)
                .with_context(|| format!("cannot read `{}`", file.display()))?;
            (file, text)
        }
        None => {
            let file = working_folder()?.join(FILE_NAME);
            if fs::symlink_metadata(&file).is_ok() {
                return Err(Failure::wrong_use(anyhow!(
                    "`{}` is there and is not used as the list, because others may change it; make it yours alone, or name a list by --project",
                    file.display()
                )));
            }
            (file, String::new())
        }
    };
    let trust = before.as_ref().map_or(Trust::Trusted, Project::trust);
    let added = tables(before.as_ref())?;
    if !text.is_empty() {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    text.push_str(&added);
    let project = Project::parse_as(&text, &file, trust)
        .with_context(|| {
            format!(
                "cannot add this to `{}`, which has to be a list with tables such as `[strategies.NAME]`:\n{added}",
                file.display()
            )
        })
        .map_err(Failure::wrong_use)?;
    Ok(Changed {
        // One that is named counts in each run that names it, and no longer.
        is_trusted: trust == Trust::Trusted && sandbox.project.is_none(),
        file,
        text,
        project,
    })
}

impl Changed {
    /// Writes the list, after `before`: nothing is written if the list cannot be.
    pub(crate) fn write(
        self,
        sandbox: &SandboxArguments,
        before: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let state = state(sandbox.state.as_deref())?;
        let staged = WholeFile::create(&self.file)?.stage(&self.text)?;
        if self.is_trusted {
            // Trust is in this content, so it changes nothing before the list has it.
            let lists = TrustedLists::in_state(&state);
            lists.add(&self.project).map_err(anyhow::Error::from)?;
        }
        before()?;
        commit_all(vec![staged]).map_err(Failure::from)
    }
}
