use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::http::StatusCode;
use baler_registry::{
    Credentials, Digest, Limits, Options, Place, RegistryError, SigningKey, Transport, Unsigned,
    push_signature, sign,
};
use serde_json::json;

use crate::server::{Demand, Fault, Server};
use crate::support::{
    Project, WASM, artifact, limits, open, options, place, place_of, publish, published, said,
    wanted,
};

/// Asserts that a pull with this fault ends with an error that says all of `parts`, and that nothing is stored.
async fn refuses(fault: Fault, parts: &[&str]) {
    refuses_within(limits(), fault, parts).await;
}

async fn refuses_within(limits: Limits, fault: Fault, parts: &[&str]) {
    let (server, key) = published().await;
    server.fail(fault.clone());
    let project = Project::new();
    let wanted = wanted(place_of(&server), &key);
    let from = Transport::open(&place_of(&server), options().with_limits(limits));
    let error = project
        .pull(&from.expect("opens"), &wanted, Unsigned::Refuse)
        .await;
    let error = said(&error.expect_err("is refused"));
    for part in parts {
        assert!(
            error.contains(part),
            "{fault:?}: expected `{part}` in: {error}"
        );
    }
    assert!(project.is_untouched(), "{fault:?}");
    // No more than the limit and what the sockets hold.
    let sent = server.sent.load(Ordering::Relaxed);
    assert!(sent < 16 << 20, "{fault:?}: {sent} bytes");
}

#[tokio::test]
async fn a_registry_that_lies_about_digests_is_refused() {
    let manifest = artifact(WASM).manifest().digest().to_string();
    let other = Digest::of(b"other").to_string();
    refuses(Fault::DigestHeader(other.clone()), &[&manifest, &other]).await;
    refuses(Fault::DigestHeader("sha256:1".into()), &["sha256:1", "64"]).await;
    // What refers to the manifest is asked for by digest.
    refuses(
        Fault::Manifest(b"other".to_vec()),
        &["expected the manifest `sha256:", &other],
    )
    .await;
}

#[tokio::test]
async fn a_changed_layer_is_refused() {
    let changed = [&WASM[..WASM.len() - 1], b"!"].concat();
    let digests = [WASM, &changed].map(|bytes| Digest::of(bytes).to_string());
    let layer = |wasm: &[u8]| Fault::Layer(wasm.to_owned());
    // Signatures are read first, so they have to be spared.
    let (server, key) = published().await;
    server.set(|held| {
        let held = held.blobs.get_mut(&digests[0]).expect("the layer");
        held.clone_from(&changed);
    });
    let (project, wanted) = (Project::new(), wanted(place_of(&server), &key));
    let pulled = project
        .pull(&open(&server), &wanted, Unsigned::Refuse)
        .await;
    let error = said(&pulled.unwrap_err());
    assert!(
        digests.iter().all(|digest| error.contains(digest)),
        "{error}"
    );
    assert!(project.is_untouched());
    // A changed bundle.
    refuses(layer(b"{}"), &["bytes of the blob sha256:", "found 2"]).await;
}

#[tokio::test]
async fn a_registry_that_lies_about_sizes_is_refused() {
    let (server, key) = published().await;
    let digest = Digest::of(WASM).to_string();
    let size = WASM.len();
    let wanted = wanted(place_of(&server), &key);
    for other in [&WASM[..size - 1], &[WASM, b"!"].concat(), b""] {
        for is_chunked in [false, true] {
            let project = Project::new();
            // Unsigned, so that the first blob is the layer.
            let mut wanted = wanted.clone();
            wanted.publisher = None;
            server.fail(match is_chunked {
                true => Fault::ChunkedLayer(other.to_owned()),
                false => Fault::Layer(other.to_owned()),
            });
            let pulled = project
                .pull(&open(&server), &wanted, Unsigned::Locked)
                .await;
            let error = said(&pulled.unwrap_err());
            let found = match other.len() {
                longer if longer > size && is_chunked => format!("found more than {size}"),
                other => format!("found {other}"),
            };
            for part in [&digest, &format!("expected {size} bytes"), &found] {
                assert!(error.contains(part), "{other:?} {is_chunked}: {error}");
            }
            assert!(project.is_untouched());
        }
    }
}

#[tokio::test]
async fn a_component_that_says_it_is_too_large_is_not_asked_for() {
    let (server, key) = (Server::start().await, SigningKey::generate().unwrap());
    let large = vec![0; limits().component + 1];
    publish_large(&server, &large).await;
    server.set(|held| held.requests.clear());
    let mut wanted = wanted(place_of(&server), &key);
    wanted.publisher = None;
    let project = Project::new();
    let pulled = project
        .pull(&open(&server), &wanted, Unsigned::Locked)
        .await;
    let error = said(&pulled.unwrap_err());
    for part in ["at most 1048576 bytes", "found 1048577"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(project.is_untouched());
    let held = server.held.lock().unwrap();
    assert!(
        held.requests
            .iter()
            .all(|(_, path, _)| !path.contains("/blobs/"))
    );
}

/// Pushes what is larger than others accept.
async fn publish_large(server: &Server, wasm: &[u8]) {
    let to = Transport::open(&place_of(server), Options::default()).unwrap();
    let (interfaces, annotations) = Default::default();
    let artifact = baler_registry::Artifact::new(
        wasm.to_owned(),
        &interfaces,
        annotations,
        &Limits::default(),
    );
    artifact.unwrap().push(&to, "0.1.0", false).await.unwrap();
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() {
    for (path, parts) in [
        (
            "/tags/",
            ["the list of tags", "at most 65536 bytes", "more than 65536"],
        ),
        (
            "/manifests/",
            [
                "the manifest `0.1.0`",
                "at most 65536 bytes",
                "more than 65536",
            ],
        ),
        (
            "/referrers/",
            [
                "the list of referrers",
                "at most 65536 bytes",
                "more than 65536",
            ],
        ),
        (
            "/blobs/",
            [
                "bytes of the blob sha256:",
                "as its descriptor says",
                "found more than",
            ],
        ),
    ] {
        refuses(Fault::Endless(path), &parts).await;
    }
}

#[tokio::test]
async fn a_slow_answer_is_given_up() {
    let never = Duration::from_secs(3_600);
    let impatient = Limits {
        silence: Duration::from_millis(500),
        ..limits()
    };
    for path in ["/tags/", "/manifests/", "/referrers/", "/blobs/"] {
        let parts = ["within 500ms", "found no end"];
        refuses_within(impatient, Fault::Late(path, never), &parts).await;
    }
    // Something always comes, but never all: that has an end too.
    let hurried = Limits {
        time: Duration::from_secs(2),
        ..limits()
    };
    let parts = ["the manifest `0.1.0`", "within 2s"];
    refuses_within(hurried, Fault::Trickle("/manifests/"), &parts).await;
}

#[tokio::test]
async fn a_redirect_to_another_host_is_refused() {
    let other = Server::start().await;
    let there = format!("http://{}", other.host());
    for path in ["/tags/", "/manifests/", "/referrers/", "/blobs/"] {
        let to = format!("{there}/v2/acme/keep-newest/elsewhere");
        refuses(Fault::Redirect(path, to), &["expected 127.0.0.1:", &there]).await;
    }
    assert!(other.held.lock().unwrap().requests.is_empty());
    for (to, found) in [
        (
            "https://registry.example/secret?signature=x",
            "https://registry.example;",
        ),
        ("http://169.254.169.254/latest", "http://169.254.169.254;"),
        ("http://", "`http://`"),
        ("/v2/acme/keep-newest/blobs/again", "after 3 others"),
    ] {
        let fault = Fault::Redirect("/blobs/", to.into());
        refuses(fault, &["found a redirect to", found]).await;
    }
    // Uploads go to no other host either.
    let (server, _) = published().await;
    server.fail(Fault::Upload(format!("{there}/upload")));
    let error = artifact(b"other")
        .push(&open(&server), "0.2.0", false)
        .await
        .unwrap_err();
    assert!(said(&error).contains(&there), "{error}");
    assert!(other.held.lock().unwrap().requests.is_empty());
}

#[tokio::test]
async fn a_redirect_is_followed_within_the_host_and_to_named_hosts() {
    let (server, key) = published().await;
    let (content, wanted) = (Server::start().await, wanted(place_of(&server), &key));
    publish(&open(&content), WASM, "0.1.0", &key).await;
    content.set(|held| held.requests.clear());
    // The layer alone is redirected.
    let path = format!("/v2/acme/keep-newest/blobs/{}", Digest::of(WASM));
    let to = format!("http://{}{path}", content.host());
    let blob: &'static str = path.leak();
    server.fail(Fault::Redirect(blob, to));
    // The password is for the registry alone.
    server.set(|held| held.demand = Demand::Password);
    let options = || {
        let credentials = Credentials::new("me".into(), "hunter2".into());
        let options = options().with_credentials(Some(credentials));
        options.with_content_hosts(vec![content.host()])
    };
    let from = Transport::open(&place_of(&server), options()).unwrap();
    let pulled = Project::new()
        .pull(&from, &wanted, Unsigned::Refuse)
        .await
        .unwrap();
    assert_eq!(pulled.wasm, WASM);
    let asked = content.held.lock().unwrap().requests.clone();
    assert_eq!(asked, [("GET".to_owned(), blob.to_owned(), None)]);
    // Its content is checked like that of the registry.
    content.fail(Fault::Layer(vec![b'!'; WASM.len()]));
    let project = Project::new();
    let from = Transport::open(&place_of(&server), options()).unwrap();
    let error = project
        .pull(&from, &wanted, Unsigned::Refuse)
        .await
        .unwrap_err();
    assert!(
        said(&error).contains(&Digest::of(WASM).to_string()),
        "{error}"
    );
    assert!(project.is_untouched());
}

#[tokio::test]
async fn an_error_of_the_registry_is_no_empty_list() {
    let broken = StatusCode::INTERNAL_SERVER_ERROR;
    let parts = [
        "to answer 200 for the list of referrers",
        "found 500",
        "it says: broken",
    ];
    refuses(Fault::Status("/referrers/", broken, "broken\n"), &parts).await;
    let denied = Fault::Status("/tags/", StatusCode::FORBIDDEN, "");
    refuses(
        denied,
        &["refuses the list of tags", "found none", "docker login"],
    )
    .await;
    let gone = Fault::Status("/tags/", StatusCode::NOT_FOUND, "");
    refuses(gone, &["/acme/keep-newest does not have the list of tags"]).await;
}

#[tokio::test]
async fn lists_of_another_form_are_refused() {
    for (path, value, parts) in [
        (
            "/tags/",
            json!({"tags": 1}),
            ["the list of tags", "invalid type"],
        ),
        (
            "/tags/",
            json!({"tags": null}),
            ["`^0.1`", "no tag that is a version"],
        ),
        (
            "/referrers/",
            json!({}),
            ["the list of referrers", "missing field"],
        ),
        (
            "/referrers/",
            json!({"schemaVersion": 2, "manifests": [{"artifactType": baler_registry::BUNDLE, "digest": "md5:1"}]}),
            ["an entry of referrers", "found `md5:1`"],
        ),
        (
            "/manifests/0.1.0",
            json!({"schemaVersion": 2}),
            ["the manifest sha256:", "missing field"],
        ),
    ] {
        refuses(Fault::Json(path, value), &parts).await;
    }
}

#[tokio::test]
async fn signatures_beyond_the_limits_are_refused() {
    let (server, key) = published().await;
    let to = open(&server);
    let manifest = artifact(WASM).manifest().clone();
    for _ in 0..limits().referrers {
        let other = SigningKey::generate().unwrap();
        let bundle = sign(&other, &[manifest.digest()]).unwrap();
        push_signature(&to, &manifest, &bundle).await.unwrap();
    }
    let (project, wanted) = (Project::new(), wanted(place_of(&server), &key));
    let error = project
        .pull(&to, &wanted, Unsigned::Refuse)
        .await
        .unwrap_err();
    assert!(said(&error).contains("at most 32 signatures"), "{error}");
    let (server, _) = published().await;
    let large = vec![b' '; limits().bundle + 1];
    push_signature(&open(&server), &manifest, &large)
        .await
        .unwrap();
    let mut wanted = wanted;
    wanted.source = place_of(&server);
    let error = project
        .pull(&open(&server), &wanted, Unsigned::Refuse)
        .await;
    let error = said(&error.unwrap_err());
    assert!(
        error.contains("at most 65536 bytes") && error.contains("found 65537"),
        "{error}"
    );
    assert!(project.is_untouched());
}

#[test]
fn plain_http_is_for_this_machine_alone() {
    let far = place("oci://registry.example/acme/keep-newest");
    let here = place("oci://localhost:5000/acme/keep-newest");
    let credentials = || Some(Credentials::new("me".into(), "hunter2".into()));
    let open = |place: &Place, options: Options| Transport::open(place, options).map(|_| ());
    open(&here, options().with_credentials(credentials())).unwrap();
    open(&far, options().with_credentials(credentials())).unwrap();
    open(&far, options().with_plain_http(true)).unwrap();
    let unsafe_options = options()
        .with_plain_http(true)
        .with_credentials(credentials());
    let error = open(&far, unsafe_options).unwrap_err();
    assert!(matches!(error, RegistryError::PlainHttp { .. }));
    assert!(said(&error).contains("registry.example"), "{error}");
}

#[tokio::test]
async fn lists_in_pages_have_an_end() {
    let (server, key) = published().await;
    server.set(|held| held.page = 1);
    let wanted = wanted(place_of(&server), &key);
    let pull = async |limits: Limits| {
        let from = Transport::open(&place_of(&server), options().with_limits(limits));
        let pulled = Project::new()
            .pull(&from.unwrap(), &wanted, Unsigned::Refuse)
            .await;
        pulled.map_err(|error| said(&error))
    };
    for number in 1..limits().pages {
        let tag = format!("0.1.0-{number}{}", "a".repeat(100));
        artifact(WASM)
            .push(&open(&server), &tag, false)
            .await
            .unwrap();
    }
    pull(limits()).await.unwrap();
    // All pages together have the limit of one answer.
    let small = Limits {
        manifest: 2_000,
        ..limits()
    };
    let error = pull(small).await.unwrap_err();
    assert!(error.contains("bytes of the list of tags"), "{error}");
    artifact(WASM)
        .push(&open(&server), "0.1.1", false)
        .await
        .unwrap();
    let error = pull(limits()).await.unwrap_err();
    assert!(
        error.contains("at most 16 pages of the list of tags"),
        "{error}"
    );
}
