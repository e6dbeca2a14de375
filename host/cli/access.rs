//! Who may reach a file that takes the place of another: those who might before, or fewer.

#[cfg(unix)]
pub(crate) use unix::keep;

/// Gives `file` the permissions of the one that it will replace.
#[cfg(not(unix))]
pub(crate) fn keep(
    file: &std::fs::File,
    _: &std::path::Path,
    before: &std::fs::Metadata,
) -> std::io::Result<()> {
    file.set_permissions(before.permissions())
}

#[cfg(unix)]
mod unix {
    use std::fs::{File, Metadata, Permissions};
    use std::io;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    use std::path::Path;

    #[cfg(target_os = "linux")]
    use super::list;

    /// Gives `file`, which is its owner's alone, the owner, the group, the permissions and the
    /// access list of the file at `place`, which it will replace. Only root gives files away; what
    /// cannot be kept lets nobody in who was out before.
    pub(crate) fn keep(file: &File, place: &Path, before: &Metadata) -> io::Result<()> {
        let group = Some(before.gid());
        let _ = fchown(file, Some(before.uid()), group).or_else(|_| fchown(file, None, group));
        let now = file.metadata()?;
        let is_group_kept = now.gid() == before.gid();
        let mut mode = mode(before.mode(), now.uid() == before.uid(), is_group_kept);
        if !list::keep(file, place, is_group_kept) {
            mode &= 0o700;
        }
        // After the owner, of which a change takes some.
        file.set_permissions(Permissions::from_mode(mode))
    }

    /// The permissions that are left of these.
    const fn mode(before: u32, is_owner_kept: bool, is_group_kept: bool) -> u32 {
        let mut mode = before & 0o7777;
        if !(is_owner_kept && is_group_kept) {
            // It would run as somebody else.
            mode &= 0o777;
        }
        if !is_group_kept {
            // Nothing for another group; and the members of the one before are among all others
            // now, who get no more than these had.
            let group = (mode & 0o070) >> 3;
            mode = (mode & 0o700) | (mode & group);
        }
        mode
    }

    #[cfg(not(target_os = "linux"))]
    mod list {
        use std::fs::File;
        use std::path::Path;

        /// Only permissions are kept on other systems.
        pub(super) const fn keep(_: &File, _: &Path, _: bool) -> bool {
            true
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn no_mode_lets_in_who_was_out_before() {
            for (before, is_owner_kept, is_group_kept, after) in [
                (0o100_640, true, true, 0o640),
                (0o102_755, true, true, 0o2755),
                // A special bit stands for an owner or group.
                (0o104_755, false, true, 0o755),
                (0o102_775, true, false, 0o705),
                // The group is another one.
                (0o640, true, false, 0o600),
                (0o664, true, false, 0o604),
                (0o664, false, false, 0o604),
                // What was the group's is now the others', and was denied to the group.
                (0o604, true, false, 0o600),
                (0o666, true, false, 0o606),
            ] {
                let mode = mode(before, is_owner_kept, is_group_kept);
                assert_eq!(mode, after, "{before:o}, {is_owner_kept}, {is_group_kept}");
            }
        }
    }
}

/// POSIX access lists, which the system keeps beside the permissions.
#[cfg(target_os = "linux")]
mod list {
    use std::fs::File;
    use std::path::Path;

    use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr, getxattr};
    use rustix::io::Errno;

    const NAME: &str = "system.posix_acl_access";

    /// The most bytes that the system keeps of one.
    const MOST: usize = 64 << 10;

    /// Gives `file` the list of the file at `place`, or removes its list if that file has none. Returns false
    /// if that fails: the permissions alone would then let in others than before.
    pub(super) fn keep(file: &File, place: &Path, is_group_kept: bool) -> bool {
        let mut list = vec![0_u8; MOST];
        match getxattr(place, NAME, &mut list[..]) {
            // One of its entries is of the group, whichever that is.
            Ok(size) => {
                let set = || fsetxattr(file, NAME, &list[..size], XattrFlags::empty());
                is_group_kept && set().is_ok()
            }
            // A new file may have got one from its folder.
            Err(error) if is_absence(error) => match fgetxattr(file, NAME, &mut list[..]) {
                Ok(_) => fremovexattr(file, NAME).is_ok(),
                Err(error) => is_absence(error),
            },
            Err(_) => false,
        }
    }

    /// There is none, or there are none on this file system.
    fn is_absence(error: Errno) -> bool {
        error == Errno::NODATA || error == Errno::NOTSUP
    }

    #[cfg(test)]
    #[allow(clippy::print_stdout, reason = "a test that is skipped says so")]
    mod tests {
        use std::fs;
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

        use rustix::fs::setxattr;

        use super::*;

        /// Everything for the owner, reading for `user`, nothing for anybody else.
        fn list_of(user: u32) -> Vec<u8> {
            const NOBODY: u32 = u32::MAX;
            let mut list = 2_u32.to_le_bytes().to_vec();
            for (tag, permissions, id) in [
                (0x01_u16, 6_u16, NOBODY),
                (0x02, 4, user),
                (0x04, 0, NOBODY),
                (0x10, 4, NOBODY),
                (0x20, 0, NOBODY),
            ] {
                list.extend(tag.to_le_bytes());
                list.extend(permissions.to_le_bytes());
                list.extend(id.to_le_bytes());
            }
            list
        }

        fn get(file: &File) -> Option<Vec<u8>> {
            let mut list = vec![0_u8; MOST];
            let size = fgetxattr(file, NAME, &mut list[..]).ok()?;
            list.truncate(size);
            Some(list)
        }

        #[test]
        fn the_access_list_is_kept_and_none_comes_from_the_folder() {
            let folder = tempfile::tempdir().expect("a folder");
            let make = |name: &str| File::create(folder.path().join(name)).expect("a file");
            let (listed, plain) = (make("listed"), make("plain"));
            let mode = |file: &File| file.metadata().expect("there").mode() & 0o777;
            plain
                .set_permissions(fs::Permissions::from_mode(0o640))
                .expect("is set");
            let list = list_of(plain.metadata().expect("there").uid());
            let default = "system.posix_acl_default";
            if fsetxattr(&listed, NAME, &list, XattrFlags::empty()).is_err()
                || setxattr(folder.path(), default, &list, XattrFlags::empty()).is_err()
            {
                println!("skipped: the file system has no access lists");
                return;
            }
            let wanted = get(&listed);
            assert!(wanted.is_some());
            for (name, before, wanted) in [("listed", listed, wanted), ("plain", plain, None)] {
                let file = make(&format!("new-{name}"));
                assert!(get(&file).is_some(), "it has one from the folder");
                let place = folder.path().join(name);
                let metadata = before.metadata().expect("there");
                super::super::keep(&file, &place, &metadata).expect("is kept");
                assert_eq!(get(&file), wanted, "{name}");
                assert_eq!(mode(&file), 0o640, "{name}");
            }
        }

        #[test]
        fn a_list_that_cannot_be_read_or_kept_leaves_the_file_its_owners_alone() {
            let folder = tempfile::tempdir().expect("a folder");
            let before = File::create(folder.path().join("before")).expect("a file");
            before
                .set_permissions(fs::Permissions::from_mode(0o664))
                .expect("is set");
            let file = File::create(folder.path().join("file")).expect("a file");
            let metadata = before.metadata().expect("there");
            // Nothing is there to have one.
            let gone = folder.path().join("gone");
            super::super::keep(&file, &gone, &metadata).expect("is kept");
            let mode = file.metadata().expect("there").mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
