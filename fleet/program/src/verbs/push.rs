//! `wakepath-fleet push`: the right program on each board, checked there.

use super::{Outcome, meant, ssh};
use crate::command_line::Push;
use crate::terminal::print;
use std::process::ExitCode;
use wakepath_fleet_boards::{Program, Pushed, each, push};

/// Pushes.
pub fn run(arguments: &Push) -> Outcome {
    let boards = meant(&arguments.boards)?;
    let programs = arguments.programs.iter().map(|path| Program::read(path));
    let programs = programs.collect::<Result<Vec<_>, _>>()?;
    for (index, program) in programs.iter().enumerate() {
        let alike = |other: &&Program| other.machine == program.machine;
        if let Some(other) = programs[..index].iter().find(alike) {
            let (this, that) = (program.path.display(), other.path.display());
            let machine = program.machine.name();
            return Err(format!("{this} and {that} are both for {machine}: give one").into());
        }
    }
    let ssh = ssh(&arguments.reached);
    let outcomes = each(&boards, arguments.reached.at_once, |board| {
        push(&ssh, board, &programs)
    });
    let width = boards
        .iter()
        .map(|board| board.name.len())
        .max()
        .unwrap_or(0);
    let (mut text, mut failed) = (String::new(), false);
    for (board, outcome) in boards.iter().zip(outcomes) {
        let said = match outcome {
            Ok((hello, pushed)) => {
                let word = match pushed {
                    Pushed::Now => "pushed",
                    Pushed::Before => "there already",
                };
                format!("{word}  {}, Linux {}", hello.arch, hello.kernel)
            }
            Err(error) => {
                failed = true;
                format!("not pushed: {error}")
            }
        };
        text += &format!("{:<width$}  {said}\n", board.name);
    }
    print(&text)?;
    Ok(ExitCode::from(u8::from(failed)))
}
