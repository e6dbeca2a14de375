//! Where an archive is stored: a folder, or an object store. Paths are relative to the archive's location
//! (`layout.rs`).

use std::io;
use std::time::SystemTime;

use crate::folder::Folder;
use crate::layout::Role;
use crate::objects::{Objects, PROMPT_REMOVAL};
use crate::slots::Slot;

/// The most bytes that are stored under one reference. Providers accept far fewer bytes in one message, its
/// pictures included.
pub(crate) const MAX_ENTRY_BYTES: usize = 256 << 20;

/// The most bytes of an entry that is read in parallel with others. Thus they take at most 64 MiB together,
/// whatever an attacker stored.
pub(crate) const SMALL_BYTES: usize = 4 << 20;

/// Why an operation failed. The innermost cause says what happened.
pub(crate) type Problem = Box<dyn std::error::Error + Send + Sync>;

#[derive(Clone)]
pub(crate) enum Backend {
    Folder(Folder),
    Objects(Objects),
}

/// The content stored at a path, and when it was written.
pub(crate) struct Found {
    pub(crate) written: SystemTime,
    /// `None` if it has more bytes than were to be read.
    pub(crate) content: Option<Vec<u8>>,
}

/// A file or object of the archive.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) role: Role,
    pub(crate) path: String,
    pub(crate) bytes: u64,
    pub(crate) written: SystemTime,
}

#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) items: Vec<Item>,
    /// Whether there are other files or objects among the items, so that this may be no archive. Always false
    /// for a folder that is known to be an archive.
    pub(crate) has_foreign: bool,
}

impl Backend {
    /// Reads what is stored at a path, up to `most` bytes; `None` if nothing is. (A store over the network may already
    /// have sent more by then.)
    pub(crate) async fn read(
        &self,
        path: String,
        most: usize,
        slot: Slot,
    ) -> Result<Option<Found>, Problem> {
        match self {
            Self::Objects(objects) => objects.read(&path, most).await,
            Self::Folder(folder) => {
                on(folder, move |folder| {
                    let _slot = slot;
                    folder.read(&path, most)
                })
                .await
            }
        }
    }

    /// Stores content atomically: no reader sees a part of it.
    pub(crate) async fn write(
        &self,
        path: String,
        content: String,
        slot: Slot,
    ) -> Result<(), Problem> {
        match self {
            Self::Objects(objects) => objects.write(&path, content).await,
            Self::Folder(folder) => {
                on(folder, move |folder| {
                    let _slot = slot;
                    folder.write(&path, content.as_bytes())
                })
                .await
            }
        }
    }

    /// Lists the items of the archive.
    pub(crate) async fn list(&self) -> Result<Listing, Problem> {
        match self {
            Self::Objects(objects) => objects.list().await,
            Self::Folder(folder) => on(folder, Folder::list).await,
        }
    }

    /// Returns those of these unfinished files that nobody is writing any more.
    pub(crate) async fn abandoned(&self, items: Vec<Item>) -> Result<Vec<Item>, Problem> {
        match self {
            // A store shows no unfinished objects.
            Self::Objects(_) => Ok(Vec::new()),
            Self::Folder(folder) => on(folder, move |folder| folder.abandoned(items)).await,
        }
    }

    /// Whether another process may remove an object that was rewritten after it checked the object's age.
    pub(crate) const fn removals_may_race(&self) -> bool {
        matches!(self, Self::Objects(_))
    }

    /// Waits until no such removal of what is written by now is possible any more.
    pub(crate) async fn wait_for_removals(&self) -> Result<(), Problem> {
        if self.removals_may_race() {
            // Not a timer, because not every runtime has one.
            blocking(|| {
                std::thread::sleep(PROMPT_REMOVAL);
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    /// Removes items that [`Backend::list`] returned.
    pub(crate) async fn remove(&self, items: Vec<Item>) -> Result<(), Problem> {
        match self {
            Self::Objects(objects) => objects.remove(items).await,
            Self::Folder(folder) => on(folder, move |folder| folder.remove(&items)).await,
        }
    }
}

/// Works in a folder without blocking the tokio runtime.
async fn on<T: Send + 'static>(
    folder: &Folder,
    work: impl FnOnce(&Folder) -> io::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    let folder = folder.clone();
    Ok(blocking(move || work(&folder)).await?)
}

/// Runs file operations without blocking the tokio runtime, if there is one.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => {
            let done = runtime.spawn_blocking(work).await;
            done.map_err(io::Error::other)?
        }
        Err(_) => work(),
    }
}
