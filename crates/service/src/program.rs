//! On which boot of the machine a program is recorded.

use wakepath_timeline::one_line;

/// Which boot of the machine it is.
pub(crate) fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.map_or_else(|_| String::new(), |id| one_line(id.trim()))
}
