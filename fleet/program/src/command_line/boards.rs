//! Arguments of the verbs that name boards.

use clap::Args;
use std::path::PathBuf;

/// Which boards.
#[derive(Debug, Args)]
pub struct Boards {
    /// Inventory of the fleet.
    #[arg(long, value_name = "FILE", default_value = "fleet.toml")]
    pub inventory: PathBuf,
    /// Boards that are meant: tag=WORD, tag!=WORD, name=NAME with `*`, or all; joined by commas.
    #[arg(long, value_name = "TERMS")]
    pub on: Vec<String>,
}
