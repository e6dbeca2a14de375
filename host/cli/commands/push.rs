use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::anyhow;
use baler_registry::{
    Artifact, Digest, Limits, VERSION_ANNOTATION, push_signature, semver::Version, sign,
};
use clap::Args;

use crate::arguments::SandboxArguments;
use crate::exit::{Exit, Failure};
use crate::figures::{self, cleaned};
use crate::output;
use crate::registry::{self, Component, RegistryArguments, refused, working_folder};

/// Publish a strategy in an OCI registry
///
/// The component is inspected and asked what it is. The tag is the version that it declares, unless the reference has one.
/// With --key, what was pushed is signed as well. Passwords come from Docker's configuration (`docker login`).
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct PushCommand {
    /// The component
    #[arg(value_name = "FILE.wasm")]
    file: PathBuf,

    /// Where to: `oci://HOST/REPOSITORY` or `oci-layout:FOLDER`, with `:TAG` behind it or not
    #[arg(value_name = "REFERENCE")]
    reference: String,

    /// Private key that signs it, a file in PEM (`baler sign --new-key` makes one)
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    /// Name of the license, such as MIT
    #[arg(long, value_name = "SPDX")]
    license: Option<String>,

    /// URL of its source
    #[arg(long, value_name = "URL")]
    source: Option<String>,

    /// Move the tag if it means another artifact already. Whoever locked that gets an error
    #[arg(long)]
    replace: bool,

    #[command(flatten)]
    registry: RegistryArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

const AFTER: &str = "\
Examples:
  baler push keep-newest.wasm oci://registry.example/acme/keep-newest --key acme.key
  baler push keep-newest.wasm oci-layout:shelf

Exit codes: 0 pushed; 1 baler failed; 2 invalid usage; 5 refused: no strategy, the tag is taken,
or the registry refused it";

impl PushCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let reference = registry::reference(&self.reference)?;
        if reference.digest.is_some() {
            return Err(Failure::wrong_use(anyhow!(
                "`{}` has a digest, and that of what is pushed is not known before; leave it out",
                cleaned(&self.reference)
            )));
        }
        let key = self.key.as_deref().map(registry::signing_key).transpose()?;
        let component = Component::read(&self.file, &self.sandbox).await?;
        let version = component.version().map_err(refused)?;
        let tag = reference.tag.unwrap_or_else(|| version.to_string());
        if let Some(other) = Version::parse(&tag).ok().filter(|tag| *tag != version) {
            return Err(refused(anyhow!(
                "expected a tag of the version that the strategy declares, {version}, found `{other}`; leave the tag out, or build it with that version"
            )));
        }
        const ANNOTATION: &str = "org.opencontainers.image.";
        let own = [
            ("title", Some(component.said.name.clone())),
            ("description", Some(component.said.description.clone())),
            ("licenses", self.license.clone()),
            ("source", self.source.clone()),
        ];
        let own = own.into_iter();
        let own =
            own.filter_map(|(name, value)| Some((format!("{ANNOTATION}{name}"), cleaned(&value?))));
        let mut annotations: BTreeMap<String, String> = own.collect();
        annotations.insert(VERSION_ANNOTATION.to_owned(), version.to_string());
        let bytes = component.wasm.len() as u64;
        let layer = Digest::of(&component.wasm);
        let artifact = Artifact::new(
            component.wasm,
            &component.interfaces,
            annotations,
            &Limits::default(),
        );
        let artifact = artifact.map_err(refused)?;
        let to = self.registry.open(&reference.place, &working_folder()?)?;
        artifact
            .push(&to, &tag, self.replace)
            .await
            .map_err(refused)?;
        let manifest = artifact.manifest();
        let signed = match &key {
            Some(key) => {
                let bundle = sign(key, &[manifest.digest(), layer]).map_err(anyhow::Error::from)?;
                push_signature(&to, manifest, &bundle)
                    .await
                    .map_err(refused)?;
                format!("signed with the key {}", key.public_key().id())
            }
            None => "not signed (`--key`, or `baler sign`)".to_owned(),
        };
        output::words(&format!(
            "pushed {}:{tag}\n  {}, {signed}\n  manifest   {}\n  component  {layer}\n",
            reference.place,
            figures::bytes(bytes),
            manifest.digest(),
        ))?;
        Ok(Exit::Done)
    }
}
