//! The explained run as a timeline for ui.perfetto.dev: the loops' cycles, due times and late
//! pieces, and what each CPU did. Written while it is explained.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use wakepath_archive::{Span, read_lines};
use wakepath_assess::explanation::{Along, ExplainError, SegmentLoops, text_of};
use wakepath_explain::perfetto::{Timeline, Track};
use wakepath_explain::{Explained, LateStack, Piece};

/// Writes a timeline while a run is explained.
pub struct Timelines<W: Write> {
    out: Timeline<BufWriter<W>>,
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
    /// Of a loop that timed its sections or said something.
    sections: Option<Track>,
    said: Option<Track>,
}

impl<W: Write> Timelines<W> {
    /// Into this file, which is empty.
    pub fn new(file: W) -> Self {
        Self {
            out: Timeline::new(BufWriter::with_capacity(1 << 16, file)),
            loops: BTreeMap::new(),
            cpus: BTreeMap::new(),
            current: Vec::new(),
        }
    }

    /// Writes what is left, and gives the file back.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn finish(self) -> io::Result<W> {
        let file = self.out.finish()?;
        file.into_inner().map_err(|error| error.into_error())
    }

    fn tracks(
        &mut self,
        condition: String,
        name: &str,
        (has_sections, says): (bool, bool),
    ) -> io::Result<LoopTracks> {
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
            sections: has_sections.then(|| below("sections")).transpose()?,
            said: says.then(|| below("the loop said")).transpose()?,
        };
        self.loops.insert(key, tracks);
        Ok(tracks)
    }
}

impl<W: Write> Along for Timelines<W> {
    fn segment(&mut self, loops: &SegmentLoops<'_>) -> Result<(), ExplainError> {
        self.current.clear();
        let condition = format!("{}, {}", loops.record.condition, loops.record.phase);
        let mut said: BTreeMap<u16, Vec<(u64, String)>> = BTreeMap::new();
        read_lines(loops.directory(), |line| {
            if line.segment == loops.record.segment {
                let of = said.entry(line.thread).or_default();
                of.push((line.at_ns, text_of(&line)));
            }
        })?;
        for number in 0..loops.count() {
            let has_sections = loops
                .told(number)
                .is_some_and(|told| !told.spans.is_empty());
            let lines = said
                .remove(&loops.thread_in_run(number))
                .unwrap_or_default();
            let has = (has_sections, !lines.is_empty());
            let tracks = self.tracks(condition.clone(), loops.name(number), has)?;
            self.current.push(tracks);
            for (at_ns, text) in tracks.said.iter().flat_map(|_| &lines) {
                if let Some(track) = tracks.said {
                    self.out.instant(track, *at_ns, text)?;
                }
            }
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
            out.instant(tracks.due, deadline_ns, "next due time, still running")?;
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
            let stack = Notes::new(piece);
            let mut notes = stack.all();
            notes.insert(0, ("stretch", &stretch));
            out.slice(tracks.causes, span, &piece.cause.to_string(), &notes)?;
        }
        out.slice(tracks.work, (sample.wake_ns, sample.end_ns), &name, &[])?;
        for piece in cycle
            .execution
            .iter()
            .filter(|piece| !piece.cause.is_usual())
        {
            let span = (piece.from_ns, piece.to_ns);
            let (cause, stack) = (piece.cause.to_string(), Notes::new(piece));
            out.slice(tracks.interference, span, &cause, &stack.all())?;
        }
        if let (Some(track), Some(told)) = (tracks.sections, loops.told(number)) {
            for span in nested(told.spans_of(sample.cycle)) {
                let name = told.name(span.section);
                out.slice(track, (span.from_ns, span.to_ns), &name, &[])?;
            }
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

/// The stack at which a piece's thread waited, as notes of its slice: a function on each line, the innermost first.
struct Notes {
    user: String,
    kernel: String,
}

impl Notes {
    fn new(piece: &Piece) -> Self {
        let stack = LateStack::new(&piece.cause);
        let lines = |of: fn(&LateStack) -> &[String]| {
            stack
                .as_ref()
                .map_or_else(String::new, |stack| of(stack).join("\n"))
        };
        Self {
            user: lines(|stack| &stack.user),
            kernel: lines(|stack| &stack.kernel),
        }
    }

    /// Those that say something.
    fn all(&self) -> Vec<(&str, &str)> {
        let mut all = vec![("program", &*self.user), ("kernel", &*self.kernel)];
        all.retain(|(_, text)| !text.is_empty());
        all
    }
}

/// Sections as nested slices: the outer before the inner, and none beyond the end of its outer one.
fn nested(spans: &[Span]) -> Vec<Span> {
    let mut spans = spans.to_vec();
    spans.sort_by_cached_key(|span| (span.from_ns, std::cmp::Reverse(span.to_ns)));
    let mut open: Vec<u64> = Vec::new();
    for span in &mut spans {
        open.retain(|&end_ns| end_ns > span.from_ns);
        if let Some(&end_ns) = open.last() {
            span.to_ns = span.to_ns.min(end_ns);
        }
        open.push(span.to_ns);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_that_end_in_the_wrong_order_are_cut_where_the_outer_ends() {
        let span = |section, from_ns, to_ns| Span {
            cycle: 0,
            section,
            from_ns,
            to_ns,
        };
        let all = [
            span(2, 30, 90),
            span(1, 10, 60),
            span(0, 0, 100),
            span(3, 60, 70),
        ];
        let found = nested(&all).into_iter();
        let found: Vec<_> = found.map(|of| (of.section, of.from_ns, of.to_ns)).collect();
        assert_eq!(found, [(0, 0, 100), (1, 10, 60), (2, 30, 60), (3, 60, 70)]);
    }
}
