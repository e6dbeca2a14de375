//! What archives lie in. All paths are from the archive's place on (`layout.rs`).

use std::io;
use std::time::SystemTime;

use super::folder::Folder;
use super::layout::Role;
use super::objects::{Objects, PROMPT};
use super::room::Place;

/// The most bytes that are stored under a reference. A unit holds a message with its pictures,
/// of which providers take far less.
pub(super) const MOST_BYTES: usize = 256 << 20;

/// The most bytes of what is read ahead of its turn, as one of many. So all of them together take
/// no more than 64 MiB, whatever somebody planted.
pub(super) const SMALL_BYTES: usize = 4 << 20;

/// Why something cannot be done; its innermost cause says what happened.
pub(super) type Problem = Box<dyn std::error::Error + Send + Sync>;

#[derive(Clone)]
pub(super) enum Backend {
    Folder(Folder),
    Objects(Objects),
}

/// What is stored at a path.
pub(super) struct Found {
    pub(super) written: SystemTime,
    pub(super) content: Vec<u8>,
}

/// Something that is the archive's own.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) role: Role,
    pub(super) path: String,
    pub(super) bytes: u64,
    pub(super) written: SystemTime,
}

#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) items: Vec<Item>,
    /// Whether something else lies among them, which tells that this may be no archive. Of a
    /// folder that is known to be one it is not told.
    pub(super) has_foreign: bool,
}

impl Backend {
    /// What is stored at a path; `None` if nothing is.
    pub(super) async fn read(&self, path: &str, place: Place) -> Result<Option<Found>, Problem> {
        match self {
            Self::Objects(objects) => objects.read(path).await,
            Self::Folder(folder) => {
                let (folder, path) = (folder.clone(), path.to_owned());
                let work = move || {
                    let _place = place;
                    folder.read(&path)
                };
                Ok(blocking(work).await?)
            }
        }
    }

    /// As [`Backend::read`], but `None` also where there is more than [`SMALL_BYTES`]. (A store
    /// over the network may have received it by then.)
    pub(super) async fn read_small(
        &self,
        path: &str,
        place: Place,
    ) -> Result<Option<Found>, Problem> {
        match self {
            Self::Objects(objects) => objects.read_small(path).await,
            Self::Folder(folder) => {
                let (folder, path) = (folder.clone(), path.to_owned());
                let work = move || {
                    let _place = place;
                    folder.read_small(&path)
                };
                Ok(blocking(work).await?)
            }
        }
    }

    /// Stores what nobody sees before it is whole.
    pub(super) async fn write(
        &self,
        path: &str,
        content: String,
        place: Place,
    ) -> Result<(), Problem> {
        match self {
            Self::Objects(objects) => objects.write(path, content).await,
            Self::Folder(folder) => {
                let (folder, path) = (folder.clone(), path.to_owned());
                let work = move || {
                    let _place = place;
                    folder.write(&path, content.as_bytes())
                };
                Ok(blocking(work).await?)
            }
        }
    }

    pub(super) async fn list(&self) -> Result<Listing, Problem> {
        match self {
            Self::Objects(objects) => objects.list().await,
            Self::Folder(folder) => {
                let folder = folder.clone();
                Ok(blocking(move || folder.list()).await?)
            }
        }
    }

    /// Those of these unfinished files that nobody writes any more.
    pub(super) async fn abandoned(&self, items: Vec<Item>) -> Result<Vec<Item>, Problem> {
        match self {
            // A store shows nothing before it is whole.
            Self::Objects(_) => Ok(Vec::new()),
            Self::Folder(folder) => {
                let folder = folder.clone();
                Ok(blocking(move || folder.abandoned(items)).await?)
            }
        }
    }

    /// Whether what is old may be removed by who looked at it before it was written again.
    pub(super) const fn may_miss(&self) -> bool {
        matches!(self, Self::Objects(_))
    }

    /// Waits until nobody does so any more with what is written by now.
    pub(super) async fn settle(&self) -> Result<(), Problem> {
        if self.may_miss() {
            // Not by a timer, which not every runtime has.
            blocking(|| {
                std::thread::sleep(PROMPT);
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    /// Removes what [`Backend::list`] told of.
    pub(super) async fn remove(&self, items: Vec<Item>) -> Result<(), Problem> {
        match self {
            Self::Objects(objects) => objects.remove(items).await,
            Self::Folder(folder) => {
                let folder = folder.clone();
                Ok(blocking(move || folder.remove(&items)).await?)
            }
        }
    }
}

/// Why something of this size is neither read nor written.
pub(super) fn too_large(path: &str) -> String {
    format!("`{path}` has more than {MOST_BYTES} bytes, the most that an archive stores as one")
}

/// Waits for files without holding up a runtime, where there is one.
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
