//! Arguments of `query`.

use super::Looked;
use clap::{Args, ValueEnum};

/// Ask in SQL.
#[derive(Debug, Args)]
#[command(
    after_help = "Tables: runs, threads, conditions, hist, outliers, samples. An answer whose counts are not \
                        those of the records is void, and the exit code 1.\n\n\
                        Examples:\n  \
                        wakepath-fleet query                                  which questions have names\n  \
                        wakepath-fleet query quantiles --csv > quantiles.csv\n  \
                        wakepath-fleet query quantiles --show > mine.sql      its SQL, to begin with\n  \
                        wakepath-fleet query mine.sql\n  \
                        wakepath-fleet query worst --engine spark --master spark://head:7077"
)]
pub struct Query {
    /// The name of a question, or a file with one.
    #[arg(value_name = "NAME|FILE")]
    pub question: Option<String>,
    /// Print the question's SQL, and ask nothing.
    #[arg(long)]
    pub show: bool,
    /// The engine.
    #[arg(long, value_enum, default_value_t = EngineName::Embedded)]
    pub engine: EngineName,
    /// The cluster's master, as Spark knows it.
    #[arg(long, value_name = "URL", default_value = "local[*]")]
    pub master: String,
    /// A setting of Spark, `spark.key=value` (repeatable).
    #[arg(long = "spark", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Answer as CSV.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Answer as JSON: a list of objects.
    #[arg(long)]
    pub json: bool,
    /// The archive, and the seals that count.
    #[command(flatten)]
    pub at: Looked,
}

/// An engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// In this program.
    Embedded,
    /// A Spark cluster that sees the archive by the same path.
    Spark,
}
