//! The instructions of a latency as a flame graph that hangs: its stretches from left to right, below
//! each the functions that were called, as wide as the instructions in them.

use super::Figure;
use super::plot::{Plot, room, slug};
use super::scale::Linear;
use wakepath_explain::window::{Check, Window, Windows};
use wakepath_timeline::duration::three_digits;

/// So many windows are drawn, the worst first.
const DRAWN: usize = 12;
const WIDTH: f64 = 680.0;
const EDGE: f64 = 8.0;
const ROW: f64 = 17.0;
/// Narrower stretches can't be seen and would only make the page large.
const NARROWEST: f64 = 0.35;
/// Deepest calls drawn; the file of stacks has the rest.
const DEEPEST: usize = 40;

pub(super) fn draw(windows: &Windows) -> Vec<Figure> {
    let mut windows: Vec<&Window> = windows.windows.iter().collect();
    windows.sort_by_cached_key(|window| std::cmp::Reverse(window.latency_ns));
    let drawn = windows.into_iter().take(DRAWN);
    drawn.map(flame).collect()
}

/// A function with all that it called, merged in the order in which each came first.
struct Part<'a> {
    name: &'a str,
    instructions: u64,
    called: Vec<Part<'a>>,
}

impl<'a> Part<'a> {
    fn new(name: &'a str) -> Self {
        Self {
            name,
            instructions: 0,
            called: Vec::new(),
        }
    }

    fn add(&mut self, frames: &'a [String], instructions: u64) {
        self.instructions += instructions;
        if let Some((first, rest)) = frames.split_first() {
            let known = self.called.iter().position(|part| part.name == first);
            let index = known.unwrap_or_else(|| {
                self.called.push(Part::new(first));
                self.called.len() - 1
            });
            self.called[index].add(rest, instructions);
        }
    }

    /// Rows that are wide enough to be seen.
    fn depth(&self, least: u64) -> usize {
        if self.instructions >= least {
            1 + self
                .called
                .iter()
                .map(|part| part.depth(least))
                .max()
                .unwrap_or(0)
        } else {
            0
        }
    }
}

fn flame(window: &Window) -> Figure {
    let mut stretches: Vec<Part<'_>> = window
        .stretches
        .iter()
        .map(|part| Part::new(&part.stretch))
        .collect();
    for stack in &window.stacks {
        let own = stretches.iter_mut().find(|part| part.name == stack.stretch);
        if let Some(part) = own {
            part.add(&stack.frames, stack.instructions);
        }
    }
    let all: u64 = window.instructions.max(1);
    let width = WIDTH - 2.0 * EDGE;
    let least = (all as f64 * NARROWEST / width).ceil().max(1.0) as u64;
    let depth = stretches
        .iter()
        .map(|part| part.depth(least))
        .max()
        .unwrap_or(0);
    let rows = depth.clamp(1, DEEPEST);
    let mut plot = Plot::new(WIDTH, 24.0 + 44.0 + rows as f64 * ROW, EDGE, EDGE);
    let us = |instructions: u64| instructions as f64 * f64::from(window.ns_per_instruction) / 1e3;
    let axis = Linear {
        most: us(all),
        from: plot.left,
        to: plot.right,
    };
    plot.numbers_below(
        axis,
        "",
        "virtual µs of instructions; within a stretch in the order of first execution",
    );
    let mut drawing = Drawing {
        plot: &mut plot,
        all,
        least,
        width,
    };
    let mut from = 0;
    for (index, stretch) in stretches.iter().enumerate() {
        drawing.plot.group(index, &[]);
        drawing.part(stretch, from, 0);
        drawing.plot.ungroup();
        from += stretch.instructions;
    }
    let late = three_digits(i64::try_from(window.latency_ns).unwrap_or(i64::MAX));
    let title = format!(
        "{}, {}: segment {} cycle {}, {late} late, {} instructions",
        window.condition, window.phase, window.segment, window.cycle, window.instructions
    );
    let most: Vec<String> = window
        .symbols
        .iter()
        .take(8)
        .map(|symbol| format!("{} {}", symbol.symbol, symbol.own))
        .collect();
    plot.done(
        format!(
            "window-{}-{}-{}",
            slug(&window.condition),
            window.segment,
            window.cycle
        ),
        title.clone(),
        CAPTION,
        format!(
            "{title}. {}. Most of its own: {}.",
            checked(window),
            most.join(", ")
        ),
    )
}

const CAPTION: &str = "Every instruction that the emulated CPU executed in virtual time between the due \
     time and the loop's first one, by kernel function: the length of a software path, not the \
     latency of a machine. Point at a function for its counts. Stacks follow from executed calls and \
     returns. Functions too narrow to see are left out.";

fn checked(window: &Window) -> String {
    match window.check {
        Check::SinceIdle { difference_ns } => {
            format!(
                "The CPU was idle until it was due; instructions and clock are {difference_ns} ns apart"
            )
        }
        Check::SinceTheCycleBefore { difference_ns } => {
            format!("The CPU was busy; instructions and clock are {difference_ns} ns apart")
        }
        Check::CountedBack => "The CPU was busy; counted back from the first instruction".into(),
    }
}

struct Drawing<'a> {
    plot: &'a mut Plot,
    all: u64,
    least: u64,
    width: f64,
}

impl Drawing<'_> {
    fn part(&mut self, part: &Part<'_>, from: u64, row: usize) {
        if part.instructions < self.least || row >= DEEPEST {
            return;
        }
        let place = |at: u64| at as f64 / self.all as f64 * self.width;
        let (x, width) = (EDGE + place(from), place(part.instructions));
        let y = self.plot.top + row as f64 * ROW;
        let share = 100.0 * part.instructions as f64 / self.all as f64;
        let hint = format!(
            "{}: {} instructions, {share:.1} %",
            part.name, part.instructions
        );
        let gap = if width > 2.0 { 0.5 } else { 0.0 };
        self.plot
            .rect("flame", [x, y, width - gap, ROW - 1.0], &hint);
        if let Some(name) = fitting(part.name, width - 6.0) {
            self.plot.text("flame", x + 3.0, y + ROW - 5.0, &name);
        }
        let mut at = from;
        for called in &part.called {
            self.part(called, at, row + 1);
            at += called.instructions;
        }
    }
}

/// A name shortened to its room; none if little is left of it.
fn fitting(name: &str, width: f64) -> Option<String> {
    // The type is smaller than that of other figures.
    let needs = |text: &str| room(text) * 10.0 / 12.0;
    if needs(name) <= width {
        return Some(name.to_owned());
    }
    let characters = (width / needs("m")).floor() as usize;
    (characters >= 5).then(|| name.chars().take(characters - 1).chain(['…']).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_explain::window::{StackCount, StretchCount};

    fn stack(stretch: &str, frames: &[&str], instructions: u64) -> StackCount {
        StackCount {
            stretch: stretch.into(),
            frames: frames.iter().map(|&frame| frame.into()).collect(),
            instructions,
        }
    }

    fn window() -> Window {
        let stretch = |stretch: &str, instructions| StretchCount {
            stretch: stretch.into(),
            instructions,
        };
        Window {
            condition: "FIFO 80".into(),
            phase: "<stress>".into(),
            segment: 1,
            thread: 0,
            cycle: 17,
            latency_ns: 1_002,
            ns_per_instruction: 1,
            instructions: 1_000,
            check: Check::SinceIdle { difference_ns: 2 },
            is_whole: true,
            when_due: None,
            wakings_by_timers: 1,
            entered: 1,
            unmatched: 0,
            user: 0,
            nameless: 0,
            stretches: vec![
                stretch("due → interrupt", 750),
                stretch("switch-in → user", 250),
            ],
            symbols: Vec::new(),
            stacks: vec![
                stack("due → interrupt", &["do_exit", "free<pages>"], 500),
                stack("due → interrupt", &["do_exit"], 250),
                stack("switch-in → user", &["schedule"], 250),
            ],
        }
    }

    #[test]
    fn widths_are_shares_and_names_are_escaped() {
        let drawn = draw(&Windows::default().with(vec![window()]));
        let svg = drawn[0].to_svg(&crate::Origin::default());
        // 664 pixels are 1000 instructions.
        assert!(
            svg.contains("free&lt;pages&gt;: 500 instructions, 50.0 %"),
            "{svg}"
        );
        assert!(svg.contains("width=\"331.5\""), "{svg}");
        assert!(
            svg.contains("due → interrupt: 750 instructions, 75.0 %"),
            "{svg}"
        );
        assert!(
            drawn[0].title.contains("1.00 µs late, 1000 instructions"),
            "{}",
            drawn[0].title
        );
        assert!(!svg.contains("<stress>"), "{svg}");
    }

    #[test]
    fn what_is_too_narrow_is_left_out_and_long_names_are_cut() {
        let mut window = window();
        window.instructions = 10_000_000;
        assert!(
            !draw(&Windows::default().with(vec![window]))[0]
                .to_svg(&crate::Origin::default())
                .contains("do_exit:")
        );
        assert_eq!(fitting("asm_sysvec_apic_timer_interrupt", 10.0), None);
        let cut = fitting("asm_sysvec_apic_timer_interrupt", 60.0).unwrap();
        assert!(cut.ends_with('…') && cut.starts_with("asm_sys"), "{cut}");
        assert_eq!(fitting("schedule", 100.0).unwrap(), "schedule");
    }
}
