//! Words of a random task set.

use super::sweep::{DistributionWord, nanoseconds, thousandths};
use clap::{Args, ValueEnum};
use wakepath_schedulability::Fit;
use wakepath_schedulability::sweep::Distribution;
use wakepath_timeline::LitmusPlugin;
use wakepath_timeline::duration::exact;

/// A random task set.
#[derive(Debug, Args)]
#[command(after_help = "\
The same words print the same set. Its phases are idle, CPU-bound, memory-bound and I/O-bound: change what \
you don't need.

Exit codes: 0 printed, 1 error.

Examples:
  wakepath scenario tasks --plugin PSN-EDF --cpus 2 --utilization 60 > set.toml
  wakepath scenario tasks --plugin P-FP --fit first --seed 2 > set.toml
  wakepath lab run set.toml --kernel ./bzImage --cpus 2")]
pub struct RandomTasks {
    /// The plugin.
    #[arg(long, value_name = "PLUGIN", value_enum, ignore_case = true)]
    pub plugin: PluginWord,
    /// CPUs that the tasks are put on, from 0.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub cpus: u16,
    /// Utilization of all CPUs together in percent.
    #[arg(long, value_name = "PERCENT", default_value = "50", value_parser = thousandths)]
    pub utilization: u32,
    /// How utilization is spread over tasks: light (0.1 % to 10 % of a CPU each), medium (10 % to 40 %).
    #[arg(long, value_name = "DISTRIBUTION", value_enum, default_value_t = DistributionWord::Medium)]
    pub distribution: DistributionWord,
    /// Which CPU a task is put on, under a plugin that keeps it there: the first with room, or the emptiest.
    #[arg(long, value_name = "FIT", value_enum, default_value_t = FitWord::Worst)]
    pub fit: FitWord,
    /// The shortest period; up to the longest, each octave is equally likely.
    #[arg(hide_short_help = true, long, value_name = "TIME", default_value = "1ms", value_parser = nanoseconds)]
    pub shortest_period: u64,
    /// The longest period.
    #[arg(hide_short_help = true, long, value_name = "TIME", default_value = "100ms", value_parser = nanoseconds)]
    pub longest_period: u64,
    /// Seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// A plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PluginWord {
    /// Fixed priorities, the shorter period first.
    #[value(name = "P-FP")]
    PFp,
    /// Earliest deadline first, each task on its CPU.
    #[value(name = "PSN-EDF")]
    PsnEdf,
    /// Earliest deadline first on all CPUs.
    #[value(name = "GSN-EDF")]
    GsnEdf,
    /// Earliest deadline first on clusters.
    #[value(name = "C-EDF")]
    CEdf,
}

/// A way to choose a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FitWord {
    /// The first with room.
    First,
    /// The emptiest.
    Worst,
}

impl RandomTasks {
    /// The requested tasks.
    ///
    /// # Errors
    /// Where the longest period is shorter than the shortest.
    pub fn wanted(&self) -> Result<wakepath_scenario::RandomTasks, String> {
        if self.longest_period < self.shortest_period {
            return Err(format!(
                "--longest-period {}: shorter than --shortest-period {}; give one that is longer",
                exact(self.longest_period),
                exact(self.shortest_period)
            ));
        }
        Ok(wakepath_scenario::RandomTasks {
            plugin: match self.plugin {
                PluginWord::PFp => LitmusPlugin::PFp,
                PluginWord::PsnEdf => LitmusPlugin::PsnEdf,
                PluginWord::GsnEdf => LitmusPlugin::GsnEdf,
                PluginWord::CEdf => LitmusPlugin::CEdf,
            },
            cpus: self.cpus,
            utilization_thousandths: self.utilization,
            distribution: match self.distribution {
                DistributionWord::Light => Distribution::light(),
                DistributionWord::Medium => Distribution::medium(),
            },
            fit: match self.fit {
                FitWord::First => Fit::First,
                FitWord::Worst => Fit::Worst,
            },
            shortest_period_ns: self.shortest_period,
            longest_period_ns: self.longest_period,
            seed: self.seed,
        })
    }
}
