//! What the commands for registries share: how a place is opened, what a component says of itself, and the files of a list.

mod component;
mod list;

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use baler_registry::{
    Contents, Manifest, Options, Place, PublicKey, Reference, RegistryError, SigningKey, Transport,
    project,
};
use clap::Args;

pub(crate) use component::Component;
pub(crate) use list::{List, change, hold};

use crate::exit::Failure;
use crate::figures::cleaned;

/// Options for registries.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RegistryArguments {
    /// Host, with its port if it has one, to which the registry may redirect for content; may be given several times. A
    /// redirect to any other host is refused
    #[arg(long, value_name = "HOST", help_heading = "Registry")]
    content_host: Vec<String>,

    /// Ask a registry on another machine without encryption. It then gets no password. One on this machine is always
    /// asked so
    #[arg(long, help_heading = "Registry")]
    plain_http: bool,
}

impl RegistryArguments {
    /// Opens a place. The path of a folder starts from `folder`.
    pub(crate) fn open(&self, place: &Place, folder: &Path) -> Result<Transport, Failure> {
        let options = Options::default()
            .with_plain_http(self.plain_http)
            .with_content_hosts(self.content_host.clone());
        project::open(place, folder, docker_folder().as_deref(), options).map_err(refused)
    }
}

/// What may be typed for a registry, in error messages and help.
pub(crate) const FORMS: &str = "`oci://HOST/REPOSITORY` or `oci-layout:FOLDER`";

/// Returns whether a text names a place, and not a file.
pub(crate) fn is_reference(text: &str) -> bool {
    text.starts_with("oci://") || text.starts_with("oci-layout:")
}

/// Reads a reference that was typed.
pub(crate) fn reference(text: &str) -> Result<Reference, Failure> {
    text.parse()
        .map_err(|error: baler_registry::ReferenceError| Failure::wrong_use(error))
}

/// A registry, or what it has, was refused; or this machine failed. Nothing was changed.
pub(crate) fn refused(error: impl Into<anyhow::Error>) -> Failure {
    let error = error.into();
    let is_ours = error.chain().any(|cause| {
        cause.is::<baler_files::FileError>()
            || cause.is::<baler_registry::StoreError>()
            || matches!(cause.downcast_ref(), Some(RegistryError::File(_)))
    });
    match is_ours {
        true => Failure::from(error),
        false => Failure::wrong_input(error),
    }
}

/// Finds the manifest of a strategy that was typed, at the place that has it.
pub(crate) async fn found(
    typed: &str,
    registry: &RegistryArguments,
) -> Result<(Transport, Manifest, Contents), Failure> {
    let reference = reference(typed)?;
    let at = reference.at().ok_or_else(|| {
        Failure::wrong_use(anyhow!(
            "`{}` says neither which tag nor which digest; add one, such as `:0.1.0`",
            cleaned(typed)
        ))
    })?;
    let place = registry.open(&reference.place, &working_folder()?)?;
    let manifest = place.manifest(&at).await.map_err(refused)?;
    let contents = Contents::read(&manifest, place.limits()).map_err(refused)?;
    Ok((place, manifest, contents))
}

/// Reads the public key that was typed: as base64, or as the name of a file.
pub(crate) fn public_key(typed: &str) -> Result<PublicKey, Failure> {
    let text = match Path::new(typed).exists() {
        true => read_key(Path::new(typed))?,
        false => typed.to_owned(),
    };
    let key = text.parse::<PublicKey>();
    key.with_context(|| format!("`--key {typed}` is no public key, and no file that holds one"))
        .map_err(Failure::wrong_use)
}

/// Reads the private key of a file.
pub(crate) fn signing_key(file: &Path) -> Result<SigningKey, Failure> {
    let text = read_key(file)?;
    let key = SigningKey::from_pem(&text);
    key.with_context(|| format!("`{}` holds no private key that can sign", file.display()))
        .map_err(Failure::wrong_use)
}

fn read_key(file: &Path) -> Result<String, Failure> {
    project::read_key(file)
        .with_context(|| format!("cannot read the key `{}`", file.display()))
        .map_err(Failure::wrong_use)
}

/// The folder of Docker's configuration, with passwords for registries.
fn docker_folder() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
    let named = variable("DOCKER_CONFIG").map(PathBuf::from);
    named.or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".docker")))
}

/// The folder in which the user is.
pub(crate) fn working_folder() -> Result<PathBuf, Failure> {
    env::current_dir()
        .context("the working folder is gone")
        .map_err(Failure::from)
}

/// Returns the state folder, which holds what is pulled.
pub(crate) fn state(typed: Option<&Path>) -> Result<PathBuf, Failure> {
    crate::settings::state_folder(typed).ok_or_else(|| {
        Failure::wrong_use(anyhow!(
            "no state folder is known, which would hold what is pulled; name one by --state"
        ))
    })
}
