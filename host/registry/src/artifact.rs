//! A strategy as an OCI artifact, in the layout of the CNCF for WebAssembly components.

use std::collections::BTreeMap;

use serde_json::json;

use crate::content::check_limit;
use crate::error::RegistryError;
use crate::oci::{ImageManifest, MANIFEST, write_json};
use crate::{At, Descriptor, Digest, Limits, Manifest, Transport};

const CONFIG: &str = "application/vnd.wasm.config.v0+json";
const LAYER: &str = "application/wasm";
/// Readers require a time. With a real one, the same component would get another digest at each push.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// The annotation that says the version of an artifact. What is signed then says it too.
pub const VERSION_ANNOTATION: &str = "org.opencontainers.image.version";

/// A strategy, made ready for a registry.
#[derive(Debug, Clone)]
pub struct Artifact {
    wasm: Vec<u8>,
    config: Vec<u8>,
    manifest: Manifest,
}

/// What a component imports and exports, as it is claimed to those who only see the config.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interfaces {
    /// Names of imported interfaces.
    pub imports: Vec<String>,
    /// Names of exported interfaces.
    pub exports: Vec<String>,
}

impl Artifact {
    /// Makes an artifact of a component. `annotations` are those of the manifest, such as
    /// [`VERSION_ANNOTATION`]. The same component, interfaces and annotations give the same digest.
    ///
    /// # Errors
    /// The component is too large.
    pub fn new(
        wasm: Vec<u8>,
        interfaces: &Interfaces,
        annotations: BTreeMap<String, String>,
        limits: &Limits,
    ) -> Result<Self, RegistryError> {
        let layer = Descriptor::of(LAYER, &wasm);
        check_limit(&layer, limits.component)?;
        let config = write_json(&json!({
            "created": CREATED,
            "architecture": "wasm",
            "os": "wasip2",
            "layerDigests": [layer.digest],
            "component": {"imports": interfaces.imports, "exports": interfaces.exports},
        }))?;
        let manifest = write_json(&ImageManifest {
            schema_version: 2,
            media_type: MANIFEST.to_owned(),
            artifact_type: None,
            config: Descriptor::of(CONFIG, &config),
            layers: vec![layer],
            subject: None,
            annotations,
        })?;
        Ok(Self {
            wasm,
            config,
            manifest: Manifest::new(manifest),
        })
    }

    /// Returns the manifest: what is signed.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Pushes the artifact under a tag. A tag of another artifact is moved only if `replace` says so.
    ///
    /// # Errors
    /// It cannot be pushed, or the tag is taken ([`RegistryError::TagTaken`]).
    pub async fn push(
        &self,
        to: &Transport,
        tag: &str,
        replace: bool,
    ) -> Result<(), RegistryError> {
        // The first push to a repository makes it. Before that, registries refuse whoever asks for it only to read, so
        // this comes first: it gets a token that allows writing.
        to.push_blob(&self.config).await?;
        let expected = self.manifest.digest();
        let held = to.find(&At::Tag(tag.to_owned())).await?;
        let found = held.map(|held| held.digest());
        if let Some(found) = found.filter(|found| *found != expected && !replace) {
            return Err(RegistryError::TagTaken {
                place: to.place().to_string(),
                tag: tag.to_owned(),
                expected,
                found,
            });
        }
        to.push_blob(&self.wasm).await?;
        to.push_manifest(&self.manifest, Some(tag)).await
    }
}

/// What the manifest of a strategy says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contents {
    /// The component.
    pub layer: Descriptor,
    /// Annotations. They are claims of whoever pushed it.
    pub annotations: BTreeMap<String, String>,
}

impl Contents {
    /// Reads the manifest of a strategy.
    ///
    /// # Errors
    /// It is that of something else, or of a component that is too large.
    pub fn read(manifest: &Manifest, limits: &Limits) -> Result<Self, RegistryError> {
        let image = manifest.image()?;
        let wrong = |expected: &str, found: String| {
            let what = format!("the manifest {}", manifest.digest());
            let expected = format!("a WebAssembly component with {expected}");
            Err(RegistryError::invalid(what, expected, found))
        };
        let of_type = |media_type: &str| format!("one of `{media_type}`");
        if image.config.media_type != CONFIG {
            let found = of_type(&image.config.media_type);
            return wrong(&format!("a config of `{CONFIG}`"), found);
        }
        let layer = match <[Descriptor; 1]>::try_from(image.layers) {
            Ok([layer]) => layer,
            Err(layers) => {
                return wrong("exactly one layer", format!("{} layers", layers.len()));
            }
        };
        if layer.media_type != LAYER {
            let found = of_type(&layer.media_type);
            return wrong(&format!("a layer of `{LAYER}`"), found);
        }
        check_limit(&layer, limits.component)?;
        Ok(Self {
            layer,
            annotations: image.annotations,
        })
    }

    /// Pulls the component.
    ///
    /// # Errors
    /// It cannot be pulled, or is not what the manifest says.
    pub async fn pull(&self, from: &Transport) -> Result<Vec<u8>, RegistryError> {
        from.blob(&self.layer, from.limits().component).await
    }

    /// Returns the hash of the component.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.layer.digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(wasm: &[u8]) -> Artifact {
        let interfaces = Interfaces {
            imports: vec!["baler:compaction/history@0.1.0".into()],
            exports: vec!["baler:compaction/strategy@0.1.0".into()],
        };
        let annotations = BTreeMap::from([(VERSION_ANNOTATION.into(), "0.1.0".into())]);
        Artifact::new(wasm.into(), &interfaces, annotations, &Limits::default()).unwrap()
    }

    #[test]
    fn an_artifact_has_the_layout_of_the_cncf_and_always_the_same_digest() {
        let made = artifact(b"\0asm");
        let hash = Digest::of(b"\0asm");
        let config = format!(
            r#"{{"architecture":"wasm","component":{{"exports":["baler:compaction/strategy@0.1.0"],"imports":["baler:compaction/history@0.1.0"]}},"created":"1970-01-01T00:00:00Z","layerDigests":["{hash}"],"os":"wasip2"}}"#
        );
        assert_eq!(String::from_utf8_lossy(&made.config), config);
        let config = Digest::of(config.as_bytes());
        let expected = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": {"mediaType": "application/vnd.wasm.config.v0+json", "digest": config, "size": made.config.len()},
            "layers": [{"mediaType": "application/wasm", "digest": hash, "size": 4}],
            "annotations": {"org.opencontainers.image.version": "0.1.0"},
        });
        let manifest: serde_json::Value = serde_json::from_slice(made.manifest.bytes()).unwrap();
        assert_eq!(manifest, expected);
        assert_eq!(made.manifest, artifact(b"\0asm").manifest);
        assert_ne!(made.manifest, artifact(b"\0asn").manifest);
    }

    #[test]
    fn other_manifests_are_refused_with_what_they_are() {
        let good: serde_json::Value =
            serde_json::from_slice(artifact(b"\0asm").manifest.bytes()).unwrap();
        let read = |manifest: &serde_json::Value, limits: &Limits| {
            let manifest = Manifest::new(manifest.to_string().into_bytes());
            Contents::read(&manifest, limits)
        };
        let limits = Limits::default();
        assert_eq!(read(&good, &limits).unwrap().layer.size, 4);
        let (image, layer) = (
            "application/vnd.oci.image.config.v1+json",
            &good["layers"][0],
        );
        for (place, value, expected, found) in [
            ("/mediaType", json!("a/b"), MANIFEST, "a/b"),
            ("/schemaVersion", json!(1), "version 2", "version 1"),
            ("/config/mediaType", json!(image), CONFIG, image),
            ("/layers", json!([]), "one layer", "0 layers"),
            ("/layers", json!([layer, layer]), "one layer", "2 layers"),
            ("/layers/0/mediaType", json!("a/b"), LAYER, "a/b"),
            (
                "/layers/0/digest",
                json!("sha256:../x"),
                "64",
                "sha256:../x",
            ),
            (
                "/layers/0/size",
                json!(67_108_865_u64),
                "67108864",
                "67108865",
            ),
            ("/layers/0/size", json!(-1), "JSON of its form", "-1"),
        ] {
            let mut other = good.clone();
            *other.pointer_mut(place).unwrap() = value;
            let error = read(&other, &limits).unwrap_err().to_string();
            assert!(error.contains(expected), "{place}: {error}");
            assert!(error.contains(found), "{place}: {error}");
        }
        let error = read(&json!([]), &limits).unwrap_err().to_string();
        assert!(error.contains("JSON of its form"), "{error}");
    }
}
