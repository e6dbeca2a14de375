use baler_registry::{
    At, BUNDLE, Digest, RegistryError, SigningKey, Unsigned, push_signature, sign,
};
use serde_json::{Value, json};

use crate::server::Server;
use crate::support::{
    Project, WASM, artifact, limits, open, place_of, publish, published, publisher, said, wanted,
};

#[tokio::test]
async fn a_signed_strategy_is_pulled_stored_and_locked() {
    for lists_referrers in [true, false] {
        let (server, key) = (Server::start().await, SigningKey::generate().unwrap());
        server.set(|held| held.lists_referrers = lists_referrers);
        publish(&open(&server), WASM, "0.1.0", &key).await;
        let project = Project::new();
        let wanted = wanted(place_of(&server), &key);
        let pulled = project
            .pull(&open(&server), &wanted, Unsigned::Refuse)
            .await
            .unwrap();
        assert_eq!(pulled.wasm, WASM);
        let lock = project.lock().unwrap();
        let entry = lock.entry("keep-newest").unwrap();
        assert_eq!(entry.version, Some("0.1.0".parse().unwrap()));
        assert_eq!(
            (entry.digest, entry.size),
            (Digest::of(WASM), WASM.len() as u64)
        );
        assert_eq!(entry.manifest, artifact(WASM).manifest().digest());
        assert_eq!(entry.key, Some(key.public_key().id()));
        // Without a network.
        drop(server);
        let stored = project
            .store()
            .load(entry, &wanted, Unsigned::Refuse, &limits());
        assert_eq!(stored.unwrap().unwrap(), WASM);
    }
}

#[tokio::test]
async fn the_tagged_list_keeps_each_signature_once() {
    let (server, key, other) = (
        Server::start().await,
        SigningKey::generate().unwrap(),
        SigningKey::generate().unwrap(),
    );
    server.set(|held| held.lists_referrers = false);
    let to = open(&server);
    let artifact = artifact(WASM);
    artifact.push(&to, "0.1.0", false).await.unwrap();
    let subject = artifact.manifest().digest();
    let first = sign(&other, &[subject]).unwrap();
    for bundle in [&first, &first, &sign(&key, &[subject]).unwrap()] {
        push_signature(&to, artifact.manifest(), bundle)
            .await
            .unwrap();
    }
    {
        let held = server.held.lock().unwrap();
        let (media_type, list) = &held.manifests[&format!("sha256-{}", subject.hex())];
        assert_eq!(media_type, "application/vnd.oci.image.index.v1+json");
        let list: Value = serde_json::from_slice(list).unwrap();
        let entries = list["manifests"].as_array().unwrap();
        assert_eq!(entries.len(), 2);
        for entry in entries {
            assert_eq!(entry["artifactType"], BUNDLE);
            assert!(
                held.manifests
                    .contains_key(entry["digest"].as_str().unwrap())
            );
        }
    }
    // Neither the signature of somebody else nor another artifact that refers to it does harm.
    server.set(|held| {
        held.lists_referrers = true;
        let other =
            json!({"artifactType": "application/spdx+json", "subject": {"digest": subject}});
        let other = other.to_string().into_bytes();
        held.manifests
            .insert(Digest::of(&other).to_string(), (String::new(), other));
    });
    let signed = baler_registry::check_signature(&to, artifact.manifest(), &publisher(&key)).await;
    assert_eq!(signed.unwrap().key, key.public_key().id());
}

#[tokio::test]
async fn a_tag_is_moved_only_on_demand() {
    let (server, _) = published().await;
    let to = open(&server);
    artifact(WASM).push(&to, "0.1.0", false).await.unwrap();
    let other = artifact(b"other");
    let error = other.push(&to, "0.1.0", false).await.unwrap_err();
    for digest in [&other, &artifact(WASM)].map(|artifact| artifact.manifest().digest()) {
        assert!(said(&error).contains(&digest.to_string()), "{error}");
    }
    assert!(matches!(error, RegistryError::TagTaken { .. }));
    let tag = At::Tag("0.1.0".into());
    let tagged = || to.manifest(&tag);
    assert_eq!(&tagged().await.unwrap(), artifact(WASM).manifest());
    other.push(&to, "0.1.0", true).await.unwrap();
    assert_eq!(&tagged().await.unwrap(), other.manifest());
}

#[tokio::test]
async fn content_that_is_there_is_not_sent_again() {
    let (server, _) = published().await;
    server.set(|held| held.requests.clear());
    artifact(WASM)
        .push(&open(&server), "0.1.1", false)
        .await
        .unwrap();
    let held = server.held.lock().unwrap();
    let methods: Vec<&str> = held
        .requests
        .iter()
        .map(|(method, ..)| method.as_str())
        .collect();
    assert_eq!(methods, ["HEAD", "GET", "HEAD", "PUT"]);
}

#[tokio::test]
async fn tags_come_in_pages() {
    let (server, key) = published().await;
    for version in ["0.1.1", "0.1.2", "0.1.10", "0.2.0", "latest"] {
        publish(&open(&server), version.as_bytes(), version, &key).await;
    }
    server.set(|held| held.page = 2);
    let wanted = wanted(place_of(&server), &key);
    let pulled = Project::new()
        .pull(&open(&server), &wanted, Unsigned::Refuse)
        .await
        .unwrap();
    assert_eq!(pulled.wasm, b"0.1.10");
}
