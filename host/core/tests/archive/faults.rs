use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use baler_generated::Kind;
use baler_host::archive::object_store::memory::InMemory;
use baler_host::archive::object_store::path::Path;
use baler_host::archive::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use baler_host::{Archive, HostError, archive::ArchiveError, receipt::Outcome};
use futures_util::stream::BoxStream;

use crate::support::{assert_there, host_of, made, try_compact};

/// A store that has room for so many objects.
#[derive(Debug)]
struct Full {
    inner: InMemory,
    room: AtomicUsize,
    /// How often something was read.
    reads: AtomicUsize,
}

impl Full {
    fn with_room_for(objects: usize) -> Arc<Self> {
        Arc::new(Self {
            inner: InMemory::new(),
            room: AtomicUsize::new(objects),
            reads: AtomicUsize::new(0),
        })
    }
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store with little room")
    }
}

#[async_trait]
impl ObjectStore for Full {
    async fn put_opts(&self, to: &Path, what: PutPayload, how: PutOptions) -> Result<PutResult> {
        let less = |room: usize| room.checked_sub(1);
        if self
            .room
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
            .is_err()
        {
            return Err(Error::Generic {
                store: "Full",
                source: "no space left".into(),
            });
        }
        self.inner.put_opts(to, what, how).await
    }

    async fn put_multipart_opts(
        &self,
        to: &Path,
        how: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(to, how).await
    }

    async fn get_opts(&self, from: &Path, how: GetOptions) -> Result<GetResult> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.inner.get_opts(from, how).await
    }

    fn delete_stream(
        &self,
        all: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(all)
    }

    fn list(&self, below: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(below)
    }

    async fn list_with_delimiter(&self, below: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(below).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, how: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, how).await
    }
}

#[tokio::test]
async fn a_store_that_is_full_half_way_means_no_compaction_and_the_next_try_goes_on() {
    let document = made(Kind::Anthropic, 4, 40).document();
    let mut tried = 0;
    loop {
        let store = Full::with_room_for(tried);
        let archive = Archive::on(
            Arc::clone(&store) as Arc<dyn ObjectStore>,
            "a/b",
            "the attic",
        );
        let host = host_of(Kind::Anthropic, &archive);
        let conversation = host.read(document.as_str()).expect("reads");
        match try_compact(&host, &conversation, 0.4).await {
            Ok(compaction) => {
                assert_there(&archive, &document, &compaction).await;
                break;
            }
            Err(error) => {
                let told = ArchiveError::Store {
                    action: "write to",
                    place: "the attic".to_owned(),
                    what: "no space left".to_owned(),
                };
                let HostError::Archive(error) = error else {
                    panic!("{error:?}");
                };
                assert_eq!(error, told);
                assert_eq!(conversation.document(), document);
                // No record names what is not there.
                let contents = archive.contents().await.expect("reads");
                assert_eq!(contents.compactions, 0);
            }
        }
        // Somebody made room: what was stored by then is not stored again.
        store.room.store(usize::MAX, Ordering::SeqCst);
        let compaction = try_compact(&host, &conversation, 0.4)
            .await
            .expect("is stored");
        assert_eq!(compaction.receipt().outcome, Outcome::Compacted);
        assert_there(&archive, &document, &compaction).await;
        tried += 1;
    }
    assert!(tried > 10, "{tried}");
}

#[tokio::test]
async fn undo_reads_once_what_stands_in_a_document_again_and_again() {
    let store = Full::with_room_for(usize::MAX);
    let archive = Archive::on(Arc::clone(&store) as Arc<dyn ObjectStore>, "", "the attic");
    let long = "word ".repeat(400);
    let says = |role: &str| format!(r#"{{"role":"{role}","content":"{long}"}}"#);
    let (user, model) = (says("user"), says("assistant"));
    let last = r#"{"role":"user","content":"Go on."}"#;
    let document = format!(r#"{{"messages":[{user},{model},{user},{model},{last}]}}"#);
    let host = host_of(Kind::OpenAiChat, &archive);
    let conversation = host.read(document.as_str()).expect("reads");
    let compaction = try_compact(&host, &conversation, 0.4)
        .await
        .expect("is stored");
    let undo = compaction.receipt().undo.as_deref();
    store.reads.store(0, Ordering::SeqCst);
    let undone = archive.undo(undo.expect("it was compacted")).await;
    assert_eq!(undone, Ok(document));
    // The record, the texts, and three messages that differ.
    assert_eq!(store.reads.load(Ordering::SeqCst), 5);
}
