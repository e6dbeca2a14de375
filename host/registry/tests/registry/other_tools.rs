use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use baler_registry::{
    Credentials, Digest, PublicKey, SigningKey, Transport, Unsigned, sign, verify,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Project, WASM, artifact_of, options, place, publish, said, wanted};

/// Returns whether a program is here, and says so if it is not.
fn is_here(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: there is no `{program}` on this machine");
    }
    found
}

fn run(folder: &Path, command: &str, input: &[u8]) -> Vec<u8> {
    fs::write(folder.join("input"), input).unwrap();
    let script = Command::new("sh")
        .args(["-ec", command])
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&script.stderr).into_owned();
    assert!(script.status.success(), "{command}: {said}");
    script.stdout
}

/// What DSSE signs.
fn signed_text(payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 28 application/vnd.in-toto+json {} ", payload.len());
    [head.as_bytes(), payload].concat()
}

#[test]
fn openssl_verifies_what_is_signed_here_and_signs_what_is_verified_here() {
    if !is_here("openssl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Keys of both ways to make them, and of this program.
    run(
        folder,
        "openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out 1.pem",
        b"",
    );
    run(
        folder,
        "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out 2.pem",
        b"",
    );
    SigningKey::generate()
        .unwrap()
        .save(&folder.join("3.pem"))
        .unwrap();
    let subject = Digest::of(WASM);
    for number in 1..=3 {
        let key = fs::read_to_string(folder.join(format!("{number}.pem"))).unwrap();
        let key = SigningKey::from_pem(&key).unwrap();
        let public = run(
            folder,
            &format!("openssl pkey -in {number}.pem -pubout | tee public.pem"),
            b"",
        );
        let public = String::from_utf8(public).unwrap();
        assert_eq!(key.public_key().to_pem(), public);
        let public: PublicKey = public.parse().unwrap();
        // From here to openssl.
        let bundle: Value = serde_json::from_slice(&sign(&key, &[subject]).unwrap()).unwrap();
        let part = |place: &str| {
            STANDARD
                .decode(bundle.pointer(place).unwrap().as_str().unwrap())
                .unwrap()
        };
        let payload = part("/dsseEnvelope/payload");
        fs::write(
            folder.join("signature"),
            part("/dsseEnvelope/signatures/0/sig"),
        )
        .unwrap();
        let command = "openssl dgst -sha256 -verify public.pem -signature signature input";
        assert_eq!(
            run(folder, command, &signed_text(&payload)),
            b"Verified OK\n"
        );
        // And back.
        let payload = format!(
            r#"{{"_type":"https://in-toto.io/Statement/v1","subject":[{{"digest":{{"sha256":"{}"}}}}],"predicateType":"https://sigstore.dev/cosign/sign/v1","predicate":{{}}}}"#,
            subject.hex()
        );
        let command = format!("openssl dgst -sha256 -sign {number}.pem input");
        let signature = run(folder, &command, &signed_text(payload.as_bytes()));
        let hint = run(
            folder,
            "openssl pkey -pubin -in public.pem -outform DER | openssl dgst -sha256 -binary | base64",
            b"",
        );
        let hint = String::from_utf8(hint).unwrap();
        let made = json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {"publicKey": {"hint": hint.trim()}},
            "dsseEnvelope": {"payload": STANDARD.encode(&payload), "payloadType": "application/vnd.in-toto+json",
                "signatures": [{"sig": STANDARD.encode(signature)}]},
        });
        let made = made.to_string();
        let keys = [public];
        assert_eq!(verify(made.as_bytes(), subject, &keys), Ok(&keys[0]));
        // The hint is that of this program too, which is how errors name a wrong key.
        assert_eq!(
            bundle["verificationMaterial"]["publicKey"]["hint"],
            hint.trim()
        );
        let other = [SigningKey::generate().unwrap().public_key().clone()];
        let error = verify(made.as_bytes(), subject, &other)
            .unwrap_err()
            .to_string();
        assert!(error.contains(&keys[0].id().to_string()), "{error}");
    }
    run(
        folder,
        "openssl ecparam -name secp384r1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out 4.pem",
        b"",
    );
    let key = fs::read_to_string(folder.join("4.pem")).unwrap();
    let error = SigningKey::from_pem(&key).unwrap_err().to_string();
    assert!(error.contains("expected a private key of P-256"), "{error}");
}

#[test]
#[ignore = "installs packages from the npm registry"]
fn the_javascript_library_of_sigstore_agrees() {
    if !is_here("npm") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for file in ["package.json", "package-lock.json", "verify.mjs"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/sigstore")
            .join(file);
        fs::copy(from, folder.join(file)).unwrap();
    }
    run(folder, "npm ci --silent --no-audit --no-fund", b"");
    let (key, other) = (
        SigningKey::generate().unwrap(),
        SigningKey::generate().unwrap(),
    );
    let subjects = [Digest::of(b"manifest"), Digest::of(WASM)];
    let bundle = sign(&key, &subjects).unwrap();
    fs::write(folder.join("public.pem"), key.public_key().to_pem()).unwrap();
    fs::write(folder.join("other.pem"), other.public_key().to_pem()).unwrap();
    let verified = run(folder, "node verify.mjs input public.pem", &bundle);
    let verified: Value = serde_json::from_slice(&verified).unwrap();
    let expected = subjects.map(|subject| json!({"digest": {"sha256": subject.hex()}}));
    assert_eq!(verified["subject"], json!(expected));
    let refused = run(folder, "! node verify.mjs input other.pem 2>&1", &bundle);
    let refused = String::from_utf8(refused).unwrap();
    assert!(
        refused.contains("signature verification failed"),
        "{refused}"
    );
}

/// Debian's registry, which keeps no lists of referrers.
struct DockerRegistry {
    process: Child,
    folder: TempDir,
    host: String,
}

impl DockerRegistry {
    fn start(auth: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let host = port.local_addr().unwrap().to_string();
        drop(port);
        let storage = folder.path().join("storage");
        let config = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: \"{host}\"}}\n{auth}",
            storage.display()
        );
        fs::write(folder.path().join("config.yml"), config).unwrap();
        // `me` and `hunter2`.
        let password = "me:$2y$05$bS2tYTD0G99uGUdnIZwljuSlgf920Rin2vdJ.B/klk5gzP4zOa/tS\n";
        fs::write(folder.path().join("htpasswd"), password).unwrap();
        let process = Command::new("docker-registry")
            .args(["serve", "config.yml"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while std::net::TcpStream::connect(&host).is_err() {
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "it does not listen"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        Self {
            process,
            folder,
            host,
        }
    }
}

impl Drop for DockerRegistry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn the_registry_of_debian_serves_what_is_pushed() {
    if !is_here("docker-registry") {
        return;
    }
    let auth = "auth: {htpasswd: {realm: tests, path: htpasswd}}\n";
    for (auth, password) in [("", None), (auth, Some("hunter2"))] {
        let registry = DockerRegistry::start(auth);
        let place = place(&format!("oci://{}/acme/keep-newest", registry.host));
        let open = |password: Option<&str>| {
            let credentials = password.map(|it| Credentials::new("me".into(), it.into()));
            Transport::open(&place, options().with_credentials(credentials)).unwrap()
        };
        let key = SigningKey::generate().unwrap();
        for version in ["0.1.0", "0.1.1"] {
            publish(&open(password), version.as_bytes(), version, &key).await;
        }
        let wanted = wanted(place.clone(), &key);
        let pulled = Project::new()
            .pull(&open(password), &wanted, Unsigned::Refuse)
            .await
            .unwrap();
        assert_eq!(pulled.wasm, b"0.1.1");
        let other = crate::support::wanted(place.clone(), &SigningKey::generate().unwrap());
        let pulled = Project::new()
            .pull(&open(password), &other, Unsigned::Refuse)
            .await;
        let error = said(&pulled.unwrap_err());
        assert!(
            error.contains(&key.public_key().id().to_string()),
            "{error}"
        );
        if password.is_some() {
            for password in [None, Some("wrong")] {
                let pulled = Project::new()
                    .pull(&open(password), &wanted, Unsigned::Refuse)
                    .await;
                let error = said(&pulled.unwrap_err());
                assert!(error.contains("docker login"), "{error}");
            }
        } else if is_here("skopeo") {
            // It copies the artifact into a layout folder, and back.
            let layout = registry.folder.path().join("layout");
            let copy = |from: &str, to: &str| {
                let command = format!(
                    "skopeo copy --src-tls-verify=false --dest-tls-verify=false {from} {to}"
                );
                run(registry.folder.path(), &command, b"");
            };
            let (there, copied) = (
                format!("docker://{}/acme/", registry.host),
                "oci:layout:0.1.1",
            );
            copy(&format!("{there}keep-newest:0.1.1"), copied);
            let reference = format!("oci-layout:{}", layout.display());
            let from = crate::support::place(&reference);
            let from = Transport::open(&from, options()).unwrap();
            assert_eq!(from.tags().await.unwrap(), ["0.1.1"]);
            let mut unsigned = wanted.clone();
            unsigned.publisher = None;
            let pulled = Project::new()
                .pull(&from, &unsigned, Unsigned::Locked)
                .await
                .unwrap();
            assert_eq!(&pulled.manifest, artifact_of(b"0.1.1", "0.1.1").manifest());
            // skopeo reads a folder that this program wrote.
            let to = registry.folder.path().join("made");
            let to = crate::support::place(&format!("oci-layout:{}", to.display()));
            let to = Transport::open(&to, options()).unwrap();
            publish(&to, WASM, "0.1.2", &key).await;
            copy("oci:made:0.1.2", &format!("{there}keep-newest:0.1.2"));
            let from = open(None);
            let at = baler_registry::At::Tag("0.1.2".into());
            assert_eq!(
                &from.manifest(&at).await.unwrap(),
                artifact_of(WASM, "0.1.2").manifest()
            );
        }
    }
}
