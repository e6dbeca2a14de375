//! Strategies, publishers and pulls.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use baler_registry::{
    Artifact, Held, Interfaces, LOCK_FILE, Limits, Lock, Options, Place, Publisher, Pulled,
    Reference, ResolveError, SigningKey, Store, Transport, Unsigned, VERSION_ANNOTATION, Wanted,
    push_signature, resolve, sign,
};
use tempfile::TempDir;

use crate::server::Server;

/// A component, as far as a registry knows.
pub(crate) const WASM: &[u8] = b"\0asm\x0d\0\x01\0 keep the newest";

/// Limits of sizes that are reached soon.
pub(crate) fn limits() -> Limits {
    Limits {
        component: 1 << 20,
        manifest: 64 << 10,
        silence: Duration::from_secs(10),
        time: Duration::from_secs(60),
        ..Limits::default()
    }
}

pub(crate) fn options() -> Options {
    Options::default().with_limits(limits())
}

pub(crate) fn place(text: &str) -> Place {
    text.parse::<Reference>().expect("a reference").place
}

pub(crate) fn place_of(server: &Server) -> Place {
    place(&format!("oci://{}/acme/keep-newest", server.host()))
}

pub(crate) fn open(server: &Server) -> Transport {
    Transport::open(&place_of(server), options()).expect("opens")
}

/// An artifact of version 0.1.0.
pub(crate) fn artifact(wasm: &[u8]) -> Artifact {
    artifact_of(wasm, "0.1.0")
}

pub(crate) fn artifact_of(wasm: &[u8], version: &str) -> Artifact {
    let interfaces = Interfaces::default();
    let said = BTreeMap::from([(VERSION_ANNOTATION.to_owned(), version.to_owned())]);
    Artifact::new(wasm.to_owned(), &interfaces, said, &limits()).expect("fits")
}

pub(crate) fn publisher(key: &SigningKey) -> Publisher {
    Publisher {
        name: "acme".into(),
        keys: vec![key.public_key().clone()],
    }
}

/// Pushes a component and signs it.
pub(crate) async fn publish(to: &Transport, wasm: &[u8], version: &str, key: &SigningKey) {
    let artifact = artifact_of(wasm, version);
    artifact.push(to, version, true).await.expect("is pushed");
    let subjects = [artifact.manifest().digest()];
    let bundle = sign(key, &subjects).expect("is signed");
    let pushed = push_signature(to, artifact.manifest(), &bundle).await;
    pushed.expect("the signature is pushed");
}

pub(crate) fn wanted(source: Place, key: &SigningKey) -> Wanted {
    Wanted {
        name: "keep-newest".into(),
        source,
        requirement: "^0.1".parse().expect("a requirement"),
        publisher: Some(publisher(key)),
    }
}

/// A registry with a signed strategy, version 0.1.0.
pub(crate) async fn published() -> (Server, SigningKey) {
    let (server, key) = (
        Server::start().await,
        SigningKey::generate().expect("a key"),
    );
    publish(&open(&server), WASM, "0.1.0", &key).await;
    (server, key)
}

/// A project with a store and, perhaps, a lock.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.folder().join("store")).expect("a store")
    }

    pub(crate) fn lock(&self) -> Option<Lock> {
        Lock::read(&self.folder().join(LOCK_FILE)).expect("a lock")
    }

    /// Pulls what is wanted, as it is locked if it is, stores it and locks it.
    pub(crate) async fn pull(
        &self,
        from: &Transport,
        wanted: &Wanted,
        unsigned: Unsigned,
    ) -> Result<Pulled, ResolveError> {
        let mut lock = self.lock().unwrap_or_default();
        let held = lock.entry(&wanted.name).ok().cloned();
        let held = held.as_ref().map_or(Held::ToBeLocked, Held::Locked);
        let pulled = resolve(from, wanted, unsigned, held).await?;
        self.store().keep(&pulled).expect("is stored");
        lock.insert(pulled.entry(wanted, "baler:compaction@0.1.0".into(), Vec::new()));
        lock.write(&self.folder().join(LOCK_FILE))
            .expect("is written");
        Ok(pulled)
    }

    /// Asserts that nothing was stored or locked.
    pub(crate) fn is_untouched(&self) -> bool {
        let blobs = self.folder().join("store/blobs/sha256");
        let stored = fs::read_dir(blobs).is_ok_and(|mut entries| entries.next().is_some());
        !stored && self.lock().is_none()
    }
}

/// Returns an error with its causes.
pub(crate) fn said(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}
