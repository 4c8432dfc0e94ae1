//! Parses the answers of a board's script as untrusted input.
//!
//! It calls nobody.

use serde::{Deserialize, Serialize};
use wakepath_timeline::shortened;

/// A board's description of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hello {
    /// Its clock, seconds since 1970.
    pub time: u64,
    /// This boot of it.
    pub boot: String,
    /// Its architecture, as `uname -m`.
    pub arch: String,
    /// Its kernel.
    pub kernel: String,
    /// Free space for its runs, KiB.
    pub free_kib: u64,
    /// SHA-256 of the program that was pushed last.
    pub program: Option<String>,
    /// The job that measures now.
    pub measuring: Option<String>,
    /// Whether its account is restricted to the script's commands.
    pub is_restricted: bool,
    /// Programs that it lacks.
    pub lacks: Vec<String>,
}

/// A board's report on a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobState {
    /// How the job is.
    pub state: State,
    /// The board's clocks now.
    pub now: Clocks,
}

/// How a job is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The board doesn't know the job.
    Unknown,
    /// It measures.
    Measuring,
    /// It has ended.
    Ended {
        /// The program's exit code.
        code: u8,
        /// Room that was left then, KiB.
        free_kib: u64,
        /// When it began.
        begun: Clocks,
        /// When it ended.
        ended: Clocks,
    },
    /// Nobody measures, and no end was written.
    Gone {
        /// When it began.
        begun: Clocks,
        /// Room that is left, KiB.
        free_kib: u64,
    },
}

/// A board's clocks at one time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// Wall clock, seconds since 1970.
    pub time: u64,
    /// Seconds since it booted.
    pub up: u64,
    /// Which boot.
    pub boot: String,
}

/// A file of a run on a board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFile {
    /// SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// Size.
    pub bytes: u64,
    /// Name, from the job's directory on.
    pub name: String,
}

/// More files than this have no run.
const MOST_FILES: usize = 10_000;

/// Parses an answer; none if it is invalid: cut short, too long, or of another program.
pub fn hello(answer: &str) -> Option<Hello> {
    let mut found = Hello::default();
    let mut is_first = true;
    for line in whole(answer)? {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if is_first && (word, rest) != ("board", "1") {
            return None;
        }
        is_first = false;
        let text = || shortened(rest, 100);
        match word {
            "time" => found.time = rest.parse().ok()?,
            "boot" => found.boot = text(),
            "arch" => found.arch = text(),
            "kernel" => found.kernel = text(),
            "free" => found.free_kib = rest.parse().ok()?,
            "program" => found.program = Some(text()).filter(|program| is_digest(program)),
            "measuring" => found.measuring = Some(text()),
            "restricted" => found.is_restricted = true,
            "lacks" if found.lacks.len() < 10 => found.lacks.push(text()),
            _ => {}
        }
    }
    (!is_first && found.time > 0).then_some(found)
}

/// Parses the report on a job.
pub fn job_state(answer: &str) -> Option<JobState> {
    let (mut begun, mut state, mut now) = (Clocks::default(), None, None);
    for line in whole(answer)? {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["unknown"] => state = Some(State::Unknown),
            ["measuring"] => state = Some(State::Measuring),
            ["begun", ref rest @ ..] => begun = clocks(rest)?,
            ["ended", "code", code, "free", free, ref rest @ ..] => {
                state = Some(State::Ended {
                    code: code.parse().ok()?,
                    free_kib: free.parse().ok()?,
                    begun: begun.clone(),
                    ended: clocks(rest)?,
                });
            }
            ["gone", "free", free] => {
                state = Some(State::Gone {
                    begun: begun.clone(),
                    free_kib: free.parse().ok()?,
                });
            }
            ["time", ..] => now = Some(clocks(&words)?),
            _ => return None,
        }
    }
    Some(JobState {
        state: state?,
        now: now?,
    })
}

/// Parses the list of a run's files; none if a name leads out of the run.
pub fn files(answer: &str) -> Option<Vec<RemoteFile>> {
    let mut files: Vec<RemoteFile> = Vec::new();
    for line in whole(answer)? {
        let mut words = line.splitn(3, ' ');
        let (sha256, bytes, name) = (words.next()?, words.next()?, words.next()?);
        if !is_digest(sha256) || !is_file_name(name) || files.len() == MOST_FILES {
            return None;
        }
        if files.iter().any(|file| file.name == name) {
            return None;
        }
        files.push(RemoteFile {
            sha256: sha256.into(),
            bytes: bytes.parse().ok()?,
            name: name.into(),
        });
    }
    // One that is the directory of another can't be both.
    let is_above = |name: &str| {
        let prefix = format!("{name}/");
        files.iter().any(|file| file.name.starts_with(&prefix))
    };
    (!files.iter().any(|file| is_above(&file.name))).then_some(files)
}

/// The lines before `end`, without which an answer was cut short.
fn whole(answer: &str) -> Option<impl Iterator<Item = &str>> {
    let body = answer.trim_end().strip_suffix("end")?;
    (body.is_empty() || body.ends_with('\n')).then(|| body.lines())
}

fn clocks(words: &[&str]) -> Option<Clocks> {
    match *words {
        ["time", time, "up", up, "boot", boot] => Some(Clocks {
            time: time.parse().ok()?,
            up: up.parse().ok()?,
            boot: shortened(boot, 100),
        }),
        _ => None,
    }
}

pub(crate) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// `output`, or a file below `run`, of characters without a meaning for a shell.
fn is_file_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let part = |part: &str| !part.is_empty() && part != "." && part != "..";
    (name == "output" || name.starts_with("run/"))
        && name.len() <= 400
        && name.chars().all(is_plain)
        && !name.contains("..")
        && name.split('/').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_was_cut_short_is_none() {
        let answer =
            "board 1\ntime 1795534201\nup 7\nboot b\narch aarch64\nkernel 6.12.1\nfree 1024\nend\n";
        let found = hello(answer).unwrap();
        assert_eq!(
            (found.time, found.free_kib, found.arch.as_str()),
            (1_795_534_201, 1024, "aarch64")
        );
        for length in 0..answer.len() - 1 {
            assert_eq!(hello(&answer[..length]), None, "{length}");
        }
        for other in ["", "end", "Welcome!\ntime 1\nend\n", "board 2\ntime 1\nend"] {
            assert_eq!(hello(other), None, "{other}");
        }
    }

    #[test]
    fn states_are_read() {
        let begun = "begun time 100 up 10 boot a\n";
        let now = "time 160 up 70 boot a\nend\n";
        let state = |line: &str| job_state(&format!("{begun}{line}\n{now}"));
        assert_eq!(state("measuring").unwrap().state, State::Measuring);
        let Some(JobState {
            state:
                State::Ended {
                    code,
                    begun: from,
                    ended,
                    ..
                },
            now: then,
        }) = state("ended code 2 free 9 time 150 up 60 boot a")
        else {
            panic!("no end")
        };
        assert_eq!((code, from.time, ended.up, then.time), (2, 100, 60, 160));
        assert!(matches!(
            state("gone free 3").unwrap().state,
            State::Gone { free_kib: 3, .. }
        ));
        for wrong in [
            "ended code 300 free 9 time 1 up 1 boot a",
            "ended",
            "hello",
            "gone free -1",
        ] {
            assert_eq!(state(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn no_name_of_a_file_leads_elsewhere() {
        let digest = "0".repeat(64);
        let of = |names: &[&str]| {
            let lines = names.iter().map(|name| format!("{digest} 5 {name}\n"));
            files(&(lines.collect::<String>() + "end\n"))
        };
        assert_eq!(
            of(&["output", "run/a.b", "run/figures/c"]).unwrap().len(),
            3
        );
        assert_eq!(of(&[]).unwrap(), []);
        for wrong in [
            "/etc/passwd",
            "run/../x",
            "run//x",
            "run/./x",
            "run/",
            "run/a b",
            "run/$(x)",
            "other",
            "run/a\u{202e}",
            "outputs",
            "../output",
        ] {
            assert_eq!(of(&[wrong]), None, "{wrong}");
        }
        assert_eq!(of(&["run/a", "run/a"]), None);
        assert_eq!(of(&["run/a", "run/a/b"]), None);
        assert_eq!(files(&format!("{} 5 output\nend", "G".repeat(64))), None);
    }

    #[test]
    fn no_damage_to_an_answer_does_harm() {
        let digest = "0".repeat(64);
        let answers = [
            "board 1\ntime 1795534201\nup 7\nboot b\narch aarch64\nkernel 6.12.1\nfree 1024\nmeasuring a\nend\n".to_owned(),
            "begun time 100 up 10 boot a\nended code 2 free 9 time 150 up 60 boot a\ntime 160 up 70 boot a\nend\n".into(),
            format!("{digest} 5 output\n{digest} 18446744073709551615 run/a\nend\n"),
        ];
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |most: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from(random >> 32).unwrap() % most
        };
        for _ in 0..3000 {
            let mut bytes = answers[below(3)].clone().into_bytes();
            for _ in 0..=below(4) {
                let at = below(bytes.len());
                match below(3) {
                    0 => bytes.truncate(at + 1),
                    1 => bytes[at] = u8::try_from(below(256)).unwrap(),
                    _ => bytes.extend_from_within(at..),
                }
            }
            let text = String::from_utf8_lossy(&bytes);
            hello(&text);
            job_state(&text);
            for file in files(&text).unwrap_or_default() {
                assert!(
                    !file.name.contains("..") && !file.name.starts_with('/'),
                    "{}",
                    file.name
                );
            }
        }
    }
}
