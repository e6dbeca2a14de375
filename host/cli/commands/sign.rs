use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use baler_registry::{Digest, SigningKey, push_signature, sign};
use clap::Args;

use crate::exit::{Exit, Failure};
use crate::figures::cleaned;
use crate::output;
use crate::registry::{self, RegistryArguments, refused};
use crate::sources;
use crate::whole_file::{WholeFile, commit_all};

/// Sign a strategy, or make a key for that
///
/// A signature is a Sigstore bundle by an ECDSA key (P-256), as `cosign sign --key` writes it. That of a strategy in a
/// registry is pushed beside it; that of a file is written to FILE.sigstore.json.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct SignCommand {
    /// `oci://HOST/REPOSITORY` or `oci-layout:FOLDER` with `:TAG` or `@sha256:…` behind it, or a .wasm file
    #[arg(value_name = "STRATEGY", required_unless_present = "new_key")]
    strategy: Option<String>,

    /// Private key: a file in PEM
    #[arg(long, value_name = "FILE", required_unless_present = "new_key")]
    key: Option<PathBuf>,

    /// Make a key: the private one in FILE, which only you can read, and the public one in FILE.pub
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key", "strategy"])]
    new_key: Option<PathBuf>,

    #[command(flatten)]
    registry: RegistryArguments,
}

const AFTER: &str = "\
Examples:
  baler sign --new-key acme.key
  baler sign oci://registry.example/acme/keep-newest:0.1.0 --key acme.key
  baler sign keep-newest.wasm --key acme.key

Exit codes: 0 signed, or made; 1 baler failed; 2 invalid usage; 5 refused: the strategy does
not exist, or the registry refused the signature";

impl SignCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        if let Some(file) = &self.new_key {
            return new_key(file);
        }
        let (Some(strategy), Some(key)) = (&self.strategy, &self.key) else {
            return Err(Failure::wrong_use(anyhow!("give a strategy and `--key`")));
        };
        let key = registry::signing_key(key)?;
        let id = key.public_key().id();
        if !registry::is_reference(strategy) {
            let file = Path::new(strategy);
            let wasm = sources::read(file).map_err(Failure::wrong_use)?;
            let digest = Digest::of(&wasm);
            let bundle = sign(&key, &[digest]).map_err(anyhow::Error::from)?;
            let target = bundle_of(file);
            if target.is_symlink() {
                return Err(Failure::wrong_use(anyhow!(
                    "`{}` is a link, and would lead the signature elsewhere; remove it",
                    target.display()
                )));
            }
            let text = String::from_utf8(bundle).map_err(anyhow::Error::from)?;
            WholeFile::create(&target)?.finish(&text)?;
            output::words(&format!(
                "signed {digest} with the key {id}, in `{}`\n",
                cleaned(&target.to_string_lossy())
            ))?;
            return Ok(Exit::Done);
        }
        let (place, manifest, contents) = registry::found(strategy, &self.registry).await?;
        let subjects = [manifest.digest(), contents.digest()];
        let bundle = sign(&key, &subjects).map_err(anyhow::Error::from)?;
        push_signature(&place, &manifest, &bundle)
            .await
            .map_err(refused)?;
        output::words(&format!("signed {} with the key {id}\n", manifest.digest()))?;
        Ok(Exit::Done)
    }
}

/// The file of the signature of a file.
pub(super) fn bundle_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".sigstore.json");
    PathBuf::from(name)
}

fn new_key(file: &Path) -> Result<Exit, Failure> {
    let mut name = file.as_os_str().to_owned();
    name.push(".pub");
    let public = PathBuf::from(name);
    let is_there = |path: &&Path| path.symlink_metadata().is_ok();
    if let Some(there) = [file, public.as_path()].into_iter().find(is_there) {
        return Err(Failure::wrong_use(anyhow!(
            "`{}` exists, and a key that is replaced is lost; name another file",
            there.display()
        )));
    }
    let key = SigningKey::generate().map_err(anyhow::Error::from)?;
    let target = WholeFile::create(&public)?.stage(&key.public_key().to_pem())?;
    key.save(file)
        .with_context(|| format!("cannot write the key `{}`", file.display()))?;
    commit_all(vec![target])?;
    output::words(&format!(
        "private key  `{}`: keep it secret\npublic key   `{}`: give it to users\n  {}\n",
        cleaned(&file.to_string_lossy()),
        cleaned(&public.to_string_lossy()),
        key.public_key().to_base64()
    ))?;
    Ok(Exit::Done)
}
