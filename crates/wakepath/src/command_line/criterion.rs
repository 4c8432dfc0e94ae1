//! Words of every verb that judges: the limits, by one name each.

use clap::Args;

/// The limits that cycles are judged by.
#[derive(Debug, Args, Default)]
pub struct CriterionOptions {
    /// Latest wake-up that is tolerated, such as `100us` or `10 %` of the period.
    #[arg(long, value_name = "TIME", help_heading = "Criterion")]
    pub latency: Option<String>,
    /// Share of cycles that may miss a limit, such as `0.1 %`.
    #[arg(long, value_name = "SHARE", help_heading = "Criterion")]
    pub miss_fraction: Option<String>,
    /// Any limits of a scenario's [criterion], separated by commas.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "CRITERION",
        help_heading = "Criterion",
        long_help = "Any limits of a scenario's [criterion], separated by commas: `latency 200us`, \
        `deadline 1 period`, `miss-fraction 0.1 %`, `consecutive-misses 1`, `outage 3 periods`, `evidence`, \
        `confidence`. `check`, `run` and `rate` keep the other limits of their scenario. `record` starts from \
        a cycle being missed if it is not done by the next due time, with 0.5 % of misses tolerated"
    )]
    pub criterion: Option<String>,
}
