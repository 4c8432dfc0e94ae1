//! The explained run as a timeline for ui.perfetto.dev: the loops' cycles, due times and late
//! pieces, and what each CPU did. Written while it is explained.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use wakepath_assess::explanation::{Along, ExplainError, SegmentLoops};
use wakepath_explain::Explained;
use wakepath_explain::perfetto::{Timeline, Track};

/// Writes a timeline while a run is explained.
pub struct Timelines {
    out: Timeline<BufWriter<File>>,
    loops: BTreeMap<(String, String), LoopTracks>,
    cpus: BTreeMap<u16, Track>,
    current: Vec<LoopTracks>,
}

#[derive(Clone, Copy)]
struct LoopTracks {
    due: Track,
    latency: Track,
    causes: Track,
    work: Track,
    interference: Track,
}

impl Timelines {
    /// Into a file, which is made anew.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = File::create(path)?;
        Ok(Self {
            out: Timeline::new(BufWriter::with_capacity(1 << 16, file)),
            loops: BTreeMap::new(),
            cpus: BTreeMap::new(),
            current: Vec::new(),
        })
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn finish(self) -> io::Result<()> {
        let file = self.out.finish()?;
        file.into_inner().map_err(|error| error.into_error())?;
        Ok(())
    }

    fn tracks(&mut self, condition: String, name: &str) -> io::Result<LoopTracks> {
        let key = (condition, name.to_owned());
        if let Some(tracks) = self.loops.get(&key) {
            return Ok(*tracks);
        }
        let top = self.out.track(&format!("{name}: {}", key.0), None)?;
        let mut below = |name| self.out.track(name, Some(top));
        let tracks = LoopTracks {
            due: below("due times")?,
            latency: below("wake-up latency")?,
            causes: below("why")?,
            work: below("work")?,
            interference: below("interference in the work")?,
        };
        self.loops.insert(key, tracks);
        Ok(tracks)
    }
}

impl Along for Timelines {
    fn segment(&mut self, loops: &SegmentLoops<'_>) -> Result<(), ExplainError> {
        self.current.clear();
        let condition = format!("{}, {}", loops.record.condition, loops.record.phase);
        for number in 0..loops.count() {
            let tracks = self.tracks(condition.clone(), loops.name(number))?;
            self.current.push(tracks);
        }
        Ok(())
    }

    fn cycle(
        &mut self,
        loops: &SegmentLoops<'_>,
        number: usize,
        cycle: &Explained,
    ) -> Result<(), ExplainError> {
        let Some(&tracks) = self.current.get(number) else {
            return Ok(());
        };
        let sample = &cycle.sample;
        let out = &mut self.out;
        let deadline_ns = sample.due_ns + loops.period_ns(number);
        out.instant(tracks.due, sample.due_ns, "due")?;
        if sample.end_ns > deadline_ns {
            out.instant(tracks.due, deadline_ns, "next due time, missed")?;
        }
        let name = format!("cycle {}", sample.cycle);
        if sample.wake_ns > sample.due_ns {
            let latency = format!("{:.1} µs", sample.latency_ns() as f64 / 1e3);
            let notes = [("latency", &*latency), ("woken", cycle.woken.word())];
            out.slice(
                tracks.latency,
                (sample.due_ns, sample.wake_ns),
                &name,
                &notes,
            )?;
        }
        for piece in &cycle.latency {
            let stretch = piece.stretch.to_string();
            let span = (piece.from_ns, piece.to_ns);
            out.slice(
                tracks.causes,
                span,
                &piece.cause.to_string(),
                &[("stretch", &stretch)],
            )?;
        }
        out.slice(tracks.work, (sample.wake_ns, sample.end_ns), &name, &[])?;
        for piece in cycle
            .execution
            .iter()
            .filter(|piece| !piece.cause.is_usual())
        {
            let span = (piece.from_ns, piece.to_ns);
            out.slice(tracks.interference, span, &piece.cause.to_string(), &[])?;
        }
        Ok(())
    }

    fn span(&mut self, cpu: u16, span_ns: (u64, u64), name: &str) -> Result<(), ExplainError> {
        let track = match self.cpus.get(&cpu) {
            Some(&track) => track,
            None => {
                let track = self.out.track(&format!("CPU {cpu}"), None)?;
                self.cpus.insert(cpu, track);
                track
            }
        };
        self.out.slice(track, span_ns, name, &[])?;
        Ok(())
    }

    fn wants_spans(&self) -> bool {
        true
    }
}
