//! Names of functions that a program made while it ran, from the file that interpreters and just-in-time compilers
//! write for perf: `/tmp/perf-PID.map`, one `START SIZE NAME` a line.

use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::Read;

/// More than any program has written.
const MOST_BYTES: u64 = 64 << 20;

/// A script's function without a name, as its debugger shows it.
const ANONYMOUS: &str = "(anonymous)";

/// Functions by address.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Generated(Vec<(u64, u64, String)>);

impl Generated {
    /// Those of a process, which may be in a container, and may have ended.
    pub(crate) fn new(process: u32) -> Self {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let inside = inside(&status).unwrap_or(process);
        let candidates = [
            format!("/proc/{process}/root/tmp/perf-{inside}.map"),
            format!("/tmp/perf-{process}.map"),
        ];
        let mut texts = candidates.iter().filter_map(|path| read(path));
        texts
            .next()
            .map(|text| Self::parse(&text))
            .unwrap_or_default()
    }

    fn parse(text: &[u8]) -> Self {
        let lines = text.split(|&byte| byte == b'\n').filter_map(|line| {
            let line = std::str::from_utf8(line).ok()?;
            let mut words = line.splitn(3, ' ');
            let mut number =
                || u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok();
            let (start, size) = (number()?, number()?);
            Some((
                start,
                start.checked_add(size)?,
                words.next()?.trim().to_owned(),
            ))
        });
        let named = lines.filter(|(.., name)| !name.is_empty());
        let mut functions: Vec<(u64, u64, String)> = named.collect();
        // Stable: of code that was replaced the last line counts.
        functions.sort_by_cached_key(|(start, ..)| *start);
        Self(functions)
    }

    /// The function at an address.
    pub(crate) fn name(&self, address: u64) -> Option<&str> {
        let after = self.0.partition_point(|(start, ..)| *start <= address);
        let (_, end, name) = self.0.get(after.checked_sub(1)?)?;
        (address < *end).then_some(name)
    }
}

/// A file in a directory in which anybody can make links and pipes: it is read through none.
fn read(path: &str) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let is_file = |of: &std::fs::Metadata| of.is_file() && of.len() <= MOST_BYTES;
    file.metadata().ok().filter(is_file)?;
    let mut text = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut text).ok()?;
    Some(text)
}

/// The number that a process has in its own container.
fn inside(status: &str) -> Option<u32> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().next_back()?.parse().ok()
}

/// A name as it is written for perf, as function and file: Python's `py::write:/srv/loop.py`, Node's
/// `JS:*write /srv/loop.js:3:5`.
pub(crate) fn function_and_file(name: &str) -> (String, Option<String>, Option<u32>) {
    if let Some((function, file)) = name
        .strip_prefix("py::")
        .and_then(|of| of.rsplit_once(":/"))
    {
        // `py::<module>` and its kind stay recognisable.
        let function = if function.starts_with('<') {
            format!("py::{function}")
        } else {
            function.to_owned()
        };
        return (function, Some(format!("/{file}")), None);
    }
    let script = ["JS:", "LazyCompile:", "Function:"];
    if let Some(rest) = script.iter().find_map(|of| name.strip_prefix(of)) {
        let rest = rest.trim_start_matches(['*', '~', '^', '+']);
        let (function, place) = rest.split_once(' ').unwrap_or((rest, ""));
        let mut parts = place.rsplitn(3, ':');
        let (_column, line, file) = (parts.next(), parts.next(), parts.next());
        let line = line.and_then(|line| line.parse().ok());
        let file = file.map(|file| file.trim_start_matches("file://").to_owned());
        let function = if function.is_empty() {
            ANONYMOUS
        } else {
            function
        };
        return (function.to_owned(), file.filter(|of| !of.is_empty()), line);
    }
    (name.to_owned(), None, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_around_an_address_is_named() {
        let text =
            b"7f00 10 py::write:/srv/loop.py\nnonsense\n0x7f20 8 Lorg/Robot;::step\n7f20 8 again\n";
        let found = Generated::parse(text);
        assert_eq!(found.name(0x7f0f), Some("py::write:/srv/loop.py"));
        assert_eq!(found.name(0x7f10), None);
        assert_eq!(found.name(0x7f21), Some("again"));
        assert_eq!(found.name(0x10), None);
        assert_eq!(inside("Name:\tx\nNSpid:\t4711\t12\n"), Some(12));
    }

    #[test]
    fn names_for_perf_are_taken_apart() {
        let of = |name: &str| function_and_file(name);
        let python = of("py::Robot.write:/srv/loop.py");
        assert_eq!(
            python,
            ("Robot.write".into(), Some("/srv/loop.py".into()), None)
        );
        assert_eq!(of("py::<module>:/srv/loop.py").0, "py::<module>");
        let script = of("JS:*write file:///srv/loop.js:3:5");
        assert_eq!(
            script,
            ("write".into(), Some("/srv/loop.js".into()), Some(3))
        );
        let nameless = of("JS:~ file:///srv/loop.js:5:13");
        let expected = ("(anonymous)".into(), Some("/srv/loop.js".into()), Some(5));
        assert_eq!(nameless, expected);
        assert_eq!(of("Lorg/Robot;::step").0, "Lorg/Robot;::step");
    }
}
