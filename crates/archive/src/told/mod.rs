//! Telemetry, markers and log lines of the user's loops.
//!
//! Times of sections and due times of a foreign clock are in a file for each segment
//! (`segment-3.told`), lines and values in one for the run (`loop-log.jsonl`). It stores them
//! without interpretation.

mod lines;
mod reader;
mod writer;

pub use lines::{LINES_NAME, LineSaid, LinesWriter, LoopLine, read_lines};
pub use reader::{SegmentTold, Span, ThreadTold};
pub use writer::{Told, ToldWriter};

/// Name of a segment's file in a run directory: `segment-3.told`.
pub fn told_name(segment: u32) -> String {
    format!("segment-{segment}.told")
}

/// The segment of a file with that name, if it is a segment's.
pub(crate) fn segment_of(name: &str) -> Option<u32> {
    let number = name.strip_prefix("segment-")?.strip_suffix(".told")?;
    let number: u32 = number.parse().ok()?;
    (told_name(number) == name).then_some(number)
}

/// First bytes of every file of a segment.
const MAGIC: [u8; 8] = *b"WAKETLD\n";
/// Kind of a block of records; not 2, as for events.
const KIND_TOLD: u8 = 5;
/// Longest payload of a block before it is written.
const MAX_PAYLOAD: usize = 256 * 1024;

const NAME: u8 = 1;
const SPAN: u8 = 2;
const DUE: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_directory::{Directory, Trust};

    fn place() -> (tempfile::TempDir, Directory) {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::to_write(place.path(), Trust::Own).unwrap();
        (place, directory)
    }

    fn write(directory: &Directory) {
        let mut writer = ToldWriter::create_in(directory, 3).unwrap();
        let name = |thread, section, name: &str| Told::Name {
            thread,
            section,
            name: name.into(),
        };
        writer.append(&name(0, 0, "read")).unwrap();
        writer.append(&name(1, 0, "write")).unwrap();
        for cycle in 0..2_000 {
            let from_ns = 5_000_000_000 + cycle * 1_000_000;
            writer
                .append(&Told::Span {
                    thread: (cycle % 2) as u16,
                    section: 0,
                    cycle,
                    from_ns,
                    to_ns: from_ns + 700 + cycle,
                })
                .unwrap();
            let due_ns = from_ns - 40;
            writer
                .append(&Told::Due {
                    thread: 1,
                    cycle,
                    due_ns,
                })
                .unwrap();
            if cycle % 500 == 499 {
                writer.flush().unwrap();
            }
        }
        writer.sync().unwrap();
    }

    #[test]
    fn what_was_told_is_read_back_by_thread() {
        let (place, directory) = place();
        write(&directory);
        let told = SegmentTold::read(place.path(), 3).unwrap().unwrap();
        assert!(told.is_whole);
        let first = &told.threads[&0];
        assert_eq!((&*first.names[0], first.spans.len()), ("read", 1_000));
        let span = first.spans[999];
        assert_eq!(
            (span.cycle, span.section, span.to_ns - span.from_ns),
            (1_998, 0, 2_698)
        );
        let second = &told.threads[&1];
        assert_eq!(second.dues.len(), 2_000);
        assert_eq!(
            second.due_ns(1_999),
            Some(5_000_000_000 + 1_999_000_000 - 40)
        );
        assert_eq!(second.due_ns(2_000), None);
        assert!(SegmentTold::read(place.path(), 4).unwrap().is_none());
    }

    #[test]
    fn a_file_that_was_cut_or_damaged_is_read_as_far_as_it_is_whole() {
        let (place, directory) = place();
        write(&directory);
        let path = place.path().join(told_name(3));
        let bytes = std::fs::read(&path).unwrap();
        for cut in [16, 17, bytes.len() / 2, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let told = SegmentTold::read(place.path(), 3).unwrap().unwrap();
            assert!(
                told.threads.values().all(|of| of.dues.len() < 2_000),
                "{cut}"
            );
            assert_eq!(told.is_whole, cut == 16, "{cut}");
        }
        for at in (16..bytes.len()).step_by(97) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x40;
            std::fs::write(&path, &changed).unwrap();
            let told = SegmentTold::read(place.path(), 3).unwrap().unwrap();
            assert!(!told.is_whole, "{at}");
        }
        std::fs::write(&path, b"something else").unwrap();
        assert!(SegmentTold::read(place.path(), 3).is_err());
    }

    #[test]
    fn lines_are_kept_up_to_a_bound_and_those_beyond_it_counted() {
        let (place, directory) = place();
        let mut writer = LinesWriter::create_in(&directory, 1_000).unwrap();
        let line = |cycle| LoopLine {
            segment: 0,
            thread: 1,
            cycle,
            at_ns: 77,
            said: match cycle % 2 {
                0 => LineSaid::Text("a \u{1b}[2J line".into()),
                _ => LineSaid::Value {
                    name: "height".into(),
                    is: f64::NAN,
                },
            },
        };
        for cycle in 0..100 {
            writer.append(&line(cycle)).unwrap();
        }
        writer.flush().unwrap();
        let mut found = Vec::new();
        let whole = read_lines(place.path(), |line| found.push(line)).unwrap();
        assert!(whole && found.len() > 5, "{} lines", found.len());
        assert_eq!(found.len() as u64 + writer.left_out(), 100);
        // No line controls a terminal, whatever its author wrote.
        let LineSaid::Text(text) = &found[0].said else {
            panic!("{found:?}")
        };
        assert!(!text.contains('\u{1b}'), "{text:?}");
        let path = place.path().join(LINES_NAME);
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes.len() <= 1_000);
        std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        let mut fewer = 0;
        assert!(!read_lines(place.path(), |_| fewer += 1).unwrap());
        assert_eq!(fewer, found.len() - 1);
    }
}
