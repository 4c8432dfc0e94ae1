//! In the guest: waits until the kernel uses its final clock.
//!
//! The clock of the first second can be provisional. A run in which the clock changes is invalid.

use std::fs;
use std::path::Path;
use std::time::Duration;

const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// Linux uses it until it has measured the other one (arch/x86/kernel/tsc.c).
const PROVISIONAL: &str = "tsc-early";
/// Before Linux 4.17, which brought that, x86 kernels began with any other clock than this.
const LAST_OF_X86: &str = "tsc";
const FIRST_WITH_PROVISIONAL: (u32, u32) = (4, 17);
/// Time between two checks; the idle guest costs the host no time.
const LOOK: Duration = Duration::from_millis(10);
/// A kernel that does not change within 5 s never will.
const LOOKS: usize = 500;

/// Returns once the clock is final, or won't change.
pub(super) fn wait_for_the_last_one() {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let begins_otherwise =
        cfg!(target_arch = "x86_64") && version(&release) < FIRST_WITH_PROVISIONAL;
    let mut looks = 0;
    while is_provisional(Path::new(CURRENT), begins_otherwise) && looks < LOOKS {
        looks += 1;
        std::thread::sleep(LOOK);
    }
}

fn is_provisional(current: &Path, begins_otherwise: bool) -> bool {
    fs::read_to_string(current).is_ok_and(|name| {
        if begins_otherwise {
            name.trim() != LAST_OF_X86
        } else {
            name.trim() == PROVISIONAL
        }
    })
}

/// `4.9.30-litmus`: (4, 9).
fn version(release: &str) -> (u32, u32) {
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(|number| number.parse().unwrap_or(u32::MAX));
    (
        numbers.next().unwrap_or(u32::MAX),
        numbers.next().unwrap_or(0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_provisional_clock_alone_is_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let current = place.path().join("current_clocksource");
        assert!(!is_provisional(&current, false), "no such file");
        for (name, is_it) in [("tsc-early\n", true), ("tsc\n", false), ("hpet\n", false)] {
            fs::write(&current, name).unwrap();
            assert_eq!(is_provisional(&current, false), is_it, "{name}");
            assert_eq!(is_provisional(&current, true), name != "tsc\n", "{name}");
        }
        assert!(version("4.9.30-litmus") < FIRST_WITH_PROVISIONAL);
        assert!(version("6.1.0-18-amd64") > FIRST_WITH_PROVISIONAL);
        assert!(version("") > FIRST_WITH_PROVISIONAL);
    }
}
