//! Checks that only root can have put a file in its place.
//!
//! It reads only owners and modes.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Write permission for everybody.
const OTHERS_WRITE: u32 = 0o002;
/// In a directory with this bit only an entry's owner can remove or replace it, as in /tmp. The first root of a booting
/// kernel has it.
const STICKY: u32 = 0o1000;

/// Reason why `path` might be another user's; `None` if it and every directory above it, links
/// followed, belong to root and are closed to everybody else. A group that root has let in is
/// root's choice (Debian's `staff` in /usr/local).
pub(crate) fn distrusted(path: &Path) -> Option<String> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) => return Some(format!("{} can't be looked at: {error}", path.display())),
    };
    // In a user namespace the owner of the system's files can be a number without a user.
    let system = Path::new("/").metadata().map_or(0, |data| data.uid());
    real.ancestors().find_map(|part| {
        let named = part.display();
        match part.metadata() {
            Err(error) => Some(format!("{named} can't be looked at: {error}")),
            Ok(data) if data.uid() != 0 && data.uid() != system => {
                Some(format!("{named} belongs to user {}", data.uid()))
            }
            Ok(data)
                if data.mode() & OTHERS_WRITE != 0
                    && !(data.is_dir() && data.mode() & STICKY != 0) =>
            {
                Some(format!("others may write to {named}"))
            }
            Ok(_) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn the_system_s_programs_are_root_s() {
        assert_eq!(distrusted(Path::new("/bin/sh")), None);
    }

    #[test]
    fn a_directory_that_others_may_write_to_is_trusted_only_if_entries_are_their_owner_s() {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("program");
        fs::write(&program, "").unwrap();
        let with = |mode| {
            fs::set_permissions(place.path(), fs::Permissions::from_mode(mode)).unwrap();
            distrusted(&program)
        };
        // Tests of another user have files of another user.
        let why = with(0o1777);
        assert!(
            why.as_ref()
                .is_none_or(|why| why.contains("belongs to user")),
            "{why:?}"
        );
        let why = with(0o777).unwrap();
        assert!(why.contains("others may write to"), "{why}");
    }

    #[test]
    fn a_link_is_trusted_as_what_it_leads_to() {
        let place = tempfile::tempdir().unwrap();
        let link = place.path().join("sh");
        symlink("/bin/sh", &link).unwrap();
        assert_eq!(distrusted(&link), None);
        let own = place.path().join("own");
        fs::write(&own, "").unwrap();
        fs::set_permissions(&own, fs::Permissions::from_mode(0o777)).unwrap();
        fs::remove_file(&link).unwrap();
        symlink(&own, &link).unwrap();
        let why = distrusted(&link).unwrap();
        assert!(why.ends_with("own"), "{why}");
    }
}
