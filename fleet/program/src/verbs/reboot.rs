//! `wakepath-fleet reboot`: boots another kernel once, and prints the running one.

use super::{Outcome, meant, ssh};
use crate::command_line::Reboot;
use crate::terminal::print;
use std::process::ExitCode;
use std::time::Duration;
use wakepath_fleet_boards::{Boot, Rebooted, each, is_plain, reboot};

/// Boots.
pub fn run(arguments: &Reboot) -> Outcome {
    let entry = arguments.entry.as_deref();
    if let Some(entry) = entry.filter(|entry| !is_plain(entry)) {
        return Err(format!("--entry {entry:?}: letters, digits and . _ + -").into());
    }
    let boards = meant(&arguments.boards)?;
    let boot = Boot {
        how: match entry {
            Some(_) => arguments.loader.clone(),
            None => "usual".into(),
        },
        entry: entry.unwrap_or("usual").into(),
        kernel: arguments.kernel.clone(),
        patience: Duration::from_secs(arguments.wait.get()),
    };
    let ssh = ssh(&arguments.reached);
    let outcomes = each(&boards, arguments.reached.at_once, |board| {
        reboot(&ssh, board, &boot)
    });
    let width = boards
        .iter()
        .map(|board| board.name.len())
        .max()
        .unwrap_or(0);
    let (mut text, mut code) = (String::new(), 0);
    for (board, outcome) in boards.iter().zip(outcomes) {
        let said = match outcome {
            Ok(Rebooted::As(found)) => format!("runs {}", found.kernel),
            Ok(other) => {
                code = 1;
                match other {
                    Rebooted::FellBack(found) | Rebooted::As(found) => {
                        format!("fell back: runs {}, not {}", found.kernel, boot.kernel)
                    }
                    Rebooted::AfterPower(found) => {
                        let power = "its power was switched off and on";
                        format!(
                            "fell back: did not come back; {power}, runs {}",
                            found.kernel
                        )
                    }
                    Rebooted::Lost(why) => format!("lost: did not come back: {why}"),
                }
            }
            Err(error) => {
                code = 1;
                format!("not booted: {error}")
            }
        };
        text += &format!("{:<width$}  {said}\n", board.name);
    }
    print(&text)?;
    Ok(ExitCode::from(code))
}
