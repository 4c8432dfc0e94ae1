//! A guest's canary: after each segment, a line on the console with a digest of the recording so
//! far.
//!
//! Guests that should be the same are stopped at the first line that differs. Pure. `divergence`
//! compares their complete samples.

use sha2::{Digest, Sha256};

/// Prefix of the line.
const CANARY: &str = "wakepath-lab: canary ";

/// In the guest: a running hash of the recorded samples.
#[derive(Debug, Clone, Default)]
pub struct Canary {
    hashed: Sha256,
    segments: u32,
}

impl Canary {
    /// The line after a segment; `recorded` is the data since the previous line.
    pub fn after_a_segment(&mut self, recorded: &[u8]) -> String {
        self.hashed.update(recorded);
        self.segments += 1;
        let digest = self.hashed.clone().finalize();
        let digest: String = digest[..8].iter().map(|b| format!("{b:02x}")).collect();
        format!("{CANARY}{} {digest}", self.segments)
    }
}

/// Whether a line of a console is a canary's.
pub fn is_canary(line: &str) -> bool {
    line.starts_with(CANARY)
}

/// On the host: compares a guest's lines with those of an earlier run of the same guest.
#[derive(Debug, Clone)]
pub struct AsBefore {
    lines: Vec<String>,
    heard: usize,
}

/// A canary that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parted {
    /// Number of the segment that it follows, from 1.
    pub segment: usize,
    /// The earlier run's value, or a note that it had none.
    pub before: String,
    /// This run's value.
    pub now: String,
}

impl AsBefore {
    /// The canary in this console, if any: older versions of wakepath wrote none.
    pub fn new(console: &str) -> Option<Self> {
        let lines = console.lines().map(str::trim_end);
        let lines: Vec<String> = lines
            .filter(|line| is_canary(line))
            .map(str::to_owned)
            .collect();
        (!lines.is_empty()).then_some(Self { lines, heard: 0 })
    }

    /// Compares a line of the current console.
    ///
    /// # Errors
    /// [`Parted`] if the line has a canary that differs from the earlier one.
    pub fn hear(&mut self, line: &str) -> Result<(), Parted> {
        if !is_canary(line) {
            return Ok(());
        }
        let before = self.lines.get(self.heard).map_or("", String::as_str);
        self.heard += 1;
        if before == line {
            return Ok(());
        }
        let digest = |line: &str| match line.rsplit_once(' ') {
            Some((_, digest)) => digest.to_owned(),
            None => "none".to_owned(),
        };
        Err(Parted {
            segment: self.heard,
            before: digest(before),
            now: digest(line),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canary_is_of_all_that_was_recorded_however_it_came() {
        let (mut one, mut other) = (Canary::default(), Canary::default());
        let first = one.after_a_segment(b"abc");
        // FIPS 180-2, appendix B.1: the first eight bytes.
        assert_eq!(first, "wakepath-lab: canary 1 ba7816bf8f01cfea");
        other.after_a_segment(b"a");
        assert_eq!(
            other.after_a_segment(b"bc"),
            "wakepath-lab: canary 2 ba7816bf8f01cfea"
        );
        assert_ne!(one.after_a_segment(b""), other.after_a_segment(b"\0"));
    }

    #[test]
    fn the_same_guest_is_heard_to_its_end_and_another_parts_at_its_segment() {
        let mut canary = Canary::default();
        let lines: Vec<String> = [b"a", b"b", b"c"]
            .iter()
            .map(|recorded| canary.after_a_segment(*recorded))
            .collect();
        // As a serial console writes them, among others.
        let console = format!("booting\r\n{}\r\n[ 1.0] reboot\r\n", lines.join("\r\n"));
        assert!(AsBefore::new("booting\r\n").is_none());
        let before = AsBefore::new(&console).unwrap();
        let mut same = before.clone();
        for line in [&["another".to_owned()], &lines[..]].concat() {
            assert_eq!(same.hear(&line), Ok(()));
        }
        let longer = same.hear(&lines[2]).unwrap_err();
        assert_eq!((longer.segment, &*longer.before), (4, "none"));
        let mut other = before;
        other.hear(&lines[0]).unwrap();
        let parted = other.hear(&lines[2]).unwrap_err();
        assert_eq!(parted.segment, 2);
        assert!(lines[1].ends_with(&parted.before) && lines[2].ends_with(&parted.now));
    }
}
