//! Whether threads have the same numbers here as in the kernel's events. In a container with its own PID
//! namespace the numbers differ, and can't be learned inside: a watch there would see no thread wake up, and
//! report that of a healthy program.

use std::path::Path;

/// The first PID namespace: `PROC_PID_INIT_INO` of `include/linux/proc_ns.h`.
const FIRST: &str = "pid:[4026531836]";

/// Threads here have other numbers than in the kernel's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "in this container threads have other numbers than in the kernel's events; watch from the host, or start \
     the container in the host's PID namespace (docker: --pid=host)"
)]
pub struct OtherNumbers;

/// # Errors
/// [`OtherNumbers`] in a PID namespace that is not the first.
pub fn has_the_kernels_numbers() -> Result<(), OtherNumbers> {
    of(Path::new("/proc/self/ns/pid"))
}

fn of(link: &Path) -> Result<(), OtherNumbers> {
    match std::fs::read_link(link) {
        Ok(namespace) if namespace.as_os_str() != FIRST => Err(OtherNumbers),
        // A kernel without namespaces has the first alone.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_namespace_is_told_from_the_first_and_from_none() {
        let place = tempfile::tempdir().unwrap();
        let link = |to: &str| {
            let path = place.path().join("pid");
            let _ = std::fs::remove_file(&path);
            std::os::unix::fs::symlink(to, &path).unwrap();
            of(&path)
        };
        assert_eq!(link("pid:[4026531836]"), Ok(()));
        assert_eq!(link("pid:[4026532177]"), Err(OtherNumbers));
        assert_eq!(of(&place.path().join("none")), Ok(()));
    }
}
