//! Arguments of the verbs that keep an archive.

use clap::Args;
use std::path::PathBuf;

/// Which archive.
#[derive(Debug, Args)]
pub struct Archive {
    /// The archive: a directory or s3://BUCKET/PREFIX; only `add` creates it.
    #[arg(long, short, value_name = "PLACE", default_value = "fleet-archive")]
    pub archive: String,
    /// As root: write even in a directory that other users can change.
    #[arg(long)]
    pub trust_directory: bool,
}

/// Whose seals are trusted.
#[derive(Debug, Args)]
pub struct Seals {
    /// Count no run without a seal that this trust file vouches for [default: the archive's file
    /// `trust`, if it exists].
    #[arg(long, value_name = "FILE")]
    pub trust: Option<PathBuf>,
}

/// An archive, and the seals that count.
#[derive(Debug, Args)]
pub struct Looked {
    /// Whose seals are trusted.
    #[command(flatten)]
    pub seals: Seals,
    /// Which archive.
    #[command(flatten)]
    pub of: Archive,
}

/// Add runs.
#[derive(Debug, Args)]
#[command(
    after_help = "A run is taken whole or not at all, and once: add it again as often as you like, from \
                        as many controllers as you like. A run that was changed after its seal is \
                        refused, even from a trusted signer.\n\n\
                        Examples:\n  \
                        wakepath-fleet add --board pi5-07 wakepath-runs/2026*\n  \
                        wakepath-fleet add --archive /srv/fleet --board pi5-07 RUN"
)]
pub struct Add {
    /// Run directories, as `wakepath run` leaves them.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// The board that they were measured on.
    #[arg(long, value_name = "NAME")]
    pub board: String,
    /// The archive, and the seals that count.
    #[command(flatten)]
    pub to: Looked,
}

/// Remove expendable samples.
#[derive(Debug, Args)]
#[command(
    after_help = "Kept indefinitely: the manifest of each run, its histograms, its worst cycles, its seals \
                        and their runs' samples.\n\n\
                        Examples:\n  \
                        wakepath-fleet gc --dry-run --samples-before 2026-08-01\n  \
                        wakepath-fleet gc --samples-before \"$(date -d '-90 days' +%F)\""
)]
pub struct Gc {
    /// Show what would be removed, and remove nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Remove samples of runs that began before this day [default: none].
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub samples_before: Option<String>,
    /// The archive.
    #[command(flatten)]
    pub of: Archive,
}

/// See whether an archive is whole.
#[derive(Debug, Args)]
#[command(
    after_help = "Reads every object and compares it with its name, and every seal with its run. Exit code 1 \
                        where something is missing, was altered or is not as it was sealed.\n\n\
                        Examples:\n  \
                        wakepath-fleet check --archive /srv/fleet\n  \
                        wakepath-fleet check --trust boards.trust"
)]
pub struct Check {
    /// Which.
    #[command(flatten)]
    pub at: Looked,
}
