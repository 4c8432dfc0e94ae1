//! `wakepath-fleet boards`: the inventory, as it was read.

use super::Outcome;
use crate::command_line::Boards;
use crate::terminal::print;
use std::process::ExitCode;
use wakepath_fleet_boards::{Inventory, Selection};

/// Lists them.
pub fn run(arguments: &Boards) -> Outcome {
    let selection = Selection::parse(&arguments.on)?;
    let inventory = Inventory::read(&arguments.inventory)?;
    let boards = selection.boards(&inventory)?;
    let width = boards
        .iter()
        .map(|board| board.name.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for board in boards {
        let port = board
            .port
            .map_or(String::new(), |port| format!(", port {port}"));
        let tags = board.tags.join(", ");
        text += &format!("{:<width$}  {}{port}  {tags}\n", board.name, board.address);
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
