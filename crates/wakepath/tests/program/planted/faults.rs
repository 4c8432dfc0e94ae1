//! What goes wrong in a run, planted in a random segment of one that passes.

use super::Random;
use super::made_up::{MadeUp, WARM_UP};
use std::fs;
use std::path::Path;
use wakepath_archive::{Ending, ThreadEnd, finish, recover};
use wakepath_directory::{Fault, Faults};
use wakepath_timeline::Policy;

/// A kind of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    Death,
    DeathInWarmUp,
    Guard,
    Overrun,
    Loss,
    LossThatNobodyCounted,
    MissingProof,
    OtherPolicy,
    UnknownPolicy,
    ClockChange,
    ClockThatCameBack,
    Contradiction,
    Interruption,
    MissingSegment,
    MissingTrace,
    NoLastLook,
    NoEnd,
    TruncatedLog,
    TruncatedFile,
    ChangedByte,
    FullDisk,
    BrokenDisk,
}

use Trouble::*;

impl Trouble {
    pub const ALL: [Self; 22] = [
        Death,
        DeathInWarmUp,
        Guard,
        Overrun,
        Loss,
        LossThatNobodyCounted,
        MissingProof,
        OtherPolicy,
        UnknownPolicy,
        ClockChange,
        ClockThatCameBack,
        Contradiction,
        Interruption,
        MissingSegment,
        MissingTrace,
        NoLastLook,
        NoEnd,
        TruncatedLog,
        TruncatedFile,
        ChangedByte,
        FullDisk,
        BrokenDisk,
    ];

    /// Words that name it in text and in JSON wherever the run is shown; none if the run is no longer
    /// readable, or if they depend on the place that was hit.
    pub fn named(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Death | DeathInWarmUp => ("process died", "process died"),
            Guard => ("guard", "guard"),
            Overrun => ("overran", "overrun"),
            Loss => ("were lost", "samples-lost"),
            LossThatNobodyCounted => ("recorded", "counts-disagree"),
            MissingProof => ("did not prove its work", "load-not-proven"),
            OtherPolicy | UnknownPolicy => ("asked for", "policy-not-effective"),
            ClockChange | ClockThatCameBack => ("clock source changed", "clock source changed"),
            Contradiction => ("contradict", "inconsistent-samples"),
            Interruption => ("interrupted", "interrupted"),
            MissingSegment => ("never began", "never began"),
            MissingTrace => ("tracing ended early", "tracing ended early"),
            NoLastLook => ("not read after the run", "not read after the run"),
            NoEnd => ("cut short and recovered", "cut short and recovered"),
            TruncatedLog | TruncatedFile | ChangedByte | FullDisk | BrokenDisk => return None,
        })
    }
}

/// Writes the run with this in it, and makes of it what can be made. Whether anything is wrong with it: a disk that
/// fails after the last byte takes nothing away.
pub fn plant(trouble: Trouble, mut run: MadeUp, random: &mut Random, place: &Path) -> bool {
    let at = random.below(run.segments.len());
    let cycles = run.cycles as usize;
    let judged = WARM_UP as usize + 1 + random.below(cycles - WARM_UP as usize - 1);
    let segment = &mut run.segments[at];
    match trouble {
        Death => segment.cut_at(judged, ThreadEnd::died("the loop's process died: SIGKILL")),
        DeathInWarmUp => {
            let cycle = random.below(WARM_UP as usize);
            segment.cut_at(cycle, ThreadEnd::died("the loop's process died: SIGKILL"));
        }
        Guard => segment.cut_at(
            judged,
            ThreadEnd::Failed {
                obstacle: wakepath_archive::Obstacle::Guard,
                reason: "the guard stopped the loop".into(),
            },
        ),
        Overrun => {
            segment.cut_at(judged, ThreadEnd::Overrun);
            // It is a failure of its policy, and no trouble of the run's: another policy may hold.
            run.needed = "every";
        }
        Loss => {
            let cycle = random.below(cycles);
            segment.samples.remove(cycle);
            (segment.written, segment.lost) = (segment.written - 1, 1);
        }
        LossThatNobodyCounted => _ = segment.samples.remove(random.below(cycles)),
        MissingProof => {
            let stress = run.segments.iter_mut().filter(|of| of.phase == "stress");
            let mut stress: Vec<_> = stress.collect();
            let one = random.below(stress.len());
            stress[one].load_works = false;
        }
        OtherPolicy => segment.effective = Some(Policy::Fifo { priority: 7 }),
        UnknownPolicy => segment.effective = None,
        ClockChange => {
            let from = 1 + random.below(run.clocks.len() - 1);
            run.clocks[from..].fill("hpet");
        }
        ClockThatCameBack => {
            let from = 1 + random.below(run.clocks.len() - 1);
            run.clocks[from] = "hpet";
        }
        Contradiction => {
            let cycle = 1 + random.below(cycles - 1);
            let before = segment.samples[cycle].wake_ns;
            segment.samples[cycle - 1].end_ns = before + 1;
        }
        Interruption => {
            segment.cut_at(judged, ThreadEnd::Stopped);
            run.left_out = (at + 1..run.segments.len()).collect();
            run.ending = Some(Ending::Interrupted);
        }
        MissingSegment => run.left_out = vec![at],
        MissingTrace => {
            // A run without traced segments can't lack one's trace.
            let traced = run.segments.iter_mut().filter(|of| of.traced);
            let mut traced: Vec<_> = traced.collect();
            if traced.is_empty() {
                return false;
            }
            let one = random.below(traced.len());
            traced[one].has_trace = false;
        }
        NoLastLook => run.looks_after = false,
        NoEnd => run.ending = None,
        FullDisk | BrokenDisk => return on_a_failing_disk(trouble, &run, random, place),
        TruncatedLog | TruncatedFile | ChangedByte => {}
    }
    run.write(place, None);
    if trouble == TruncatedLog {
        let log = place.join("samples.log");
        let length = fs::metadata(&log).unwrap().len() as usize;
        let file = fs::File::options().write(true).open(&log).unwrap();
        file.set_len(random.below(length) as u64).unwrap();
    }
    if finish(place).is_err() {
        // Data that can't be recovered is no run.
        let _ = recover(place);
    }
    let file = place.join(["manifest.json", "samples.parquet"][random.below(2)]);
    match trouble {
        TruncatedFile => {
            let bytes = fs::read(&file).unwrap();
            fs::write(&file, &bytes[..random.below(bytes.len())]).unwrap();
        }
        ChangedByte => {
            let mut bytes = fs::read(&file).unwrap();
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
            fs::write(&file, bytes).unwrap();
        }
        _ => {}
    }
    true
}

/// A disk on which nothing works from some operation on, and which has room again when the run is recovered.
fn on_a_failing_disk(trouble: Trouble, run: &MadeUp, random: &mut Random, place: &Path) -> bool {
    let fault = match trouble {
        FullDisk => Fault::NoSpace,
        _ => Fault::Broken,
    };
    let whole = place.with_extension("whole");
    let counted = Faults::new(fault, 0, false);
    run.write(&whole, Some(counted.clone()));
    let at = 1 + random.below(counted.seen() as usize) as u64;
    run.write(place, Some(Faults::new(fault, at, random.below(2) == 0)));
    let _ = recover(place);
    finish(&whole).unwrap();
    // Either the data is the same as on a working disk, or something is missing.
    let samples = |run: &Path| fs::read(run.join("samples.parquet")).ok();
    let manifest = |run: &Path| wakepath_archive::Manifest::read(run).ok();
    let is_whole = samples(place) == samples(&whole)
        && manifest(place).map(|of| (of.facts, of.segments, of.notes))
            == manifest(&whole).map(|of| (of.facts, of.segments, of.notes));
    fs::remove_dir_all(&whole).unwrap();
    !is_whole
}
