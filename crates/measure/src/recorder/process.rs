//! The recorder's main loop: commands in, samples to disk, replies out.

use super::drain::Drain;
use super::told::ToldFiles;
use super::{Command, Reply};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wakepath_archive::{ArchiveError, Ending, Event, LogWriter};
use wakepath_directory::Directory;
use wakepath_rt::shared::SharedMemory;

/// Between two looks at the rings. Rings hold seconds of samples.
const TAKE_EVERY: Duration = Duration::from_millis(50);
/// Between two live reports.
const REPORT_EVERY: Duration = Duration::from_millis(250);
/// Between two block writes, which is what a kill -9 of the recorder can lose.
const FLUSH_EVERY: Duration = Duration::from_millis(500);
/// Between two waits for the disk, which is what a power cut can lose. Each costs the disk some
/// work, on a machine that is being measured: no more often than the kernel's own write-back.
const SYNC_EVERY: Duration = Duration::from_secs(5);

/// Records a run into `directory` until ordered to end or until `commands` ends.
///
/// # Errors
/// If the run directory is unavailable or its end can't be written; a full disk on the way is reported to the
/// measuring process and recording ends in order.
pub fn run<C: Read + AsFd>(
    memory: &SharedMemory,
    directory: &Directory,
    commands: C,
    replies: impl Write,
) -> Result<(), ArchiveError> {
    let log = LogWriter::create_in(directory)?;
    let mut recorder = Recorder {
        memory,
        log,
        replies,
        drain: None,
        told: ToldFiles::new(directory),
        failure: None,
    };
    recorder.reply(&Reply::Ready);

    let mut input = Input::new(commands);
    let (mut reported, mut flushed, mut synced) = (Instant::now(), Instant::now(), Instant::now());
    loop {
        match input.next_within(TAKE_EVERY) {
            Next::Command(Command::End(ending)) => return recorder.end(ending),
            Next::Command(command) => recorder.obey(command),
            Next::Nothing => {}
            Next::Closed(last) => return recorder.end_alone(last),
        }
        recorder.take();
        if reported.elapsed() >= REPORT_EVERY {
            recorder.report();
            reported = Instant::now();
        }
        if synced.elapsed() >= SYNC_EVERY {
            let outcome = recorder.log.sync();
            recorder.check(outcome);
            let outcome = recorder.told.sync();
            recorder.check(outcome);
            (synced, flushed) = (Instant::now(), Instant::now());
        } else if flushed.elapsed() >= FLUSH_EVERY {
            let outcome = recorder.log.flush_block();
            recorder.check(outcome);
            let outcome = recorder.told.flush();
            recorder.check(outcome);
            flushed = Instant::now();
        }
    }
}

struct Recorder<'a, W> {
    memory: &'a SharedMemory,
    log: LogWriter,
    replies: W,
    drain: Option<Drain<'a>>,
    told: ToldFiles<'a>,
    /// The first failure: a run that lacks what failed is not complete.
    failure: Option<String>,
}

impl<W: Write> Recorder<'_, W> {
    fn obey(&mut self, command: Command) {
        match command {
            Command::Append(event) => self.append(&event),
            Command::Take(rings) => self.drain = Some(Drain::new(self.memory, rings)),
            Command::TakeRest => {
                self.take();
                let outcome = self.log.flush_block();
                self.check(outcome);
                self.report();
                let (recorded, mut remarks) = match self.drain.take() {
                    None => (Vec::new(), Vec::new()),
                    Some(drain) => (drain.recorded().to_vec(), drain.remarks()),
                };
                let outcome = self.told.end_segment(&mut remarks);
                self.check(outcome);
                self.reply(&Reply::Taken { recorded, remarks });
            }
            Command::End(_) => unreachable!("the main loop ends by itself"),
        }
    }

    fn append(&mut self, event: &Event) {
        let outcome = self.log.append_event(event);
        self.check(outcome);
    }

    fn take(&mut self) {
        if let Some(drain) = &mut self.drain {
            let outcome = drain
                .take(&mut self.log)
                .and_then(|()| drain.take_told(&mut self.told));
            self.check(outcome);
        }
    }

    fn report(&mut self) {
        if let Some(drain) = &mut self.drain {
            let live = drain.live();
            self.reply(&Reply::Live(live));
        }
    }

    /// Reports the first failure once, to the other processes too; later ones are its consequences.
    fn check(&mut self, outcome: Result<(), ArchiveError>) {
        if let (Err(error), None) = (outcome, &self.failure) {
            let error = error.to_string();
            self.failure = Some(error.clone());
            self.memory
                .words()
                .recorder_failed
                .store(1, Ordering::Release);
            self.reply(&Reply::Failed { error });
        }
    }

    fn end(mut self, ending: Ending) -> Result<(), ArchiveError> {
        self.take();
        let outcome = self.told.sync();
        self.check(outcome);
        // The measuring process may have sent the end before it heard of a failure.
        let ending = match (self.failure.take(), ending) {
            (Some(reason), Ending::Complete | Ending::Interrupted) => Ending::Failed { reason },
            (_, ending) => ending,
        };
        let outcome = self.log.end(ending);
        // The measuring process waits for this answer; whether it still listens is its affair.
        if outcome.is_ok() {
            let _ = send(&mut self.replies, &Reply::Ended);
        }
        outcome
    }

    /// The measuring process died. The loop's process dies with it; its samples until then are in the rings.
    fn end_alone(mut self, last: Option<String>) -> Result<(), ArchiveError> {
        self.memory.words().stop.store(1, Ordering::Release);
        std::thread::sleep(2 * TAKE_EVERY);
        self.take();
        let outcome = self.told.sync();
        self.check(outcome);
        // Nobody else is left to say them. Not on standard error: that may have died too.
        let remarks = self.drain.as_ref().map(Drain::remarks).unwrap_or_default();
        let died = "the measuring process died; the recorder wrote the remaining data and ended";
        for text in last.into_iter().chain(remarks).chain([died.into()]) {
            self.append(&Event::Note { text });
        }
        self.log.end(Ending::Failed {
            reason: "the measuring process died".into(),
        })
    }

    fn reply(&mut self, reply: &Reply) {
        // A measuring process that is gone shows as the end of the commands.
        let _ = send(&mut self.replies, reply);
    }
}

fn send(replies: &mut impl Write, reply: &Reply) -> std::io::Result<()> {
    serde_json::to_writer(&mut *replies, reply)?;
    replies.write_all(b"\n")?;
    replies.flush()
}

enum Next {
    Command(Command),
    Nothing,
    /// The end, and the reason if the last line was no command.
    Closed(Option<String>),
}

/// Lines of JSON with a time-out.
struct Input<C> {
    lines: BufReader<C>,
}

impl<C: Read + AsFd> Input<C> {
    fn new(commands: C) -> Self {
        Self {
            lines: BufReader::new(commands),
        }
    }

    /// A line that doesn't parse counts as the end: it does not come from our measuring process.
    fn next_within(&mut self, time: Duration) -> Next {
        if self.lines.buffer().is_empty() && !self.readable_within(time) {
            return Next::Nothing;
        }
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(0) | Err(_) => Next::Closed(None),
            Ok(_) => match serde_json::from_slice(line.as_bytes()) {
                Ok(command) => Next::Command(command),
                Err(error) => Next::Closed(Some(format!(
                    "the last line from the measuring process is not a command ({error})"
                ))),
            },
        }
    }

    fn readable_within(&self, time: Duration) -> bool {
        let input = self.lines.get_ref();
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: time.subsec_nanos() as _,
        };
        let mut descriptors = [PollFd::new(input, PollFlags::IN)];
        matches!(poll(&mut descriptors, Some(&timeout)), Ok(ready) if ready > 0)
    }
}
