//! Recognises paths by their distinguishing ends: `lock/held.rs` is enough if no other path ends so.

/// Returns the shortest end of `path`, in whole components, that no other of `paths` has. A longer or shorter
/// form of the same path does not count as another.
pub(crate) fn distinguishing_end<'p>(
    path: &'p str,
    paths: impl Iterator<Item = &'p str> + Clone,
) -> &'p str {
    let starts = path
        .rmatch_indices('/')
        .map(|(slash, _)| slash + 1)
        .chain([0]);
    let others = paths.filter(|other| !ends_with(path, other) && !ends_with(other, path));
    for start in starts {
        let end = &path[start..];
        let is_shared = |other: &str| ends_with(other, end);
        if !end.is_empty() && !others.clone().any(is_shared) {
            return end;
        }
    }
    path
}

/// Whether a path ends with these components.
pub(crate) fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Whether a text contains this end of a path, and not only as a part of a longer component.
pub(crate) fn is_in(text: &str, end: &str) -> bool {
    text.match_indices(end).any(|(start, found)| {
        let before = text[..start].chars().next_back();
        let mut after = text[start + found.len()..].chars();
        let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let ends = match after.next() {
            Some('.') => !after.next().is_some_and(char::is_alphanumeric),
            Some(next) => !joins(next) && next != '/',
            None => true,
        };
        ends && !before.is_some_and(|before| joins(before) || before == '.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_distinguishes_a_path_from_all_others() {
        let paths = [
            "/srv/quay/src/lock.rs",
            "src/lock.rs",
            "/srv/quay/tests/lock.rs",
            "Cargo.toml",
            "oven/Cargo.toml",
        ];
        let end = |path| distinguishing_end(path, paths.into_iter());
        assert_eq!(end("/srv/quay/src/lock.rs"), "src/lock.rs");
        assert_eq!(end("/srv/quay/tests/lock.rs"), "tests/lock.rs");
        assert_eq!(end("src/lock.rs"), "src/lock.rs");
        // The other one may be the same file.
        assert_eq!(end("oven/Cargo.toml"), "Cargo.toml");
    }

    #[test]
    fn an_end_is_found_as_whole_components_only() {
        assert!(is_in("edited src/lock.rs.", "lock.rs"));
        assert!(is_in("- lock.rs: read", "lock.rs"));
        assert!(!is_in("clock.rs, lock.rs.bak, lock.rs/x", "lock.rs"));
    }
}
