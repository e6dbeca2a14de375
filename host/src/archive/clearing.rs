//! How much there is, and clearing what is old.

use std::time::{Duration, SystemTime};

use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::ObjectMeta;

use super::{Archive, ArchiveError, FRESH, Kind, age};

/// How much there is, or was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Contents {
    /// Units, single messages, and texts around them.
    pub entries: u64,
    /// Compactions that can be undone.
    pub compactions: u64,
    /// Bytes of all of it.
    pub bytes: u64,
}

impl Archive {
    /// All that there is.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub async fn contents(&self) -> Result<Contents, ArchiveError> {
        self.older_than(Duration::ZERO, Duration::ZERO)
            .await
            .map(|(contents, _)| contents)
    }

    /// What [`Archive::clear`] would clear.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub async fn old(&self, than: Duration) -> Result<Contents, ArchiveError> {
        let (contents, _) = self.older_than(than, than.saturating_add(FRESH)).await?;
        Ok(contents)
    }

    /// Clears the records of compactions older than this, and what nobody named since a day
    /// before. So what is younger can still be undone. What others store meanwhile stays, but
    /// for what lay there unnamed for so long and is named again in the moment when it is cleared.
    ///
    /// # Errors
    /// The archive cannot be read or written. What was cleared until then is gone.
    pub async fn clear(&self, than: Duration) -> Result<Contents, ArchiveError> {
        let (contents, old) = self.older_than(than, than.saturating_add(FRESH)).await?;
        let keys = futures_util::stream::iter(old.into_iter().map(|meta| Ok(meta.location)));
        let mut deleted = self.store.delete_stream(keys.boxed());
        while let Some(done) = deleted.next().await {
            match done {
                // Somebody else clears too.
                Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(ArchiveError::store("clear", &self.place, &error)),
            }
        }
        Ok(contents)
    }

    async fn older_than(
        &self,
        records: Duration,
        entries: Duration,
    ) -> Result<(Contents, Vec<ObjectMeta>), ArchiveError> {
        let mut contents = Contents::default();
        let mut old = Vec::new();
        // Records first: where it ends half way, none is left that names what is gone.
        for (kind, than) in [(Kind::Undo, records), (Kind::Entry, entries)] {
            let folder = self.folder(kind);
            let mut all = self.store.list(Some(&folder));
            let failed = |error| ArchiveError::store("list", &self.place, &error);
            while let Some(meta) = all.try_next().await.map_err(failed)? {
                if age(SystemTime::from(meta.last_modified)) < than {
                    continue;
                }
                match kind {
                    Kind::Undo => contents.compactions += 1,
                    Kind::Entry => contents.entries += 1,
                }
                contents.bytes += meta.size;
                old.push(meta);
            }
        }
        Ok((contents, old))
    }
}
