use std::fs;
use std::path::Path;

use baler_registry::{Digest, SigningKey, Transport, Unsigned};
use serde_json::{Value, json};

use crate::support::{
    Project, WASM, artifact, artifact_of, limits, options, place, publish, said, wanted,
};

fn open(folder: &Path) -> Transport {
    Transport::open(
        &place(&format!("oci-layout:{}", folder.display())),
        options(),
    )
    .unwrap()
}

#[tokio::test]
async fn a_layout_folder_serves_as_a_registry() {
    let (folder, key) = (
        tempfile::tempdir().unwrap(),
        SigningKey::generate().unwrap(),
    );
    // It is made by the first push.
    let folder = folder.path().join("layout");
    for version in ["0.1.0", "0.1.1", "0.2.0"] {
        publish(&open(&folder), version.as_bytes(), version, &key).await;
    }
    let from = open(&folder);
    assert_eq!(from.tags().await.unwrap(), ["0.1.0", "0.1.1", "0.2.0"]);
    let wanted = wanted(from.place(), &key);
    let project = Project::new();
    let pulled = project
        .pull(&from, &wanted, Unsigned::Refuse)
        .await
        .unwrap();
    assert_eq!(pulled.wasm, b"0.1.1");
    // The signature of another version is none of this one.
    artifact_of(b"0.1.5", "0.1.5")
        .push(&from, "0.1.5", false)
        .await
        .unwrap();
    let pulled = Project::new().pull(&from, &wanted, Unsigned::Refuse).await;
    let error = said(&pulled.unwrap_err());
    assert!(error.contains("found none at oci-layout:"), "{error}");
    // Publishing again adds nothing.
    let index = || fs::read(folder.join("index.json")).unwrap();
    let entries = || serde_json::from_slice::<Value>(&index()).unwrap();
    let before = entries()["manifests"].as_array().unwrap().len();
    artifact_of(b"0.1.1", "0.1.1")
        .push(&from, "0.1.1", false)
        .await
        .unwrap();
    assert_eq!(entries()["manifests"].as_array().unwrap().len(), before);
    assert_eq!(
        fs::read(folder.join("oci-layout")).unwrap(),
        br#"{"imageLayoutVersion":"1.0.0"}"#
    );
}

#[tokio::test]
async fn a_changed_layout_folder_is_refused() {
    let (folder, key) = (
        tempfile::tempdir().unwrap(),
        SigningKey::generate().unwrap(),
    );
    let folder = folder.path();
    publish(&open(folder), WASM, "0.1.0", &key).await;
    let wanted = wanted(open(folder).place(), &key);
    let refused = || async {
        let project = Project::new();
        let pulled = project.pull(&open(folder), &wanted, Unsigned::Refuse).await;
        let error = said(&pulled.unwrap_err());
        assert!(project.is_untouched());
        error
    };
    let blob = |digest: Digest| folder.join("blobs/sha256").join(digest.hex());
    let manifest = artifact(WASM).manifest().digest();
    for (digest, limit) in [
        (Digest::of(WASM), limits().component),
        (manifest, limits().manifest),
    ] {
        let good = fs::read(blob(digest)).unwrap();
        let mut bad = good.clone();
        *bad.last_mut().unwrap() ^= 1;
        fs::write(blob(digest), &bad).unwrap();
        let error = refused().await;
        for part in [digest, Digest::of(&bad)] {
            assert!(error.contains(&part.to_string()), "{error}");
        }
        fs::write(blob(digest), vec![0; limit + 1]).unwrap();
        let error = refused().await;
        assert!(error.contains(&format!("at most {limit} bytes")), "{error}");
        fs::remove_file(blob(digest)).unwrap();
        let error = refused().await;
        assert!(error.contains(&digest.to_string()), "{error}");
        fs::write(blob(digest), good).unwrap();
    }
    // A tag that means a file elsewhere.
    let elsewhere = json!({"schemaVersion": 2, "manifests": [{"digest": "sha256:../../key",
        "annotations": {"org.opencontainers.image.ref.name": "0.1.0"}}]});
    fs::write(folder.join("index.json"), elsewhere.to_string()).unwrap();
    let error = refused().await;
    assert!(error.contains("sha256:../../key"), "{error}");
    fs::remove_file(folder.join("index.json")).unwrap();
    let error = refused().await;
    assert!(error.contains("does not have `index.json`"), "{error}");
}
