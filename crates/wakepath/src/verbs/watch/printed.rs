//! Output of a watch: its figures, remarks and causes, on one screen or all of them.

use super::Failure;
use crate::command_line::Watch;
use crate::fit_to_screen::{MOST, fit_to_screen};
use crate::report_files;
use crate::watched_program::{in_short, text};
use wakepath_archive::{Run, command_about};
use wakepath_assess::watched::{Figures, Ros2Figures};
use wakepath_console::explanation::write_beside;
use wakepath_console::terminal::{self, OneLine, folded_for_people, print, print_result};
use wakepath_directory::Directory;
use wakepath_measure::watch::{Ended, Recorded};
use wakepath_report::{Ros2Room, late_in_short, late_text, ros2_text};
use wakepath_timeline::CpuSet;

/// The figures as JSON has them.
#[derive(serde::Serialize)]
struct All<'a> {
    #[serde(flatten)]
    figures: &'a Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    ros2: Option<&'a Ros2Figures>,
}

/// How much of it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Much {
    /// One screen.
    Screen,
    /// All of it.
    All,
    /// The latency above which it was to end, which fills a screen of its own.
    Latency,
}

/// Lines of one screen.
const SCREEN: usize = 40;
/// Lines of it for figures and remarks at most.
const FIGURES_ROOM: usize = 18;
/// Lines for the places of recording and report, and what to type for more.
const PLACES_ROOM: usize = 7;

/// A program that is gone after this time ended while the watch began.
const BEGINNING_NS: u64 = 300_000_000;

/// Says what was seen; the number of its lines.
pub(super) fn tell(
    arguments: &Watch,
    recorded: &Recorded,
    figures: &Figures,
    ros2: Option<&Ros2Figures>,
    shown: Much,
) -> Result<usize, Failure> {
    if arguments.order.is_some() {
        return Ok(0);
    }
    let Recorded {
        session,
        traced,
        ended,
        ..
    } = recorded;
    if arguments.live.json {
        let all = All { figures, ros2 };
        let text = serde_json::to_string_pretty(&all)? + "\n";
        print_result(true, &text)?;
        return Ok(0);
    }
    let cpus = CpuSet::from(&figures.cpus[..]);
    let lost = match figures.events_lost {
        0 => "none lost".to_owned(),
        lost => format!("{lost} lost: activations they touch are left out or unexplained"),
    };
    let has_ended = *ended == Ended::ByItself && arguments.command.is_empty();
    let end = if !has_ended {
        ""
    } else if traced.wall_ns < BEGINNING_NS {
        "it ended while the watch began\n"
    } else {
        "it ended during the watch\n"
    };
    let head = format!(
        "{} watched for {:.1} s on CPU {cpus}: {} kernel events, {lost}\n{end}\n",
        session.run_name(),
        traced.wall_ns as f64 / 1e9,
        figures.events
    );
    let callbacks = |room: &Ros2Room| {
        ros2.map_or_else(String::new, |ros2| {
            ros2_text(ros2, terminal::columns(), room) + "\n"
        })
    };
    let notes = |most| {
        let notes = session.notes.iter().take(most);
        notes
            .map(|note| format!("note: {note}\n"))
            .collect::<String>()
    };
    let whole = head.clone() + &callbacks(&Ros2Room::WHOLE) + &text(figures) + &notes(usize::MAX);
    let in_short = |most: usize| {
        head.clone()
            + &callbacks(&Ros2Room::new(most))
            + &in_short(figures, most)
            + &notes(most.div_ceil(2))
    };
    let text = match shown {
        Much::All => folded_for_people(&whole),
        Much::Screen => fit_to_screen(FIGURES_ROOM, MOST, in_short),
        Much::Latency => folded_for_people(&head),
    };
    print(&text)?;
    Ok(text.lines().count())
}

/// Writes explanation, overheads and report next to the run, and shows the causes in the room that
/// figures leave.
pub(super) fn explain(
    directory: &Directory,
    arguments: &Watch,
    shown: Much,
    lines: usize,
) -> Result<(), Failure> {
    let run = Run::open_in(directory)?;
    let explanation = write_beside(&run, directory)?;
    if let Some(explanation) = explanation.filter(|_| !arguments.live.json) {
        let whole = || late_text(&explanation, arguments.worst);
        print(&match shown {
            Much::All => folded_for_people(&whole()),
            Much::Screen => {
                fit_to_screen(SCREEN.saturating_sub(PLACES_ROOM + lines), MOST, |most| {
                    late_in_short(&explanation, most)
                })
            }
            Much::Latency => String::new(),
        })?;
    }
    let (assessment, pictures) = wakepath_console::progress::assessed(&run, true)?;
    let report = report_files::write_beside(&run, directory, &assessment, &pictures)?;
    let said = format!(
        "\nrecording: {}\nreport: {}\n",
        directory.path().in_one_line(),
        report.in_one_line()
    );
    // Empty for the latest run, which needs no name.
    let run = wakepath_console::runs::word_for(directory.path());
    let more = match shown {
        Much::All => String::new(),
        _ => format!(
            "all of it: {}; {}\n",
            command_about("explain", &run, "--all"),
            command_about("show", &run, "--details")
        ),
    };
    let said = said + &more;
    if arguments.live.json {
        terminal::tell_text(&said)
    } else {
        print(&said)?
    }
    Ok(())
}
