use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use baler_registry::{Digest, Publisher, check_signature, project, verify};
use clap::Args;

use super::sign::bundle_of;
use crate::exit::{Exit, Failure};
use crate::figures::cleaned;
use crate::output;
use crate::registry::{self, RegistryArguments, refused};
use crate::sources;
use crate::whole_file::WholeFile;

/// Check who signed a strategy
///
/// Fetches the strategy and its signatures, computes its digests, and checks that one of the keys signed them. The key comes
/// from you, never from the registry.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct VerifyCommand {
    /// `oci://HOST/REPOSITORY` or `oci-layout:FOLDER` with `:TAG` or `@sha256:…` behind it, or a .wasm file with its
    /// .sigstore.json
    #[arg(value_name = "STRATEGY")]
    strategy: String,

    /// Public key: a file in PEM, or base64; may be given several times, one of them must have signed
    #[arg(long, value_name = "KEY", required = true)]
    key: Vec<String>,

    /// Also write the strategy of a registry to this file
    #[arg(short, long, value_name = "FILE.wasm")]
    output: Option<PathBuf>,

    #[command(flatten)]
    registry: RegistryArguments,
}

const AFTER: &str = "\
Examples:
  baler verify oci://registry.example/acme/keep-newest:0.1.0 --key acme.key.pub
  baler verify keep-newest.wasm --key acme.key.pub

Exit codes: 0 signed by the key; 1 baler failed; 2 invalid usage; 5 not signed by it, or it
cannot be fetched";

impl VerifyCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let keys = self.key.iter().map(|key| registry::public_key(key));
        let publisher = Publisher {
            name: "--key".to_owned(),
            keys: keys.collect::<Result<_, _>>()?,
        };
        if !registry::is_reference(&self.strategy) {
            return self.verify_file(&publisher);
        }
        if self
            .output
            .as_deref()
            .is_some_and(|file| file.as_os_str() == "-")
        {
            return Err(Failure::wrong_use(anyhow!(
                "`--output` takes a file: a component cannot be printed"
            )));
        }
        let output = self.output.as_deref().map(WholeFile::create).transpose()?;
        let (place, manifest, contents) = registry::found(&self.strategy, &self.registry).await?;
        let signed = check_signature(&place, &manifest, &publisher).await;
        let signed = signed.map_err(refused)?;
        let wasm = contents.pull(&place).await.map_err(refused)?;
        if let Some(file) = output {
            file.finish_binary(&wasm)?;
        }
        output::words(&format!(
            "signed with the key {}\n  manifest   {}\n  component  {}\n",
            signed.key,
            manifest.digest(),
            contents.digest()
        ))?;
        Ok(Exit::Done)
    }

    fn verify_file(&self, publisher: &Publisher) -> Result<Exit, Failure> {
        if self.output.is_some() {
            return Err(Failure::wrong_use(anyhow!(
                "`--output` writes what a registry has, and `{}` is a file; leave it out",
                cleaned(&self.strategy)
            )));
        }
        let file = Path::new(&self.strategy);
        let wasm = sources::read(file).map_err(Failure::wrong_use)?;
        let bundle = bundle_of(file);
        let text = project::read_key(&bundle);
        let text = text
            .with_context(|| {
                format!(
                    "cannot read the signature `{}`, which `baler sign` makes",
                    bundle.display()
                )
            })
            .map_err(refused)?;
        let digest = Digest::of(&wasm);
        let key = verify(text.as_bytes(), digest, &publisher.keys).map_err(refused)?;
        output::words(&format!(
            "signed with the key {}\n  component  {digest}\n",
            key.id()
        ))?;
        Ok(Exit::Done)
    }
}
