//! Options that every program has: colour and how much it prints.

use crate::terminal;
use clap::{Args, ValueEnum};

/// How a program prints, whatever it does.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Printing {
    /// Colours: auto, always or never.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub color: When,
    /// Print results, warnings and errors only.
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

impl Printing {
    /// Applies it to all that this process prints from here on.
    pub fn apply(self) {
        wakepath_report::choose_colour(self.color.into());
        if self.quiet {
            terminal::be_quiet();
        }
    }
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl When {
    /// As it is typed, unless it is the default.
    pub fn given(self) -> Option<&'static str> {
        match self {
            Self::Auto => None,
            Self::Always => Some("always"),
            Self::Never => Some("never"),
        }
    }
}

impl From<When> for wakepath_report::Colour {
    fn from(when: When) -> Self {
        match when {
            When::Auto => Self::Auto,
            When::Always => Self::Always,
            When::Never => Self::Never,
        }
    }
}
