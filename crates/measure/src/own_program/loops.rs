//! Which loops a program has: it is started for the question alone, and ended before the first cycle of any.

use super::kin::{Foreign, Kin};
use super::{LOOK, LOOPS_PATIENCE, OwnProgram};
use crate::loop_process::LoopProcess;
use rustix::fs::{MemfdFlags, memfd_create};
use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wakepath_archive::shell_word;
use wakepath_rt::announcement::Announced;
use wakepath_rt::of_thread;
use wakepath_rt::shared::{SharedMemory, SharedMemoryError};
use wakepath_timeline::{Overrun, Policy, one_line};

/// The most loops that a program of unknown loops may have.
const MOST_LOOPS: u32 = 16;
/// Bytes that are kept of its output while it is asked.
const MOST_PRINTED: u64 = 1 << 20;
/// The last loop of a program is taken to have come when none came for so long.
pub(super) const NO_MORE_COME: Duration = Duration::from_millis(300);

/// A loop of a program, as it announces itself and as the kernel has its thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnouncedLoop {
    /// Its name.
    pub name: String,
    /// Its period in nanoseconds.
    pub period_ns: u64,
    /// Its behaviour when its work runs into the next due time.
    pub overrun: Overrun,
    /// The policy of its thread.
    pub policy: Policy,
    /// The CPUs on which its thread may run, ascending.
    pub cpus: Vec<u16>,
}

/// A program's answer about its loops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered {
    /// Its loops.
    pub loops: Vec<AnnouncedLoop>,
    /// Its output until then.
    pub printed: Vec<u8>,
}

/// Why a program's loops are not known.
#[derive(Debug, thiserror::Error)]
pub enum NoLoops {
    /// The program can't be started.
    #[error("{program}: can't be started: {source}")]
    Start {
        /// The program.
        program: String,
        /// The system's answer.
        source: io::Error,
    },
    /// There is no memory to share with it.
    #[error("{program}: {source}")]
    Memory {
        /// The program.
        program: String,
        /// The system's answer.
        source: SharedMemoryError,
    },
    /// Its library is another version's.
    #[error("{program}: {versions}")]
    Versions {
        /// The program.
        program: String,
        /// Which, and what would be right.
        versions: String,
    },
    /// It ended without one.
    #[error(
        "{program}: ended ({how}) without a loop that can be recorded; link wakepath-rt's `Loop` or \
         wakepath.h, or look at it from outside: wakepath watch -- {}",
        shell_word(program)
    )]
    Ended {
        /// The program.
        program: String,
        /// Exit status, and its last line.
        how: String,
    },
    /// It made none.
    #[error(
        "{program}: made no loop that can be recorded within {} s; link wakepath-rt's `Loop` or \
         wakepath.h, or look at it from outside: wakepath watch -- {}",
        LOOPS_PATIENCE.as_secs(),
        shell_word(program)
    )]
    None {
        /// The program.
        program: String,
    },
    /// A loop whose thread is not there, or under a policy without a name here.
    #[error("{program}: the thread of its loop `{name}` can't be read: {source}")]
    Thread {
        /// The program.
        program: String,
        /// The loop's name.
        name: String,
        /// The system's answer.
        source: io::Error,
    },
    /// A loop whose thread is none of the program's.
    #[error("{program}: {source}")]
    Foreign {
        /// The program.
        program: String,
        /// Which loop.
        source: Foreign,
    },
    /// Two of one name can't be distinguished.
    #[error("{program}: two loops have the name `{name}`; rename one")]
    Twice {
        /// The program.
        program: String,
        /// The name.
        name: String,
    },
    /// The user interrupted it.
    #[error("interrupted before measuring")]
    Interrupted,
}

/// Starts a program, asks which loops it has, and ends it before the first cycle of any.
///
/// # Errors
/// Why they are not known, in one line.
pub fn loops_of(command: &[String], interrupt: &crate::Interrupt) -> Result<Discovered, NoLoops> {
    let program = command.first().cloned().unwrap_or_default();
    let memory = SharedMemory::create(MOST_LOOPS, 8);
    let memory = memory.map_err(|source| NoLoops::Memory {
        program: program.clone(),
        source,
    })?;
    let started = |source| NoLoops::Start {
        program: program.clone(),
        source,
    };
    let output = memfd_create("wakepath-output", MemfdFlags::CLOEXEC);
    let output = output.map_err(|error| started(error.into()))?.into();
    let mut process =
        OwnProgram::with_output(command, (output, MOST_PRINTED), &memory).map_err(started)?;
    let asked = Instant::now();
    let (mut known, mut since) = (0, Instant::now());
    let found = loop {
        let announced = process.announced();
        if announced.len() != known {
            (known, since) = (announced.len(), Instant::now());
        }
        if known > 0 && since.elapsed() > NO_MORE_COME {
            let program = program.clone();
            let number = process.child.id();
            let foreign = announced.iter().find_map(|of| Kin::new(number, of).err());
            break match foreign {
                Some(source) => Err(NoLoops::Foreign { program, source }),
                None => Ok(announced),
            };
        }
        if interrupt.requested() {
            break Err(NoLoops::Interrupted);
        }
        // Before its replies, because it can end at once.
        let has_ended = process.has_ended();
        if let Some(versions) = process.misunderstanding() {
            break Err(NoLoops::Versions {
                program: program.clone(),
                versions,
            });
        }
        if has_ended {
            let how = process.end();
            break Err(NoLoops::Ended {
                program: program.clone(),
                how,
            });
        }
        if asked.elapsed() > LOOPS_PATIENCE {
            break Err(NoLoops::None {
                program: program.clone(),
            });
        }
        std::thread::sleep(LOOK);
    };
    let loops = found.and_then(|announced| read(&program, &announced));
    memory.words().stop.store(1, Ordering::Release);
    process.kill();
    Ok(Discovered {
        loops: loops?,
        printed: process.output.printed(MOST_PRINTED),
    })
}

fn read(program: &str, announced: &[Announced]) -> Result<Vec<AnnouncedLoop>, NoLoops> {
    let mut loops: Vec<AnnouncedLoop> = Vec::new();
    for one in announced {
        let name = one_line(&one.name);
        if loops.iter().any(|known| known.name == name) {
            let program = program.to_owned();
            return Err(NoLoops::Twice { program, name });
        }
        let effective = of_thread::effective_of(one);
        let effective = effective.map_err(|source| NoLoops::Thread {
            program: program.to_owned(),
            name: name.clone(),
            source,
        })?;
        loops.push(AnnouncedLoop {
            name,
            period_ns: one.period_ns,
            overrun: one.overrun,
            policy: effective.policy,
            cpus: effective.cpus,
        });
    }
    Ok(loops)
}
