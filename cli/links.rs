//! Links that may lead a run astray. In a folder where everybody may make files, such as `/tmp`,
//! another user can put a link in the place of a result, so that a file of whoever runs the program
//! is replaced. Linux follows no such link where `fs.protected_symlinks` is set, but only while it
//! opens a path; what a link leads to is asked for here, and on every system.

#[cfg(unix)]
pub(crate) use unix::check_owners;

/// Elsewhere files have no owners to compare.
#[cfg(not(unix))]
pub(crate) fn check_owners(_: &std::path::Path) -> anyhow::Result<()> {
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, Metadata};
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;

    use anyhow::anyhow;

    use crate::files;

    /// As many links as Linux follows.
    const LINKS: usize = 40;

    /// What both bits of a folder's mode make it: everybody may write there (`o+w`), and remove
    /// only files of their own (`+t`).
    const SHARED: u32 = 0o1002;

    /// Refuses a path of which another user may have laid a link.
    ///
    /// # Errors
    /// A link on the way belongs neither to the user nor to the owner of the shared folder in which
    /// it is.
    pub(crate) fn check_owners(path: &Path) -> anyhow::Result<()> {
        let user = rustix::process::geteuid().as_raw();
        let mut path = path.to_owned();
        // Link by link: one of the user's own may lead to one of somebody else's.
        for _ in 0..LINKS {
            let folder = files::folder_of(&path).to_owned();
            let (Ok(link), Ok(around), Ok(leads_to)) = (
                fs::symlink_metadata(&path),
                fs::metadata(&folder),
                fs::read_link(&path),
            ) else {
                return Ok(());
            };
            if !may_follow(&link, &around, user) {
                return Err(anyhow!(
                    "it is, or leads to, a link that another user put into the shared folder `{}`, and that may lead to any file of yours; name another file",
                    folder.display()
                ));
            }
            path = folder.join(leads_to);
        }
        Ok(())
    }

    /// The rule of Linux (`fs.protected_symlinks`), for the last link of a path.
    fn may_follow(link: &Metadata, folder: &Metadata, user: u32) -> bool {
        is_trusted(link.uid(), folder.uid(), folder.mode(), user)
    }

    const fn is_trusted(link_owner: u32, folder_owner: u32, folder_mode: u32, user: u32) -> bool {
        let is_shared = folder_mode & SHARED == SHARED;
        !is_shared || link_owner == user || link_owner == folder_owner
    }

    #[cfg(test)]
    mod tests {
        use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};

        use super::*;

        #[test]
        fn a_link_in_a_shared_folder_is_trusted_by_its_owner_alone() {
            let (root, user, other) = (0, 1000, 1001);
            let shared = 0o041_777;
            assert!(!is_trusted(other, root, shared, user));
            assert!(!is_trusted(user, root, shared, other));
            assert!(!is_trusted(other, root, shared, root));
            assert!(is_trusted(user, root, shared, user));
            // Who has the folder can put anything there anyway.
            assert!(is_trusted(root, root, shared, user));
            assert!(is_trusted(other, other, shared, user));
            // Not everybody can write there, or everybody can replace what is there.
            assert!(is_trusted(other, root, 0o041_775, user));
            assert!(is_trusted(other, root, 0o040_777, user));
        }

        #[test]
        fn check_owners_looks_at_every_link_of_the_way() {
            let folder = tempfile::tempdir().expect("a folder");
            let shared = folder.path().join("shared");
            fs::create_dir(&shared).expect("is made");
            fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).expect("is set");
            let file = folder.path().join("file");
            fs::write(&file, "mine").expect("is written");
            let (own, first) = (shared.join("own"), folder.path().join("first"));
            symlink(&file, &own).expect("a link");
            symlink("shared/own", &first).expect("a link");
            for path in [&file, &own, &first, &shared.join("new")] {
                assert!(check_owners(path).is_ok(), "{}", path.display());
            }
            // Only root may give a link away.
            if lchown(&own, Some(12_345), None).is_ok() {
                for path in [&own, &first] {
                    let error = check_owners(path).expect_err("it is another user's");
                    let told = error.to_string();
                    assert!(told.contains("a link that another user put into"), "{told}");
                }
            }
        }
    }
}
