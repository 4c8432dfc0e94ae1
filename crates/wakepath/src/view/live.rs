//! The live view: a few lines at the bottom of the terminal, drawn again in place, with the worst
//! seen so far of every condition. The scroll-back stays as it was.

use super::{headline, short_time, worst_line, worst_of};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Gauge, Paragraph, Row, Table};
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};
use std::io::Stderr;
use std::path::Path;
use std::time::{Duration, Instant};
use wakepath_measure::{LiveFigures, Observer, Plan, Segment};

/// Between two drawings: enough for a person, nothing for a CPU.
const REDRAW_EVERY: Duration = Duration::from_millis(200);
/// Lines beside the table: headline, status, gauge, table head.
const FIXED_LINES: u16 = 4;
/// Beyond it a terminal would be all table.
const MOST_ROWS: usize = 24;

/// One line of the table: the worst of a condition in a phase so far.
#[derive(Debug, Clone)]
struct Cellful {
    phase: String,
    condition: String,
    executed: u64,
    skipped: u64,
    median_ns: i64,
    max_ns: i64,
    problem: Option<String>,
    measured: bool,
}

/// Draws on standard error.
pub struct LiveView {
    terminal: Option<Terminal<CrosstermBackend<Stderr>>>,
    headline: String,
    /// The worst explained cycle of the run so far, in nanoseconds and in words; `None` where nothing is
    /// traced.
    worst: Option<(u64, String)>,
    status: String,
    rows: Vec<Cellful>,
    current: Option<usize>,
    figures: LiveFigures,
    planned: Duration,
    begun: Instant,
    drawn: Instant,
    segments: usize,
    ended: usize,
}

impl LiveView {
    /// A view that isn't drawn before the run begins.
    ///
    /// # Errors
    /// When the terminal's size can't be had.
    pub fn new() -> std::io::Result<Self> {
        ratatui::crossterm::terminal::size()?;
        Ok(Self {
            terminal: None,
            headline: String::new(),
            worst: None,
            status: String::new(),
            rows: Vec::new(),
            current: None,
            figures: LiveFigures::default(),
            planned: Duration::ZERO,
            begun: Instant::now(),
            drawn: Instant::now(),
            segments: 0,
            ended: 0,
        })
    }

    fn draw(&mut self) {
        let Some(mut terminal) = self.terminal.take() else {
            return;
        };
        // A terminal that can't be drawn on loses the view, not the run.
        if terminal.draw(|frame| self.render(frame)).is_ok() {
            self.terminal = Some(terminal);
        }
        self.drawn = Instant::now();
    }

    fn render(&self, frame: &mut Frame<'_>) {
        let [headline, table, worst, status, gauge] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Min(1),
            Constraint::Length(self.worst.is_some().into()),
            Constraint::Length(1),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        let bold = Style::new().add_modifier(Modifier::BOLD);
        frame.render_widget(Line::styled(self.headline.as_str(), bold), headline);
        frame.render_widget(self.table(), table);
        if let Some((_, text)) = &self.worst {
            frame.render_widget(Paragraph::new(text.as_str()), worst);
        }
        frame.render_widget(Paragraph::new(self.status.as_str()), status);
        let ratio = (self.ended as f64 / self.segments.max(1) as f64).clamp(0.0, 1.0);
        let label = format!(
            "{}/{} segments, {} s of about {} s",
            self.ended,
            self.segments,
            self.begun.elapsed().as_secs(),
            self.planned.as_secs()
        );
        frame.render_widget(
            Gauge::default()
                .gauge_style(Style::new().fg(Color::Blue))
                .ratio(ratio)
                .label(label),
            gauge,
        );
    }

    fn table(&self) -> Table<'_> {
        let heads = [
            "load",
            "policy",
            "cycles",
            "skipped",
            "median",
            "max wake-up latency",
        ];
        let rows = self
            .rows
            .iter()
            .enumerate()
            .take(MOST_ROWS)
            .map(|(index, row)| {
                let now = self.current == Some(index);
                // While a segment runs its figures are those of the moment, folded into the worst.
                let live = if now {
                    self.figures
                } else {
                    LiveFigures::default()
                };
                let executed = row.executed + live.executed;
                let skipped = row.skipped + live.skipped;
                let max_ns = row.max_ns.max(live.max_ns);
                let median_ns = if now && live.executed > 0 {
                    live.median_ns
                } else {
                    row.median_ns
                };
                let (median, max) = match (&row.problem, executed) {
                    (Some(problem), _) => (String::new(), problem.clone()),
                    (None, 0) => (String::new(), String::new()),
                    (None, _) => (short_time(median_ns), short_time(max_ns)),
                };
                let count = |n: u64| {
                    if row.measured || now {
                        n.to_string()
                    } else {
                        String::new()
                    }
                };
                let style = match (now, skipped, &row.problem) {
                    (_, _, Some(_)) => Style::new().fg(Color::Yellow),
                    (true, ..) => Style::new().fg(Color::Cyan),
                    (false, 1.., None) => Style::new().fg(Color::Red),
                    _ => Style::new(),
                };
                Row::new([
                    Cell::from(row.phase.as_str()),
                    Cell::from(row.condition.as_str()),
                    Cell::from(count(executed)),
                    Cell::from(count(skipped)),
                    Cell::from(median),
                    Cell::from(max),
                ])
                .style(style)
            });
        let widths = [
            Constraint::Length(14),
            Constraint::Length(18),
            Constraint::Length(9),
            Constraint::Length(9),
            Constraint::Length(11),
            Constraint::Min(20),
        ];
        Table::new(rows, widths).header(Row::new(heads).style(Style::new().fg(Color::DarkGray)))
    }

    fn row_of(&self, segment: &Segment) -> Option<usize> {
        let planned = &segment.planned;
        self.rows
            .iter()
            .position(|row| row.phase == planned.phase && row.condition == planned.condition)
    }
}

impl Observer for LiveView {
    fn begun(&mut self, plan: &Plan, planned_ns: u64, directory: &Path) {
        for segment in plan.segments() {
            if self.row_of(segment).is_none() {
                self.rows.push(Cellful {
                    phase: segment.planned.phase.clone(),
                    condition: segment.planned.condition.clone(),
                    executed: 0,
                    skipped: 0,
                    median_ns: 0,
                    max_ns: i64::MIN,
                    problem: None,
                    measured: false,
                });
            }
        }
        self.headline = format!("{}; recording to {}", headline(plan), directory.display());
        self.planned = Duration::from_nanos(planned_ns);
        self.begun = Instant::now();
        self.segments = plan.segments().count();
        if plan.segments().any(|segment| segment.planned.traced) {
            let text = "worst traced cycle: its cause is told after the first traced segment";
            self.worst = Some((0, text.into()));
        }
        let height =
            FIXED_LINES + u16::from(self.worst.is_some()) + self.rows.len().min(MOST_ROWS) as u16;
        self.terminal = Terminal::with_options(
            CrosstermBackend::new(std::io::stderr()),
            TerminalOptions {
                viewport: Viewport::Inline(height),
            },
        )
        .ok();
        self.draw();
    }

    fn phase(&mut self, name: &str, repetition: u32, loads: &[String]) {
        self.status = match loads {
            [] => format!("phase {name}, repetition {}", repetition + 1),
            loads => {
                format!(
                    "phase {name}, repetition {}: {}",
                    repetition + 1,
                    loads.join(", ")
                )
            }
        };
        self.draw();
    }

    fn segment_begun(&mut self, segment: &Segment) {
        self.current = self.row_of(segment);
        self.figures = LiveFigures::default();
    }

    fn live(&mut self, figures: &LiveFigures) {
        self.figures = *figures;
    }

    fn segment_ended(&mut self, segment: &Segment, problem: Option<&str>) {
        self.ended += 1;
        if let Some(row) = self.row_of(segment).map(|index| &mut self.rows[index]) {
            row.executed += self.figures.executed;
            row.skipped += self.figures.skipped;
            row.median_ns = self.figures.median_ns;
            if self.figures.executed > 0 {
                row.max_ns = row.max_ns.max(self.figures.max_ns);
            }
            row.measured = true;
            row.problem = problem.map(str::to_owned).or(row.problem.take());
        }
        self.current = None;
        self.figures = LiveFigures::default();
        self.draw();
    }

    fn traced(&mut self, segment: &Segment, directory: &Path) {
        let Some(worst) = worst_of(self, segment, directory) else {
            return;
        };
        if self
            .worst
            .as_ref()
            .is_none_or(|so_far| worst.latency_ns > so_far.0)
        {
            let text = format!(
                "worst traced cycle: {} ({}, {})",
                worst_line(&worst),
                segment.planned.condition,
                segment.planned.phase
            );
            self.worst = Some((worst.latency_ns, text));
            self.draw();
        }
    }

    fn note(&mut self, text: &str) {
        self.status = format!("note: {text}");
        self.draw();
    }

    fn tick(&mut self) {
        if self.drawn.elapsed() >= REDRAW_EVERY {
            self.draw();
        }
    }

    fn finishing(&mut self) {
        self.status = "putting the recording in order".into();
        self.draw();
        if let Some(mut terminal) = self.terminal.take() {
            // The result takes the view's place. A terminal that refuses shows both.
            let top = terminal.get_frame().area().y;
            let _ = terminal
                .clear()
                .and_then(|()| terminal.set_cursor_position((0, top)));
        }
    }
}
