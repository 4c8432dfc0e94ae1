//! The command line.

use crate::device::Interface;
use crate::error::GpuError;
use crate::working::Work;
use lexopt::prelude::*;
use std::ffi::OsString;
use std::time::Duration;

/// Text of `--help`.
pub const HELP: &str = "\
Keeps a GPU at work for wakepath's load `gpu`, and says what it did.

usage: wakepath-gpu list
       wakepath-gpu which [--interface NAME] [--device N]
       wakepath-gpu run [--work compute|transfer] [--interface NAME] [--device N] [--for SECONDS]

  list    every device of CUDA, Vulkan and OpenCL, and why an interface has none
  which   the device that `run` would take, as one line of JSON
  run     multiplies matrices (compute), or copies between the host's memory and the device's
          (transfer). Each line it prints: work done so far, in MFLOP or bytes, and nanoseconds
          that the device was at it. It ends when its reader is gone

  --interface NAME   cuda, vulkan or opencl; otherwise the first of them that has a device, one of
                     silicon before a program on the CPU
  --device N         by its number in `list`; 0 if not given

examples:
  wakepath-gpu list
  wakepath-gpu run --work transfer --interface vulkan --for 5
";

/// The action to perform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// `--help`.
    Help,
    /// `--version`.
    Version,
    /// Every device.
    List,
    /// The one that would be taken.
    Which,
    /// Work.
    Run(Work),
}

/// A command line that was understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arguments {
    /// The action to perform.
    pub verb: Verb,
    /// With which interface; `None`: the first that has a device.
    pub interface: Option<Interface>,
    /// Which device of it.
    pub device: usize,
    /// How long to work; `None`: until nobody reads.
    pub length: Option<Duration>,
}

impl Arguments {
    /// Those that this program was started with.
    pub fn of_the_command_line() -> Result<Self, GpuError> {
        Self::new(lexopt::Parser::from_env())
    }

    fn new(mut parser: lexopt::Parser) -> Result<Self, GpuError> {
        let usage = |error: lexopt::Error| GpuError::Usage(error.to_string());
        let mut own = Self {
            verb: Verb::Help,
            interface: None,
            device: 0,
            length: None,
        };
        let (mut verb, mut work) = (None, None);
        while let Some(argument) = parser.next().map_err(usage)? {
            match argument {
                Short('h') | Long("help") => return Ok(own),
                Short('V') | Long("version") => {
                    own.verb = Verb::Version;
                    return Ok(own);
                }
                Value(word) if verb.is_none() => verb = Some(word),
                Long("interface") => {
                    own.interface = Some(interface(parser.value().map_err(usage)?)?)
                }
                Long("device") => {
                    own.device = parser
                        .value()
                        .and_then(|text| text.parse())
                        .map_err(usage)?;
                }
                Long("for") => {
                    let seconds: f64 = parser
                        .value()
                        .and_then(|text| text.parse())
                        .map_err(usage)?;
                    let length = Duration::try_from_secs_f64(seconds)
                        .map_err(|error| GpuError::Usage(format!("--for {seconds}: {error}")))?;
                    own.length = Some(length);
                }
                Long("work") => {
                    let word = parser.value().map_err(usage)?;
                    work = Some(match word.to_str() {
                        Some("compute") => Work::Compute,
                        Some("transfer") => Work::Transfer,
                        _ => return Err(unknown("--work", &word, "compute or transfer")),
                    });
                }
                other => return Err(usage(other.unexpected())),
            }
        }
        let verb = verb.unwrap_or_default();
        own.verb = match verb.to_str() {
            Some("list") => Verb::List,
            Some("which") => Verb::Which,
            Some("run") => Verb::Run(work.take().unwrap_or(Work::Compute)),
            Some("") => return Ok(own),
            _ => return Err(unknown("", &verb, "list, which or run")),
        };
        match (work, own.length, own.verb) {
            (Some(_), ..) | (_, Some(_), Verb::List | Verb::Which) => Err(GpuError::Usage(
                "--work and --for are options of `run`".into(),
            )),
            _ => Ok(own),
        }
    }
}

fn interface(word: OsString) -> Result<Interface, GpuError> {
    let known = |interface: &Interface| word.to_str() == Some(interface.word());
    let found = Interface::ALL.into_iter().find(known);
    found.ok_or_else(|| unknown("--interface", &word, "cuda, vulkan or opencl"))
}

fn unknown(option: &str, word: &OsString, right: &str) -> GpuError {
    let space = if option.is_empty() { "" } else { " " };
    GpuError::Usage(format!("{option}{space}{word:?} is not known: {right}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Arguments, String> {
        Arguments::new(lexopt::Parser::from_args(words)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_run_has_its_options_and_others_are_refused() {
        let own = read(&[
            "run",
            "--work",
            "transfer",
            "--interface=opencl",
            "--device",
            "1",
            "--for",
            "0.5",
        ]);
        let right = Arguments {
            verb: Verb::Run(Work::Transfer),
            interface: Some(Interface::Opencl),
            device: 1,
            length: Some(Duration::from_millis(500)),
        };
        assert_eq!(own, Ok(right));
        assert_eq!(
            read(&["run"]).map(|own| own.verb),
            Ok(Verb::Run(Work::Compute))
        );
        assert_eq!(read(&[]).map(|own| own.verb), Ok(Verb::Help));
        for (words, says) in [
            (&["dance"][..], "\"dance\" is not known: list, which or run"),
            (
                &["run", "--interface", "metal"],
                "--interface \"metal\" is not known: cuda, vulkan or opencl",
            ),
            (&["run", "--for", "-1"], "--for -1: "),
            (
                &["list", "--for", "1"],
                "--work and --for are options of `run`",
            ),
            (
                &["which", "--work", "compute"],
                "--work and --for are options of `run`",
            ),
            (&["run", "--device", "x"], "\"x\""),
        ] {
            let said = read(words).unwrap_err();
            assert!(said.contains(says), "{words:?}: {said}");
        }
    }
}
