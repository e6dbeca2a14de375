#![cfg(unix)]

use std::fs;
use std::process::Command;

use baler_registry::Store;

/// Names the folder of the store to the child.
const FOLDER: &str = "BALER_TEST_STORE";

/// The system refuses to write more than some bytes of a file, as it does where a disk is full.
#[test]
fn nothing_stays_of_what_does_not_fit_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let child = Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; ulimit -f 16; exec "$0" "$@""#])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "full_disk::child", "--ignored", "--nocapture"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{output}");
    assert!(output.contains("1 passed"), "{output}");
    let blobs = folder.path().join("blobs/sha256");
    let left: Vec<_> = fs::read_dir(blobs).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
#[ignore = "runs in a child whose disk is nearly full"]
fn child() {
    let folder = std::env::var_os(FOLDER).expect("is run by the other test");
    let store = Store::open(folder.as_ref()).unwrap();
    let fits = vec![1; 4 << 10];
    let digest = store.put(&fits).unwrap();
    let error = store.put(&vec![1; 1 << 20]).unwrap_err();
    assert!(error.to_string().contains("cannot write `"), "{error}");
    assert_eq!(store.get(digest, 1 << 20).unwrap().unwrap(), fits);
}
