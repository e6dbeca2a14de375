//! Links that may lead a run astray. In a folder where everybody may make files, such as `/tmp`,
//! another user can put a link in the place of a result, so that a file of whoever runs the program
//! is replaced. Linux follows no such link where `fs.protected_symlinks` is set, but only if it is the
//! last name of a path, and only while it opens that. So every link of the way is followed here, once, and what
//! is written goes to where it led then, whatever somebody makes of the links meanwhile.

#[cfg(unix)]
pub(crate) use unix::followed;

/// Elsewhere files have no owners to compare.
#[cfg(not(unix))]
pub(crate) fn followed(path: &std::path::Path) -> anyhow::Result<std::path::PathBuf> {
    Ok(crate::files::place(path).unwrap_or_else(|| path.to_owned()))
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsString;
    use std::fs::{self, Metadata};
    use std::os::unix::fs::MetadataExt as _;
    use std::path::{Component, Path, PathBuf};

    use anyhow::anyhow;

    use crate::files;

    /// As many links as Linux follows.
    const LINKS: usize = 40;

    /// What both bits of a folder's mode make it: everybody may write there (`o+w`), and remove
    /// only files of their own (`+t`).
    const SHARED: u32 = 0o1002;

    /// Returns the path with its links resolved, those of its folders included. No file has to be there.
    ///
    /// # Errors
    /// A link on the way belongs neither to the user nor to the owner of the shared folder in which it is, or
    /// there are too many links.
    pub(crate) fn followed(path: &Path) -> anyhow::Result<PathBuf> {
        let user = rustix::process::geteuid().as_raw();
        let mut place = start(path);
        let mut names = names(path);
        let mut links = 0;
        while let Some(name) = names.pop() {
            if name == ".." {
                if place.file_name().is_some() && place.is_dir() {
                    place.pop();
                } else {
                    place.push("..");
                }
                continue;
            }
            let next = place.join(name);
            let folder = files::folder_of(&next);
            let (Ok(link), Ok(leads_to)) = (fs::symlink_metadata(&next), fs::read_link(&next))
            else {
                place = next;
                continue;
            };
            if fs::metadata(folder).is_ok_and(|folder| !may_follow(&link, &folder, user)) {
                return Err(anyhow!(
                    "it is, or leads through, a link that another user put into the shared folder `{}`, and that may lead to any file of yours; name another file",
                    folder.display()
                ));
            }
            links += 1;
            if links > LINKS {
                return Err(anyhow!(
                    "it is a link that leads to no file, through more than {LINKS} links; name the file itself"
                ));
            }
            if leads_to.is_absolute() {
                place = start(&leads_to);
            }
            names.extend(self::names(&leads_to));
        }
        Ok(place)
    }

    /// Where the names of a path begin.
    fn start(path: &Path) -> PathBuf {
        PathBuf::from(if path.is_absolute() { "/" } else { "" })
    }

    /// The names of a path, the first one last.
    fn names(path: &Path) -> Vec<OsString> {
        let names = path
            .components()
            .rev()
            .filter_map(|component| match component {
                Component::Normal(name) => Some(name.to_owned()),
                Component::ParentDir => Some("..".into()),
                Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
            });
        names.collect()
    }

    /// The rule of Linux (`fs.protected_symlinks`).
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
        fn every_link_of_the_way_is_followed() {
            let folder = tempfile::tempdir().expect("a folder");
            let root = folder.path().canonicalize().expect("it is there");
            let (shared, real) = (root.join("shared"), root.join("real"));
            for new in [&shared, &real, &real.join("inner")] {
                fs::create_dir(new).expect("is made");
            }
            fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).expect("is set");
            let file = real.join("file");
            fs::write(&file, "mine").expect("is written");
            symlink(&file, shared.join("own")).expect("a link");
            symlink("shared/own", root.join("first")).expect("a link");
            symlink("../real", shared.join("folder")).expect("a link");
            symlink(root.join("round"), root.join("round")).expect("a link");
            for (path, place) in [
                ("real/file", "real/file"),
                ("shared/own", "real/file"),
                ("first", "real/file"),
                ("shared/new", "shared/new"),
                // No file is there, and the folder is a link.
                ("shared/folder/new", "real/new"),
                ("./shared/folder/./inner/../new", "real/new"),
                // Back from where the link leads, not from where it is.
                ("shared/folder/../new", "new"),
                ("none/new", "none/new"),
            ] {
                let followed = followed(&root.join(path)).expect("nobody else's link");
                assert_eq!(followed, root.join(place), "{path}");
            }
            assert_eq!(
                followed(Path::new("../a/b")).expect("no link"),
                Path::new("../a/b")
            );
            let error = followed(&root.join("round")).expect_err("it has no end");
            assert!(error.to_string().contains("links"), "{error}");
            // Only root may give a link away.
            if lchown(shared.join("own"), Some(12_345), None).is_ok() {
                lchown(shared.join("folder"), Some(12_345), None).expect("the same");
                for path in [
                    "shared/own",
                    "first",
                    "shared/folder/new",
                    "shared/folder/inner/new",
                ] {
                    let error = followed(&root.join(path)).expect_err("it is another user's");
                    let told = error.to_string();
                    assert!(told.contains("a link that another user put into"), "{told}");
                }
            }
        }
    }
}
