//! Arguments of the verbs that look through an archive.

use super::Looked;
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Compare runs of one kind with runs of another.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing regressed, 2 something did, 3 inconclusive, 1 error.\n\n\
                        Examples:\n  \
                        wakepath-fleet regressions --first kernel=6.6.31-rt --second kernel=6.12.9-rt\n  \
                        wakepath-fleet regressions --first governor=schedutil --second governor=performance --margin 5\n  \
                        wakepath-fleet regressions --first kernel=6.6.31-rt --second kernel=6.12.9-rt --blocks turns"
)]
pub struct Regressions {
    /// Runs of the first side: a fact and its value.
    #[arg(long, value_name = "FACT=VALUE")]
    pub first: String,
    /// Runs of the second side.
    #[arg(long, value_name = "FACT=VALUE")]
    pub second: String,
    /// Tolerated increase, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 10.0)]
    pub margin: f64,
    /// Compare only within blocks: `turns` in which the two kinds were measured, a `day`, or a fact
    /// by name.
    #[arg(long, value_name = "turns|day|FACT")]
    pub blocks: Option<String>,
    /// JSON.
    #[arg(long)]
    pub json: bool,
    /// The archive, and the seals that count.
    #[command(flatten)]
    pub at: Looked,
}

/// Find changes in histories.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                        wakepath-fleet changes\n  \
                        wakepath-fleet changes --json | jq '.[].change.differences'")]
pub struct Changes {
    /// JSON.
    #[arg(long)]
    pub json: bool,
    /// The archive, and the seals that count.
    #[command(flatten)]
    pub at: Looked,
}

/// Write the site.
#[derive(Debug, Args)]
#[command(
    after_help = "The pages need no server and load nothing from elsewhere.\n\n\
                        Examples:\n  \
                        wakepath-fleet site --output fleet-site\n  \
                        wakepath-fleet site --reports 3        with the reports of each board's last three runs\n  \
                        xdg-open fleet-site/index.html"
)]
pub struct Site {
    /// The output directory.
    #[arg(long, short, value_name = "DIRECTORY", default_value = "fleet-site")]
    pub output: PathBuf,
    /// Number of each board's newest runs to write reports of.
    #[arg(long, value_name = "RUNS", default_value_t = 0)]
    pub reports: usize,
    /// The wakepath that writes reports; without it the one on the PATH.
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// The archive, and the seals that count.
    #[command(flatten)]
    pub at: Looked,
}

/// Show the site.
#[derive(Debug, Args)]
#[command(
    after_help = "Serves the pages of `site`, each made on request, with a link from every run to \
                        its report. Anyone who reaches the address can read them; there is no \
                        password.\n\n\
                        Examples:\n  \
                        wakepath-fleet serve\n  \
                        wakepath-fleet serve --address 127.0.0.1:9000 --program ./wakepath"
)]
pub struct Serve {
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub address: SocketAddr,
    /// The wakepath that writes reports; without it the one on the PATH.
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// The archive, and the seals that count.
    #[command(flatten)]
    pub at: Looked,
}

/// Export for other systems.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                        wakepath-fleet export openmetrics > /var/lib/node_exporter/wakepath.prom\n  \
                        wakepath-fleet export kcidb --origin mylab > report.json")]
pub struct Export {
    /// Which form.
    #[arg(value_enum)]
    pub form: ExportForm,
    /// Submitter, for KCIDB.
    #[arg(long, value_name = "NAME", default_value = "wakepath")]
    pub origin: String,
    /// The archive, and the seals that count.
    #[command(flatten)]
    pub at: Looked,
}

/// A form of other systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// OpenMetrics 1.0: the newest run of each board under each kernel.
    Openmetrics,
    /// KernelCI's database, schema 5.3: every run.
    Kcidb,
}
