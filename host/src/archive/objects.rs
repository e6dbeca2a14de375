//! An archive in an object store.

use std::sync::Arc;
use std::time::SystemTime;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path as Key;
use object_store::{GetResult, ObjectStore, ObjectStoreExt as _};

use super::Kind;
use super::backend::{Found, Item, Listing, MOST_BYTES, Problem, SMALL_BYTES, too_large};
use super::layout::Role;

#[derive(Clone)]
pub(super) struct Objects {
    pub(super) store: Arc<dyn ObjectStore>,
    /// All keys begin with it.
    pub(super) prefix: Key,
}

impl Objects {
    pub(super) async fn read(&self, path: &str) -> Result<Option<Found>, Problem> {
        match self.get(path).await? {
            Some(found) => received(found, path).await.map(Some),
            None => Ok(None),
        }
    }

    /// `None` also where it is not small.
    pub(super) async fn read_small(&self, path: &str) -> Result<Option<Found>, Problem> {
        let found = self.get(path).await?;
        match found.filter(|found| found.meta.size <= SMALL_BYTES as u64) {
            Some(found) => received(found, path).await.map(Some),
            None => Ok(None),
        }
    }

    async fn get(&self, path: &str) -> Result<Option<GetResult>, Problem> {
        match self.store.get(&self.key(path)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            found => Ok(Some(found?)),
        }
    }

    pub(super) async fn write(&self, path: &str, content: String) -> Result<(), Problem> {
        self.store.put(&self.key(path), content.into()).await?;
        Ok(())
    }

    pub(super) async fn list(&self) -> Result<Listing, Problem> {
        let mut listing = Listing::default();
        for kind in Kind::ALL {
            let folder = self.key(kind.folder());
            let mut all = self.store.list(Some(&folder));
            while let Some(meta) = all.try_next().await? {
                // Some consoles make an empty object for a folder.
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

    pub(super) async fn remove(&self, items: &[Item]) -> Result<(), Problem> {
        let keys = items.iter().map(|item| Ok(self.key(&item.path)));
        let keys: Vec<object_store::Result<Key>> = keys.collect();
        let mut removed = self.store.delete_stream(stream::iter(keys).boxed());
        while let Some(done) = removed.next().await {
            match done {
                // Somebody else clears too.
                Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn key(&self, path: &str) -> Key {
        let parts = path.split('/');
        parts.fold(self.prefix.clone(), |key, part| key.join(part))
    }

    /// Where a key is, from the prefix on.
    fn path(&self, key: &Key) -> Option<String> {
        let parts = key.prefix_match(&self.prefix)?;
        let parts: Vec<String> = parts.map(|part| String::from(part.as_ref())).collect();
        Some(parts.join("/"))
    }
}

async fn received(found: GetResult, path: &str) -> Result<Found, Problem> {
    let written = SystemTime::from(found.meta.last_modified);
    let mut content = Vec::new();
    let mut pieces = found.into_stream();
    while let Some(piece) = pieces.try_next().await? {
        // Whatever the store said of its size.
        if piece.len() > MOST_BYTES - content.len() {
            return Err(too_large(path).into());
        }
        content.extend_from_slice(&piece);
    }
    Ok(Found { written, content })
}
