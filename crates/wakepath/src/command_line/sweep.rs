//! Words of the sweep over random task sets.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Show which share of random task sets holds, over their utilization, under several policies and
/// several kernels' overheads.
#[derive(Debug, Args)]
#[command(after_help = "\
Each set is made from the seed, its point and its number: the result is the same, byte for byte, on any \
number of threads or machines.

Examples:
  wakepath schedulability sweep --output sweep.html
  wakepath schedulability sweep --overheads wakepath-runs/check-1
  wakepath schedulability sweep --cpus 16 --cluster 4 --utilization 60,70,80,90
In parts, on several machines:
  wakepath schedulability sweep --points 0..40 > a.json
  wakepath schedulability sweep --points 40..80 > b.json
  wakepath schedulability sweep --merge a.json --merge b.json --output s.html")]
pub struct SchedulabilitySweep {
    /// CPUs of the machine.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub cpus: u16,
    /// CPUs of a cluster under C-EDF.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub cluster: u16,
    /// The policies, with commas between them: P-FP, P-EDF, G-EDF, C-EDF.
    #[arg(long, value_name = "POLICIES", value_enum, value_delimiter = ',', ignore_case = true,
          default_values_t = [SweptPolicy::PFp, SweptPolicy::PEdf, SweptPolicy::GEdf, SweptPolicy::CEdf])]
    pub policies: Vec<SweptPolicy>,
    /// How utilization is spread over tasks: light (0.1 % to 10 % of a CPU each), medium (10 % to 40 %).
    #[arg(hide_short_help = true, long, value_name = "DISTRIBUTIONS", value_enum, value_delimiter = ',',
          default_values_t = [DistributionWord::Light, DistributionWord::Medium])]
    pub distributions: Vec<DistributionWord>,
    /// Utilizations of all CPUs together in percent, with commas between them [default: 2.5 to 100 in
    /// steps of 2.5].
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', value_parser = thousandths)]
    pub utilization: Vec<u32>,
    /// The shortest period; up to the longest, each octave is equally likely.
    #[arg(hide_short_help = true, long, value_name = "TIME", default_value = "1ms", value_parser = nanoseconds)]
    pub shortest_period: u64,
    /// The longest period.
    #[arg(hide_short_help = true, long, value_name = "TIME", default_value = "100ms", value_parser = nanoseconds)]
    pub longest_period: u64,
    /// A traced run whose overheads make further curves, next to none and the published ones.
    #[arg(hide_short_help = true, long, value_name = "RUN")]
    pub overheads: Vec<PathBuf>,
    /// Seed of all random numbers.
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// At each point, a curve judges sets until its share is known within this many percentage points to
    /// either side; 0: until --sets.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "POINTS",
        default_value_t = 1.0
    )]
    pub within: f64,
    /// Most sets to judge at each point.
    #[arg(long, value_name = "N", default_value_t = 12_500, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub sets: u64,
    /// Threads that compute [default: one for each CPU that this process can use].
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Compute only these points, as FIRST..LAST without LAST, and print them as JSON: the share of one
    /// worker among several.
    #[arg(hide_short_help = true, long, value_name = "FIRST..LAST", value_parser = range, conflicts_with_all = ["output", "merge"])]
    pub points: Option<std::ops::Range<usize>>,
    /// Merge the parts that --points printed; give it once for each part. They hold what was swept
    /// over.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub merge: Vec<PathBuf>,
    /// Write the figures and all points as one HTML file.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// A policy that is swept over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SweptPolicy {
    /// Fixed priorities, threads pinned.
    #[value(name = "P-FP")]
    PFp,
    /// Earliest deadline first, threads pinned.
    #[value(name = "P-EDF")]
    PEdf,
    /// Earliest deadline first on all CPUs.
    #[value(name = "G-EDF")]
    GEdf,
    /// Earliest deadline first on clusters.
    #[value(name = "C-EDF")]
    CEdf,
}

/// A distribution of utilization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DistributionWord {
    /// 0.1 % to 10 % of a CPU each.
    Light,
    /// 10 % to 40 % each.
    Medium,
}

pub(super) fn thousandths(text: &str) -> Result<u32, String> {
    match text.trim().parse::<f64>() {
        Ok(percent) if (0.1..=100.0).contains(&percent) && (percent * 10.0).fract() == 0.0 => {
            Ok((percent * 10.0) as u32)
        }
        _ => Err("give percent from 0.1 to 100, one decimal at most, such as 72.5".into()),
    }
}

pub(super) fn nanoseconds(text: &str) -> Result<u64, String> {
    let time = humantime::parse_duration(text).ok();
    let ns = time.and_then(|time| u64::try_from(time.as_nanos()).ok());
    // Shorter ones are no periods of threads; longer ones add nothing but digits.
    ns.filter(|ns| (1_000..=3_600_000_000_000).contains(ns))
        .ok_or_else(|| "give a time from 1us to 1h, such as 10ms".into())
}

fn range(text: &str) -> Result<std::ops::Range<usize>, String> {
    let ends = text.split_once("..");
    let number = |text: &str| text.trim().parse().ok();
    match ends.and_then(|(first, last)| Some((number(first)?, number(last)?))) {
        Some((first, last)) if first < last => Ok(first..last),
        _ => Err("give the first and the one after the last, such as 0..40".into()),
    }
}
