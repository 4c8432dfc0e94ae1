//! Options of a measurement that is shown while it runs.

use clap::Args;
use wakepath_console::terminal::is_quiet;

/// How to show a measurement, and where to serve its figures while it runs.
#[derive(Debug, Default, Args)]
pub struct Live {
    /// Print the result as JSON, for scripts.
    #[arg(short, long)]
    pub json: bool,
    /// Plain lines instead of the live view, also on a terminal.
    #[arg(hide_short_help = true, long)]
    pub no_tui: bool,
    /// Serve live OpenMetrics at this port of this machine, such as `9464`.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "ADDRESS",
        long_help = "Serve live OpenMetrics during the run, for Prometheus: a port, \
        such as `9464`, means http://127.0.0.1:9464/metrics, which only this machine reaches; any other \
        address must be written out, such as `0.0.0.0:9464`, and has no password"
    )]
    pub metrics: Option<String>,
}

impl Live {
    /// Whether there is no live view.
    pub fn is_plain(&self) -> bool {
        self.no_tui || self.json || is_quiet()
    }
}
