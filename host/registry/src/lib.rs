//! Strategies in OCI registries and OCI layout folders.
//!
//! A strategy is an artifact in the CNCF's layout for WebAssembly components: a manifest that names one layer, the
//! component. Who published it signs the manifest with a key; the signature is a Sigstore bundle that refers to the
//! manifest. [`resolve()`] finds the version that is wanted, checks who signed it, and pulls it; a [`Lock`] keeps what was
//! found, and a [`Store`] its bytes.
//!
//! Everything that a registry sends has a limit ([`Limits`]), and is checked against a digest that is computed here. An
//! error names what was expected and what was found, and then nothing has been stored.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use baler_registry::{
//!     Artifact, Held, Interfaces, LOCK_FILE, Limits, Lock, Options, Publisher, Reference, SigningKey, Store, Transport,
//!     Unsigned, VERSION_ANNOTATION, Wanted, push_signature, resolve, sign,
//! };
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().display();
//! // Publish: a folder serves as a registry without a network. `oci://HOST/REPOSITORY` is one with.
//! let reference: Reference = format!("oci-layout:{folder}").parse()?;
//! let place = Transport::open(&reference.place, Options::default())?;
//! let wasm = b"\0asm\x0d\0\x01\0".to_vec();
//! let version = BTreeMap::from([(VERSION_ANNOTATION.to_owned(), "0.1.0".to_owned())]);
//! let artifact = Artifact::new(wasm.clone(), &Interfaces::default(), version, &Limits::default())?;
//! artifact.push(&place, "0.1.0", false).await?;
//! let key = SigningKey::generate()?;
//! push_signature(&place, artifact.manifest(), &sign(&key, &[artifact.manifest().digest()])?).await?;
//!
//! // Use.
//! let wanted = Wanted {
//!     name: "keep-newest".into(),
//!     source: reference.place,
//!     requirement: "^0.1".parse()?,
//!     publisher: Some(Publisher { name: "acme".into(), keys: vec![key.public_key().clone()] }),
//! };
//! let pulled = resolve(&place, &wanted, Unsigned::Refuse, Held::ToBeLocked).await?;
//! assert_eq!(pulled.wasm, wasm);
//! assert_eq!(pulled.signed.as_ref().map(|signed| signed.publisher.as_str()), Some("acme"));
//!
//! // Keep what was found, and use it without the registry.
//! # let own = tempfile::tempdir()?;
//! # let own = own.path();
//! let mut lock = Lock::default();
//! lock.insert(pulled.entry(&wanted, "baler:compaction@0.1.0".into(), vec![]));
//! lock.write(&own.join(LOCK_FILE))?;
//! let store = Store::open(&own.join("store"))?;
//! store.keep(&pulled)?;
//! let stored = store.load(lock.entry("keep-newest")?, &wanted, Unsigned::Refuse, &Limits::default())?;
//! assert_eq!(stored, Some(wasm));
//! # Ok(()) }
//! ```

mod reference;
mod digest;
mod limits;
mod file;
mod oci;
mod content;
mod transport;
mod registry;
mod challenge;
mod credentials;
mod layout;
mod artifact;
mod key;
mod pem;
mod signature;
mod referrers;
mod wanted;
mod resolve;
mod lock;
mod store;
mod error;
mod shown;
#[cfg(feature = "project")]
pub mod project;

pub use artifact::{Artifact, Contents, Interfaces, VERSION_ANNOTATION};
pub use credentials::Credentials;
pub use digest::{Digest, DigestError};
pub use error::RegistryError;
pub use key::{KeyError, PublicKey, SigningKey};
pub use limits::Limits;
pub use lock::{Entry, LOCK_FILE, Lock, LockError};
pub use oci::{Descriptor, Manifest};
pub use reference::{At, Place, Reference, ReferenceError};
pub use referrers::push_signature;
pub use resolve::{Held, Pulled, ResolveError, Signed, check_signature, resolve, versions};
/// Versions and requirements, as [`Requirement`] and [`Entry`] have them.
pub use semver;
pub use signature::{BUNDLE, SignatureError, sign, verify};
pub use store::{Store, StoreError};
pub use transport::{Options, Transport};
pub use wanted::{Publisher, Requirement, RequirementError, Unsigned, Wanted};
