//! Who may write `baler.toml`: whoever writes it decides which strategies run.

use std::fs::Metadata;

/// Returns who else may write a file in a folder, as text for an error. `None` if only this user or root owns it, and
/// nobody outside of their group may write it or put another file in its place.
#[cfg(unix)]
pub(super) fn who_else_writes(file: &Metadata, folder: Option<&Metadata>) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    // With the sticky bit, as in `/tmp`, only owners of files may replace them.
    let is_open = |metadata: &Metadata| metadata.mode() & 0o002 != 0;
    let is_sticky = |metadata: &Metadata| metadata.mode() & 0o1000 != 0;
    let own_group = rustix::process::getegid().as_raw();
    if let Some(problem) = who_else_owns(file) {
        return Some(problem);
    }
    if is_open(file) {
        return Some("may be written by every user of this machine".to_owned());
    }
    if file.mode() & 0o020 != 0 && file.gid() != own_group {
        return Some(format!(
            "may be written by another group (number {})",
            file.gid()
        ));
    }
    folder
        .filter(|folder| is_open(folder) && !is_sticky(folder))
        .map(|_| "is in a folder that every user of this machine may write".to_owned())
}

/// Returns which other user owns a file or a link, as text for an error. `None` if it is this user or root.
#[cfg(unix)]
pub(super) fn who_else_owns(file: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let owner = file.uid();
    let is_other = owner != 0 && owner != rustix::process::geteuid().as_raw();
    is_other.then(|| format!("belongs to another user (number {owner})"))
}

/// Other systems have no such permissions.
#[cfg(not(unix))]
pub(super) fn who_else_owns(_: &Metadata) -> Option<String> {
    None
}

/// Other systems have no such permissions.
#[cfg(not(unix))]
pub(super) fn who_else_writes(_: &Metadata, _: Option<&Metadata>) -> Option<String> {
    None
}
