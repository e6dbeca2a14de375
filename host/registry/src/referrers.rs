//! Signatures beside what they sign: artifacts that refer to a manifest.

use std::collections::BTreeMap;

use crate::error::RegistryError;
use crate::oci::{EMPTY, ImageManifest, MANIFEST, read_json, write_json};
use crate::signature::{BUNDLE, PREDICATE};
use crate::{At, Descriptor, Manifest, Transport};

/// Pushes a bundle as a signature of `subject`.
///
/// # Errors
/// It cannot be pushed.
pub async fn push_signature(
    to: &Transport,
    subject: &Manifest,
    bundle: &[u8],
) -> Result<(), RegistryError> {
    let annotation = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let referrer = write_json(&ImageManifest {
        schema_version: 2,
        media_type: MANIFEST.to_owned(),
        artifact_type: Some(BUNDLE.to_owned()),
        config: Descriptor::of(EMPTY.0, EMPTY.1),
        layers: vec![Descriptor::of(BUNDLE, bundle)],
        subject: Some(subject.descriptor()),
        annotations: BTreeMap::from([
            annotation("dev.sigstore.bundle.content", "dsse-envelope"),
            annotation("dev.sigstore.bundle.predicateType", PREDICATE),
        ]),
    })?;
    to.push_blob(bundle).await?;
    to.push_blob(EMPTY.1).await?;
    to.push_manifest(&Manifest::new(referrer), None).await
}

/// Pulls the bundles that refer to `subject`. None of them has been verified: whoever may push can add some.
pub(crate) async fn pull_signatures(
    from: &Transport,
    subject: &Manifest,
) -> Result<Vec<Vec<u8>>, RegistryError> {
    let limits = *from.limits();
    let list = from.referrers(subject.digest()).await?;
    let entries: Vec<_> = list.having("artifactType", BUNDLE).collect();
    if entries.len() > limits.referrers {
        return Err(RegistryError::TooMany {
            what: format!("signatures of {}", subject.digest()),
            limit: limits.referrers,
        });
    }
    let mut bundles = Vec::with_capacity(entries.len());
    for entry in entries {
        let entry = write_json(entry)?;
        let entry: Descriptor = read_json(&entry, || "an entry of referrers".to_owned())?;
        let image = from.manifest(&At::Digest(entry.digest)).await?.image()?;
        for layer in image.layers.iter().take(1) {
            bundles.push(from.blob(layer, limits.bundle).await?);
        }
    }
    Ok(bundles)
}
