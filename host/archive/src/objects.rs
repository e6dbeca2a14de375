//! An archive in an object store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path as Key;
use object_store::{GetResult, ObjectStore, ObjectStoreExt as _};

use crate::backend::{Found, Item, Listing, MAX_ENTRY_BYTES, Problem, SMALL_BYTES};
use crate::layout::{Role, path_of};
use crate::reference::reference_of;
use crate::{CONCURRENCY, Kind};

/// A removal is prompt if it ends within this time after the last check of the object. Whoever rewrites an
/// old object waits for this time, and then checks whether the object still exists.
pub(crate) const PROMPT_REMOVAL: Duration = Duration::from_secs(2);

/// Some stores report times in whole seconds in one response, and more exactly in another. What is cleared
/// was written long before, so this tolerance does no harm.
const PRECISION: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(crate) struct Objects {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The prefix of all keys.
    pub(crate) prefix: Key,
}

impl Objects {
    pub(crate) async fn read(&self, path: &str, most: usize) -> Result<Option<Found>, Problem> {
        match self.get(path).await? {
            Some(found) => Ok(Some(Found {
                written: SystemTime::from(found.meta.last_modified),
                content: received(found, most).await?,
            })),
            None => Ok(None),
        }
    }

    async fn get(&self, path: &str) -> Result<Option<GetResult>, Problem> {
        match self.store.get(&self.key(path)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            found => Ok(Some(found?)),
        }
    }

    pub(crate) async fn write(&self, path: &str, content: String) -> Result<(), Problem> {
        self.store.put(&self.key(path), content.into()).await?;
        Ok(())
    }

    pub(crate) async fn list(&self) -> Result<Listing, Problem> {
        let mut listing = Listing::default();
        for kind in Kind::ALL {
            let folder = self.key(kind.folder());
            let mut all = self.store.list(Some(&folder));
            while let Some(meta) = all.try_next().await? {
                // Some consoles create an empty object for a folder.
                if meta.location == folder {
                    continue;
                }
                let path = self.path(&meta.location);
                match path.and_then(|path| Some((Role::of(&path)?, path))) {
                    None => listing.has_foreign = true,
                    Some((role, path)) => listing.items.push(Item {
                        role,
                        path,
                        bytes: meta.size,
                        written: SystemTime::from(meta.last_modified),
                    }),
                }
            }
        }
        Ok(listing)
    }

    /// Removes objects, except those that were rewritten since they were listed.
    pub(crate) async fn remove(&self, items: Vec<Item>) -> Result<(), Problem> {
        let (small, large): (Vec<Item>, Vec<Item>) = items
            .into_iter()
            .partition(|item| item.bytes <= SMALL_BYTES as u64);
        self.remove_all(small, CONCURRENCY).await?;
        // One at a time, because the content of each is in memory until it is removed.
        self.remove_all(large, 1).await
    }

    /// Starts no further removal after a failure, but waits for those that were started, because they may
    /// have to put their object back.
    async fn remove_all(&self, items: Vec<Item>, at_once: usize) -> Result<(), Problem> {
        let has_failed = &AtomicBool::new(false);
        let removals = items.into_iter().map(|item| {
            let objects = self.clone();
            async move {
                if has_failed.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let removed = objects.remove_as_listed(&item).await;
                has_failed.fetch_or(removed.is_err(), Ordering::Relaxed);
                removed
            }
        });
        let removed: Vec<Result<(), Problem>> = stream::iter(removals)
            .buffer_unordered(at_once)
            .collect()
            .await;
        removed.into_iter().collect()
    }

    /// Removes an object, unless it was rewritten since it was listed. A store cannot remove conditionally,
    /// so the removal may hit an object that was written after the last check. If the removal was prompt, the
    /// writer notices it ([`PROMPT_REMOVAL`]); otherwise the object is put back.
    async fn remove_as_listed(&self, item: &Item) -> Result<(), Problem> {
        let Some(found) = self.get(&item.path).await? else {
            return Ok(());
        };
        // Objects that are larger than baler stores, or damaged, are not worth putting back.
        let content = received(found, MAX_ENTRY_BYTES).await?;
        let content = content.filter(|content| is_named(&item.path, content));
        let key = self.key(&item.path);
        let looked = Instant::now();
        let now = match self.store.head(&key).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(()),
            now => SystemTime::from(now?.last_modified),
        };
        if now > item.written + PRECISION {
            return Ok(());
        }
        let removed = match self.store.delete(&key).await {
            // Another process clears the archive too.
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            removed => removed,
        };
        // A removal that reports a failure may still have happened.
        let may_be_missed = removed.is_err() || looked.elapsed() >= PROMPT_REMOVAL;
        if let Some(content) = content.filter(|_| may_be_missed) {
            self.store.put(&key, content.into()).await?;
        }
        Ok(removed?)
    }

    fn key(&self, path: &str) -> Key {
        let parts = path.split('/');
        parts.fold(self.prefix.clone(), |key, part| key.join(part))
    }

    /// Returns the path of a key relative to the prefix.
    fn path(&self, key: &Key) -> Option<String> {
        let parts = key.prefix_match(&self.prefix)?;
        let parts: Vec<String> = parts.map(|part| String::from(part.as_ref())).collect();
        Some(parts.join("/"))
    }
}

/// Whether a content matches the reference in its path.
fn is_named(path: &str, content: &[u8]) -> bool {
    let kind = Kind::ALL.into_iter();
    let reference = reference_of(content);
    kind.map(|kind| path_of(kind, &reference))
        .any(|own| own == path)
}

/// Receives the content of an object; `None` if it has more than `most` bytes.
async fn received(found: GetResult, most: usize) -> Result<Option<Vec<u8>>, Problem> {
    if found.meta.size > most as u64 {
        return Ok(None);
    }
    let mut content = Vec::new();
    let mut pieces = found.into_stream();
    while let Some(piece) = pieces.try_next().await? {
        // Does not trust the size that the store reported.
        if piece.len() > most - content.len() {
            return Ok(None);
        }
        content.extend_from_slice(&piece);
    }
    Ok(Some(content))
}
