//! In the guest: waits for the kernel's own clock, which may be a provisional one for the first second. A run
//! in which the clock changes is invalid.

use std::fs;
use std::path::Path;
use std::time::Duration;

const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// Linux has it until it has measured the other one (arch/x86/kernel/tsc.c).
const PROVISIONAL: &str = "tsc-early";
/// Between two looks; the guest idles, which takes the host no time.
const LOOK: Duration = Duration::from_millis(10);
/// A kernel that does not change within 5 s never will.
const LOOKS: usize = 500;

/// Returns once the clock is no provisional one, or won't change.
pub(super) fn wait_for_the_last_one() {
    let mut looks = 0;
    while is_provisional(Path::new(CURRENT)) && looks < LOOKS {
        looks += 1;
        std::thread::sleep(LOOK);
    }
}

fn is_provisional(current: &Path) -> bool {
    fs::read_to_string(current).is_ok_and(|name| name.trim() == PROVISIONAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_provisional_clock_alone_is_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let current = place.path().join("current_clocksource");
        assert!(!is_provisional(&current), "a kernel that has no such file");
        for (name, is_it) in [("tsc-early\n", true), ("tsc\n", false), ("hpet\n", false)] {
            fs::write(&current, name).unwrap();
            assert_eq!(is_provisional(&current), is_it, "{name}");
        }
    }
}
