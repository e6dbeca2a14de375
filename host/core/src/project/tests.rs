use super::*;
use crate::host::Host;

const FILE: &str = "/srv/harbour/baler.toml";

fn parse(text: &str) -> Result<Project, ProjectError> {
    Project::parse(text, Path::new(FILE))
}

#[test]
fn parse_reads_what_the_documentation_shows() {
    let digest = "ab".repeat(32);
    let text = format!(
        r#"
        [strategies.keep-newest]
        source = {{ path = "strategies/keep-newest.wasm" }}
        digest = "sha256:{digest}"
        grant = ["model"]
        config = {{ units = 40, "潮" = [1.5, true] }}
        limits = {{ memory-mib = 32, timeout-ms = 500, fuel = 1000 }}

        [strategies.plain]
        source = {{ path = "/opt/plain.wasm" }}

        [policy]
        unlisted = "refuse"
        digests = "required"
        wasi = "refuse"
        plans = {{ rewrite-outputs = false }}
        "#
    );
    let project = parse(&text).expect("valid");
    let names: Vec<&str> = project.strategies().map(Listed::name).collect();
    assert_eq!(names, ["keep-newest", "plain"]);
    let listed = project.strategy("keep-newest").expect("listed");
    assert_eq!(
        listed.path(),
        Some(Path::new("/srv/harbour/strategies/keep-newest.wasm"))
    );
    assert_eq!(listed.digest().map(ContentHash::hex), Some(digest));
    assert!(listed.may_ask_model());
    let config: serde_json::Value =
        serde_json::from_str(listed.config().expect("one")).expect("JSON");
    assert_eq!(config, serde_json::json!({"units": 40, "潮": [1.5, true]}));
    let limits = listed.limits(Limits::default());
    assert_eq!((limits.memory, limits.fuel), (32 << 20, 1_000));
    assert_eq!(limits.time.as_millis(), 500);
    assert_eq!(limits.host_calls, Limits::default().host_calls);

    let plain = project.strategy("plain").expect("listed");
    assert_eq!(plain.path(), Some(Path::new("/opt/plain.wasm")));
    assert!(plain.grants().is_empty() && plain.config().is_none() && plain.digest().is_none());
    assert_eq!(plain.limits(Limits::default()), Limits::default());
    assert_eq!(
        *project.policy(),
        ProjectPolicy {
            unlisted: Permit::Refuse,
            without_digest: Permit::Refuse,
            wasi: Permit::Refuse,
            unsigned: Unsigned::Refuse,
            plans: Policy::default().with_rewrite_outputs(false),
        }
    );
    let empty = parse("").expect("valid");
    assert_eq!(
        (empty.strategies().len(), empty.policy()),
        (0, &ProjectPolicy::default())
    );
}

#[test]
fn parse_names_the_place_and_what_was_expected() {
    let source = "source = { path = \"a.wasm\" }";
    for (text, place, expected) in [
        (
            "[strategies.a]\nsourc = 1",
            "line 2, column 1",
            "unknown field `sourc`",
        ),
        (
            "[strategies.a]\ngrant = []",
            "line 1, column 1",
            "missing field `source`",
        ),
        (
            "[strategies.a]\nsource = { url = \"x\" }",
            "line 2",
            "expected a file such as `{ path = ",
        ),
        (
            &format!("[strategies.a]\n{source}\ndigest = \"sha256:12\""),
            "line 3, column 10",
            "64 hex digits",
        ),
        (
            &format!("[strategies.a]\n{source}\ngrant = [\"files\"]"),
            "line 3",
            "expected `model`",
        ),
        (
            &format!("[strategies.a]\n{source}\nlimits = {{ memory-mib = 0 }}"),
            "line 3",
            "expected 1 to 256 MiB, found 0",
        ),
        (
            &format!("[strategies.a]\n{source}\nlimits = {{ timeout-ms = -1 }}"),
            "line 3",
            "invalid value",
        ),
        (
            &format!("[strategies.a]\n{source}\nlimits = {{ timeout-ms = 90000000 }}"),
            "line 3",
            "a day",
        ),
        (
            &format!("[strategies.\"a b\"]\n{source}"),
            "line 1",
            "expected the name of a strategy",
        ),
        (
            &format!("[strategies.\"native:digest\"]\n{source}"),
            "line 1",
            "expected the name of a strategy",
        ),
        (
            &format!("[strategies.\"a.wasm\"]\n{source}"),
            "line 1",
            "not ending in `.wasm`",
        ),
        (
            "[policy]\nwasi = \"maybe\"",
            "line 2, column 8",
            "expected `allow` or `refuse`",
        ),
        (
            "[policy]\nplans = { rewrite-all = true }",
            "line 2",
            "unknown field `rewrite-all`",
        ),
        (
            &format!("[strategies.a]\n{source}\nlimits = {{ fuel = 0 }}"),
            "line 3",
            "nonzero",
        ),
        (
            &format!("[strategies.a]\n{source}\nconfig = {{ units = nan }}"),
            "line 3",
            "found the number",
        ),
        (
            &format!("[strategies.a]\n{source}\nconfig = {{ since = 2026-01-01 }}"),
            "line 3",
            "put it between quotes",
        ),
        (
            &format!("[strategies.\"..\"]\n{source}"),
            "line 1",
            "beginning with a letter or digit",
        ),
        (
            &format!("[strategies.Native-digest]\n{source}"),
            "line 1",
            "not with `native`",
        ),
        ("[strategies", "line 1", ""),
        ("a = 1", "line 1, column 1", "unknown field `a`"),
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.contains(FILE), "{text}: {error}");
        assert!(error.contains(place), "{text}: {error}");
        assert!(error.contains(expected), "{text}: {error}");
    }
}

/// The names of settings that count, and of those that do not.
fn settings(project: &Project) -> (Vec<&str>, Vec<&str>) {
    let names = |counts: bool| {
        let settings = project.settings().iter();
        let settings = settings.filter(|setting| setting.counts == counts);
        settings.map(|setting| setting.name.as_str()).collect()
    };
    (names(true), names(false))
}

/// A list that asks for everything that it could be refused.
const GREEDY: &str = r#"
    [strategies.harbour-log]
    source = { path = "harbour-log.wasm" }
    grant = ["model"]
    config = { tides = 4, "港" = true }
    limits = { memory-mib = 65, timeout-ms = 2001, fuel = 9223372036854775807 }

    [policy.plans]
    rewrite-assistant = true
    user-percent = 0
    remove-media = true
    summary-role = "system"
    thinking = "drop"
"#;

#[test]
fn nothing_that_an_untrusted_list_allows_counts() {
    let file = Path::new(FILE);
    let found = Project::parse_as(GREEDY, file, Trust::Untrusted).expect("valid");
    assert_eq!(*found.policy(), ProjectPolicy::default());
    let listed = found.strategy("harbour-log").expect("listed");
    assert!(listed.grants().is_empty());
    assert_eq!(listed.limits(Limits::default()), Limits::default());
    assert_eq!(listed.trust(), Trust::Untrusted);
    // It runs in the sandbox, where its config does no harm.
    assert!(listed.config().is_some());
    let all = [
        "strategies.harbour-log.grant",
        "strategies.harbour-log.limits.memory-mib",
        "strategies.harbour-log.limits.timeout-ms",
        "strategies.harbour-log.limits.fuel",
        "policy.plans.rewrite-assistant",
        "policy.plans.user-percent",
        "policy.plans.remove-media",
        "policy.plans.summary-role",
        "policy.plans.thinking",
    ];
    let config = "strategies.harbour-log.config";
    assert_eq!(settings(&found), (vec![config], all.to_vec()));
    let role = found.settings().iter();
    let role = role.filter(|setting| setting.name.ends_with("summary-role"));
    let role: Vec<&str> = role.map(|setting| setting.value.as_str()).collect();
    assert_eq!(role, [r#""system""#]);

    let trusted = parse(GREEDY).expect("valid");
    let (counts, withheld) = settings(&trusted);
    assert_eq!((counts.len(), withheld.len()), (all.len() + 1, 0));
    let plans = &trusted.policy().plans;
    assert!(plans.rewrite_assistant && plans.remove_media && plans.user_percent == 0);
    let listed = trusted.strategy("harbour-log").expect("listed");
    assert!(listed.may_ask_model());
    assert_eq!(listed.limits(Limits::default()).memory, 65 << 20);
}

#[test]
fn all_that_an_untrusted_list_forbids_counts() {
    let text = r#"
        [strategies.a]
        source = { path = "a.wasm" }
        limits = { memory-mib = 64, timeout-ms = 1999, fuel = 1 }

        [policy]
        unlisted = "refuse"
        digests = "required"
        wasi = "refuse"
        plans = { rewrite-outputs = false, excerpts = false }
    "#;
    let found = Project::parse_as(text, Path::new(FILE), Trust::Untrusted).expect("valid");
    let trusted = parse(text).expect("valid");
    assert_eq!(found.policy(), trusted.policy());
    assert_eq!(found.policy().unlisted, Permit::Refuse);
    assert!(!found.policy().plans.excerpts);
    let limits = |project: &Project| {
        let listed = project.strategy("a").expect("listed");
        listed.limits(Limits::default())
    };
    assert_eq!(limits(&found), limits(&trusted));
    assert_eq!(limits(&found).fuel, 1);
    assert!(settings(&found).1.is_empty());
}

#[test]
fn a_receipt_says_which_settings_concerned_the_strategies_that_were_tried() {
    let text = format!(
        "{GREEDY}\nexcerpts = false\n[strategies.other]\nsource = {{ path = 'o.wasm' }}\ngrant = ['model']"
    );
    let found = Project::parse_as(&text, Path::new(FILE), Trust::Untrusted).expect("valid");
    let used = found.use_for(&["other", "native:digest"]);
    assert_eq!(used.content_hash, ContentHash::of(text.as_bytes()));
    assert!(!used.trusted);
    assert_eq!(used.settings, ["policy.plans.excerpts"]);
    assert!(used.withheld.contains(&"strategies.other.grant".to_owned()));
    assert!(
        used.withheld
            .contains(&"policy.plans.summary-role".to_owned())
    );
    let others = used.withheld.iter().filter(|name| name.contains("harbour"));
    assert_eq!(others.count(), 0);
    let json = serde_json::to_string(&used).expect("JSON");
    assert!(!json.contains("/srv"), "a receipt has no path: {json}");
}

#[test]
fn trust_is_in_one_file_with_one_content() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("state");
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    for place in [&one, &other] {
        std::fs::create_dir(place).expect("a folder");
        std::fs::write(place.join(FILE_NAME), GREEDY).expect("writes");
    }
    let trusted = TrustedLists::in_state(&state);
    let trust = |folder: &Path| {
        let found = Project::find(folder, Some(&trusted)).expect("valid");
        found.project.expect("found").trust()
    };
    assert_eq!(trust(&one), Trust::Untrusted);
    assert!(!state.exists(), "looking creates nothing");
    let list = Project::read(&one.join(FILE_NAME)).expect("valid");
    trusted.add(&list).expect("is kept");
    assert_eq!(trust(&one), Trust::Trusted);
    assert_eq!(trust(&other), Trust::Untrusted, "the same text elsewhere");

    std::fs::write(one.join(FILE_NAME), format!("{GREEDY}\n# tide")).expect("writes");
    assert_eq!(trust(&one), Trust::Untrusted, "another text");
    std::fs::write(one.join(FILE_NAME), GREEDY).expect("writes");
    assert_eq!(trust(&one), Trust::Trusted);
    assert!(trusted.remove(list.file()).expect("is removed"));
    assert!(!trusted.remove(list.file()).expect("there is none"));
    assert_eq!(trust(&one), Trust::Untrusted);
}

#[test]
#[cfg(unix)]
fn trust_that_others_could_have_written_is_none() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(FILE_NAME), GREEDY).expect("writes");
    let state = folder.path().join("state");
    let trusted = TrustedLists::in_state(&state);
    let list = Project::read(&folder.path().join(FILE_NAME)).expect("valid");
    trusted.add(&list).expect("is kept");
    let kept = state.join("trusted");
    let entry = std::fs::read_dir(&kept).expect("a folder").next();
    let entry = entry.expect("an entry").expect("an entry").path();
    for (place, private) in [(&state, 0o700), (&kept, 0o700), (&entry, 0o600)] {
        let trust_with = |mode: u32| {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(place, mode).expect("a mode");
            let found = Project::find(folder.path(), Some(&trusted)).expect("valid");
            found.project.expect("found").trust()
        };
        assert_eq!(trust_with(private | 0o022), Trust::Untrusted, "{place:?}");
        assert_eq!(trust_with(private), Trust::Trusted, "{place:?}");
    }
}

#[test]
fn check_names_finds_the_name_that_is_reserved() {
    let text = "[strategies.mine]\nsource = { path = 'a.wasm' }\n[strategies.Tiered]\nsource = { path = 'b.wasm' }";
    let project = parse(text).expect("valid");
    assert!(project.check_names(|name| name == "tiered").is_ok());
    let error = project.check_names(|name| name.eq_ignore_ascii_case("tiered"));
    let error = error.expect_err("it is taken").to_string();
    assert!(
        error.contains("`Tiered`") && error.contains("reserved"),
        "{error}"
    );
}

/// Somebody else could have left it above the working folder, to steer this user's runs or to stop them.
#[test]
#[cfg(unix)]
fn find_passes_over_a_list_that_others_may_write() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let below = folder.path().join("agent");
    std::fs::create_dir(&below).expect("a folder");
    let (own, open) = (folder.path().join(FILE_NAME), below.join(FILE_NAME));
    std::fs::write(&own, "[policy]\nwasi = 'refuse'").expect("writes");
    std::fs::write(&open, "not a list").expect("writes");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o666)).expect("a mode");
    let found = Project::find(&below, None).expect("valid");
    let project = found.project.expect("the one above");
    assert_eq!(project.policy().wasi, Permit::Refuse);
    let told: Vec<String> = found.passed_over.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1);
    assert!(
        told[0].contains("agent/baler.toml") && told[0].contains("every user"),
        "{told:?}"
    );
}

#[test]
fn find_takes_the_closest_file_above() {
    let folder = tempfile::tempdir().expect("a folder");
    let below = folder.path().join("agent/src");
    std::fs::create_dir_all(&below).expect("folders");
    std::fs::write(
        folder.path().join(FILE_NAME),
        "[strategies.a]\nsource = { path = 'a.wasm' }",
    )
    .expect("writes");
    let find = || {
        let found = Project::find(&below, None).expect("valid");
        found.project.expect("found")
    };
    let found = find();
    let folder_of = folder.path().canonicalize().expect("it is there");
    assert_eq!(found.file(), folder_of.join(FILE_NAME));
    std::fs::write(folder.path().join("agent").join(FILE_NAME), "").expect("writes");
    let found = find();
    assert_eq!(found.file(), folder_of.join("agent").join(FILE_NAME));
}

#[test]
#[cfg(unix)]
fn read_refuses_what_is_no_file_of_this_user() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(FILE_NAME);
    let told = |expected: &str| {
        let error = Project::read(&file).expect_err(expected);
        let error = crate::error::with_causes(&error);
        assert!(error.contains(expected), "{error}");
    };
    told("cannot read");
    std::fs::write(&file, "").expect("writes");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).expect("a mode");
    told("may be written by every user");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), open).expect("a mode");
    told("is in a folder that every user");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700))
        .expect("a mode");
    std::fs::write(&file, b"a = \"\xff\"").expect("writes");
    told("not UTF-8 text from byte 5 on");
    std::fs::write(&file, vec![b'#'; MAX_BYTES + 1]).expect("writes");
    told("has more than");
    std::fs::remove_file(&file).expect("removes");
    std::fs::create_dir(&file).expect("a folder");
    told("found a folder");
}

/// A link that another user made must not decide where strategies come from.
#[test]
#[cfg(unix)]
fn read_starts_paths_from_where_the_file_is_and_not_from_a_link_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (own, other) = (folder.path().join("own"), folder.path().join("other"));
    std::fs::create_dir(&own).expect("a folder");
    std::fs::create_dir(&other).expect("a folder");
    let text = "[strategies.a]\nsource = { path = 'a.wasm' }";
    std::fs::write(own.join(FILE_NAME), text).expect("writes");
    std::os::unix::fs::symlink(own.join(FILE_NAME), other.join(FILE_NAME)).expect("a link");
    let found = Project::find(&other, None).expect("valid");
    let project = found.project.expect("found");
    let own = own.canonicalize().expect("it is there");
    assert_eq!(
        project.strategy("a").expect("listed").path(),
        Some(own.join("a.wasm").as_path())
    );
}

#[tokio::test]
async fn load_listed_refuses_another_file_than_the_listed_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let window = baler_strategies::by_name("sliding-window")
        .expect("it ships with baler")
        .wasm;
    let trim = baler_strategies::by_name("trim")
        .expect("it ships with baler")
        .wasm;
    std::fs::write(folder.path().join("window.wasm"), window).expect("writes");
    let host = Host::builder().without_archive().build().expect("a host");
    let file = folder.path().join(FILE_NAME);
    let hash = ContentHash::of(window);
    let project = |more: &str, policy: &str| {
        let text = format!(
            "[strategies.window]\nsource = {{ path = 'window.wasm' }}\n{more}\n[policy]\n{policy}"
        );
        Project::parse(&text, &file).expect("valid")
    };
    let listed = project(
        &format!("digest = '{hash}'\nconfig = {{ keep = {{ units = 3 }} }}"),
        "digests = 'required'",
    );
    let strategy = host.load_listed(&listed, "window").await.expect("loads");
    assert_eq!(
        (strategy.name(), strategy.config()),
        ("window", Some(r#"{"keep":{"units":3}}"#))
    );

    let error = host
        .load_listed(&listed, "windows")
        .await
        .expect_err("not listed");
    assert!(
        error.to_string().contains("lists no strategy `windows`"),
        "{error}"
    );
    let bad = project("config = { keep = 'all' }", "");
    let error = host
        .load_listed(&bad, "window")
        .await
        .expect_err("a bad config");
    assert!(
        crate::error::with_causes(&error).contains("/keep"),
        "{}",
        crate::error::with_causes(&error)
    );
    let open = project("", "digests = 'required'");
    let error = host
        .load_listed(&open, "window")
        .await
        .expect_err("no digest");
    assert!(
        error.to_string().contains(&format!("digest = \"{hash}\"")),
        "{error}"
    );

    std::fs::write(folder.path().join("window.wasm"), trim).expect("writes");
    let error = host
        .load_listed(&listed, "window")
        .await
        .expect_err("another file")
        .to_string();
    let other = ContentHash::of(trim);
    assert!(
        error.contains(&hash.to_string()) && error.contains(&other.to_string()),
        "{error}"
    );
    std::fs::remove_file(folder.path().join("window.wasm")).expect("removes");
    let error = host
        .load_listed(&listed, "window")
        .await
        .expect_err("no file");
    assert!(error.to_string().contains("cannot read"), "{error}");
}

#[test]
fn a_strategy_of_a_registry_is_listed_with_its_publisher() {
    let project = parse(
        r#"
        [strategies.window]
        source = "oci://registry.example/acme/window"
        version = "^0.1"
        publisher = "acme"
        [strategies.folder]
        source = "oci-layout:shelf"
        [publishers.acme]
        keys = ["MFkw", { file = "acme.pem" }]
        [policy]
        unsigned = "locked"
        "#,
    )
    .expect("valid");
    let window = project.strategy("window").expect("listed");
    assert_eq!(window.path(), None);
    let ListedSource::Registry(source) = window.source() else {
        panic!("{:?}", window.source());
    };
    assert_eq!(source.place, "oci://registry.example/acme/window");
    assert_eq!(
        (source.version.as_str(), source.publisher.as_deref()),
        ("^0.1", Some("acme"))
    );
    let folder = project.strategy("folder").expect("listed");
    let ListedSource::Registry(source) = folder.source() else {
        panic!("{:?}", folder.source());
    };
    assert_eq!(source.place, "oci-layout:shelf");
    assert_eq!(
        (source.version.as_str(), source.publisher.as_deref()),
        ("*", None)
    );
    let keys = project.publisher("acme").expect("listed");
    assert_eq!(keys[0], ListedKey::Text("MFkw".to_owned()));
    assert_eq!(keys[1], ListedKey::File("/srv/harbour/acme.pem".into()));
    assert_eq!(project.policy().unsigned, Unsigned::Locked);

    let error = window.read(&project, 1_000).expect_err("no file");
    assert!(matches!(error, ListedError::InRegistry { .. }), "{error}");
}

#[test]
fn what_is_said_of_a_registry_has_to_fit_together() {
    for (text, words) in [
        (
            "[strategies.a]\nsource = { path = 'a.wasm' }\nversion = '^1'",
            "its source is a file, which has no `version`",
        ),
        (
            "[strategies.a]\nsource = 'oci://registry.example/a'\npublisher = 'acme'",
            "its publisher `acme` is not listed (no publisher is)",
        ),
        (
            "[strategies.a]\nsource = 'oci://registry.example/a'\npublisher = 'acme'\n[publishers.ape]\nkeys = []",
            "known are: ape",
        ),
        (
            &format!(
                "[strategies.a]\nsource = 'oci://registry.example/a'\ndigest = 'sha256:{}'",
                "ab".repeat(32)
            ),
            "its source is a registry, which has no `digest`",
        ),
        ("[strategies.a]\nsource = 7", "expected a file such as"),
        ("[publishers.a]\nkeys = [7]", "expected a key as base64"),
        ("[policy]\nunsigned = 'maybe'", "maybe"),
    ] {
        let error = parse(text).expect_err("wrong").to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}
