use std::collections::BTreeMap;

use baler_registry::{
    Artifact, Digest, Entry, Held, Interfaces, LOCK_FILE, LockError, Requirement, ResolveError,
    SigningKey, Unsigned, VERSION_ANNOTATION, push_signature, resolve, sign,
};

use crate::server::Server;
use crate::support::{
    Project, WASM, artifact, artifact_of, limits, open, place_of, publish, published, publisher,
    said, wanted,
};

#[tokio::test]
async fn a_changed_tag_is_an_error_that_names_both_until_it_is_locked_anew() {
    let (server, key) = published().await;
    let (project, wanted) = (Project::new(), wanted(place_of(&server), &key));
    let pull = async || {
        let from = open(&server);
        project.pull(&from, &wanted, Unsigned::Refuse).await
    };
    pull().await.unwrap();
    let before = project.lock();
    publish(&open(&server), b"changed", "0.1.0", &key).await;
    let error = pull().await.unwrap_err();
    for wasm in [WASM, b"changed"] {
        let digest = artifact(wasm).manifest().digest().to_string();
        assert!(said(&error).contains(&digest), "{error}");
    }
    assert!(
        matches!(&error, ResolveError::TagMoved { tag, .. } if &**tag == "0.1.0"),
        "{error}"
    );
    assert_eq!(project.lock(), before);
    assert!(
        project
            .store()
            .get(Digest::of(b"changed"), 1 << 20)
            .unwrap()
            .is_none()
    );
    // What is locked is pulled even if its tag is gone.
    server.set(|held| {
        held.manifests.remove("0.1.0");
    });
    assert_eq!(pull().await.unwrap().wasm, WASM);
    publish(&open(&server), b"changed", "0.1.0", &key).await;
    let anew = resolve(&open(&server), &wanted, Unsigned::Refuse, Held::ToBeLocked).await;
    assert_eq!(anew.unwrap().wasm, b"changed");
}

#[tokio::test]
async fn a_newer_version_does_not_move_a_lock() {
    let (server, key) = published().await;
    let (project, wanted) = (Project::new(), wanted(place_of(&server), &key));
    project
        .pull(&open(&server), &wanted, Unsigned::Refuse)
        .await
        .unwrap();
    publish(&open(&server), b"newer", "0.1.1", &key).await;
    let pulled = project
        .pull(&open(&server), &wanted, Unsigned::Refuse)
        .await
        .unwrap();
    assert_eq!(pulled.wasm, WASM);
    let anew = resolve(&open(&server), &wanted, Unsigned::Refuse, Held::ToBeLocked).await;
    assert_eq!(anew.unwrap().version, Some("0.1.1".parse().unwrap()));
}

#[tokio::test]
async fn a_lock_that_names_another_component_contradicts_itself() {
    let (server, key) = published().await;
    let (project, wanted) = (Project::new(), wanted(place_of(&server), &key));
    project
        .pull(&open(&server), &wanted, Unsigned::Refuse)
        .await
        .unwrap();
    let mut lock = project.lock().unwrap();
    let mut entry = lock.entry("keep-newest").unwrap().clone();
    entry.digest = Digest::of(b"other");
    lock.insert(entry);
    lock.write(&project.folder().join(LOCK_FILE)).unwrap();
    let error = project
        .pull(&open(&server), &wanted, Unsigned::Refuse)
        .await
        .unwrap_err();
    for wasm in [WASM, b"other"] {
        assert!(
            said(&error).contains(&Digest::of(wasm).to_string()),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_wrong_key_is_refused_with_both_keys() {
    let (server, key) = published().await;
    let other = SigningKey::generate().unwrap();
    for unsigned in [Unsigned::Refuse, Unsigned::Locked] {
        let project = Project::new();
        let wanted = wanted(place_of(&server), &other);
        let error = project
            .pull(&open(&server), &wanted, unsigned)
            .await
            .unwrap_err();
        for key in [&key, &other] {
            assert!(
                said(&error).contains(&key.public_key().id().to_string()),
                "{}",
                said(&error)
            );
        }
        assert!(project.is_untouched());
    }
    // While a key is replaced, the publisher has two.
    let mut wanted = wanted(place_of(&server), &other);
    wanted
        .publisher
        .as_mut()
        .unwrap()
        .keys
        .extend(publisher(&key).keys);
    let pulled = Project::new()
        .pull(&open(&server), &wanted, Unsigned::Refuse)
        .await
        .unwrap();
    assert_eq!(pulled.signed.unwrap().key, key.public_key().id());
}

#[tokio::test]
async fn what_nobody_signed_is_used_as_the_policy_says() {
    let (server, key) = (
        crate::server::Server::start().await,
        SigningKey::generate().unwrap(),
    );
    artifact(WASM)
        .push(&open(&server), "0.1.0", false)
        .await
        .unwrap();
    let signed = wanted(place_of(&server), &key);
    let mut unsigned = signed.clone();
    unsigned.publisher = None;
    let from = open(&server);
    for (wanted, policy, refusal) in [
        (&signed, Unsigned::Locked, Some("found none at")),
        (&unsigned, Unsigned::Refuse, Some("`unsigned = \"refuse\"`")),
        (&unsigned, Unsigned::Locked, None),
    ] {
        let resolved = resolve(&from, wanted, policy, Held::ToBeLocked).await;
        match (resolved, refusal) {
            (Ok(pulled), None) => assert_eq!((pulled.wasm.as_slice(), pulled.signed), (WASM, None)),
            (Err(error), Some(part)) => assert!(said(&error).contains(part), "{error}"),
            (resolved, _) => panic!("{policy:?}: {resolved:?}"),
        }
    }
    let project = Project::new();
    project
        .pull(&from, &unsigned, Unsigned::Locked)
        .await
        .unwrap();
    project
        .pull(&from, &unsigned, Unsigned::Locked)
        .await
        .unwrap();
    // Signing is demanded later.
    let error = project
        .pull(&from, &signed, Unsigned::Locked)
        .await
        .unwrap_err();
    assert!(said(&error).contains("found no signature"), "{error}");
}

#[tokio::test]
async fn the_newest_version_that_fits_is_chosen() {
    let (server, key) = published().await;
    for version in [
        "0.1.9",
        "0.1.10",
        "0.1.11-rc.1",
        "0.2.0",
        "v0.1.99",
        "latest",
    ] {
        publish(&open(&server), version.as_bytes(), version, &key).await;
    }
    let from = open(&server);
    let mut wanted = wanted(place_of(&server), &key);
    for (requirement, version) in [
        ("^0.1", "0.1.10"),
        ("=0.1.9", "0.1.9"),
        ("*", "0.2.0"),
        ("=0.1.11-rc.1", "0.1.11-rc.1"),
    ] {
        wanted.requirement = requirement.parse().unwrap();
        let pulled = resolve(&from, &wanted, Unsigned::Refuse, Held::ToBeLocked)
            .await
            .unwrap();
        assert_eq!(
            pulled.version,
            Some(version.parse().unwrap()),
            "{requirement}"
        );
        assert_eq!(pulled.wasm, version.as_bytes());
    }
    wanted.requirement = "^0.3".parse().unwrap();
    let error = resolve(&from, &wanted, Unsigned::Refuse, Held::ToBeLocked)
        .await
        .unwrap_err();
    let error = said(&error);
    assert!(error.contains("`^0.3`"), "{error}");
    assert!(
        error.contains("found 0.2.0, 0.1.11-rc.1, 0.1.10, 0.1.9, 0.1.0"),
        "{error}"
    );
    // By digest, whatever the tags say.
    let manifest = artifact_of(b"0.1.9", "0.1.9").manifest().digest();
    wanted.requirement = Requirement::Digest(manifest);
    let pulled = resolve(&from, &wanted, Unsigned::Refuse, Held::ToBeLocked)
        .await
        .unwrap();
    assert_eq!(
        (pulled.version, pulled.wasm.as_slice()),
        (None, &b"0.1.9"[..])
    );
}

#[tokio::test]
async fn a_changed_lock_passes_nobody_off_as_another_publisher() {
    let (server, key) = published().await;
    let evil = SigningKey::generate().unwrap();
    // Of the same version, in another registry: nothing but the signature tells them apart.
    let elsewhere = Server::start().await;
    publish(&open(&elsewhere), b"evil", "0.1.0", &evil).await;
    let project = Project::new();
    // The user runs both, each with its publisher.
    let acme = wanted(place_of(&server), &key);
    let mut other = wanted(place_of(&elsewhere), &evil);
    other.name = "other".into();
    for (from, wanted) in [(&server, &acme), (&elsewhere, &other)] {
        project
            .pull(&open(from), wanted, Unsigned::Refuse)
            .await
            .unwrap();
    }
    let (store, lock) = (project.store(), project.lock().unwrap());
    let load = |entry: &Entry| store.load(entry, &acme, Unsigned::Refuse, &limits());
    let good = lock.entry("keep-newest").unwrap();
    assert_eq!(load(good).unwrap().unwrap(), WASM);
    let evils = lock.entry("other").unwrap();
    // A publisher who changed keys.
    let mut rotated = acme.clone();
    rotated.publisher = Some(publisher(&evil));
    let error = store
        .load(good, &rotated, Unsigned::Refuse, &limits())
        .unwrap_err();
    assert!(
        matches!(error, ResolveError::Lock(LockError::Outdated { .. })),
        "{error}"
    );
    // The other component under the manifest of this one, or with its manifest but the key of this one.
    let digest = Entry {
        digest: evils.digest,
        size: evils.size,
        ..good.clone()
    };
    let error = said(&load(&digest).unwrap_err());
    assert!(error.contains("contradicts itself"), "{error}");
    let manifest = Entry {
        manifest: evils.manifest,
        ..digest
    };
    assert_eq!(load(&manifest).unwrap(), None);
    // Even if a signature of it lies where one by that key would be.
    let signatures = project.folder().join("store/signatures");
    let name = |manifest: Digest, key: Digest| {
        signatures.join(format!("{}-{}.json", manifest.hex(), key.hex()))
    };
    let (from, to) = (
        name(evils.manifest, evils.key.unwrap()),
        name(evils.manifest, good.key.unwrap()),
    );
    std::fs::copy(from, to).unwrap();
    let error = said(&load(&manifest).unwrap_err());
    for key in [&key, &evil] {
        assert!(
            error.contains(&key.public_key().id().to_string()),
            "{error}"
        );
    }
    // What is gone is pulled again.
    std::fs::remove_dir_all(signatures).unwrap();
    assert_eq!(
        project
            .store()
            .load(good, &acme, Unsigned::Refuse, &limits())
            .unwrap(),
        None
    );
}

#[tokio::test]
async fn an_old_version_under_a_new_tag_is_refused() {
    let (server, key) = published().await;
    let to = open(&server);
    let annotations = BTreeMap::from([(VERSION_ANNOTATION.to_owned(), "0.1.2".to_owned())]);
    let old = Artifact::new(
        WASM.to_owned(),
        &Interfaces::default(),
        annotations,
        &limits(),
    )
    .unwrap();
    let bundle = sign(&key, &[old.manifest().digest()]).unwrap();
    push_signature(&to, old.manifest(), &bundle).await.unwrap();
    let (project, wanted) = (Project::new(), wanted(place_of(&server), &key));
    old.push(&to, "0.1.9", false).await.unwrap();
    let error = project
        .pull(&open(&server), &wanted, Unsigned::Refuse)
        .await
        .unwrap_err();
    assert!(
        said(&error).contains("0.1.9") && said(&error).contains("0.1.2"),
        "{error}"
    );
    assert!(project.is_untouched());
    old.push(&to, "0.1.2", false).await.unwrap();
    server.set(|held| {
        held.manifests.remove("0.1.9");
    });
    let pulled = project
        .pull(&open(&server), &wanted, Unsigned::Refuse)
        .await
        .unwrap();
    assert_eq!(pulled.version, Some("0.1.2".parse().unwrap()));
}
