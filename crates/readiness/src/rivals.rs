//! Programs that write the settings of a plan, by the names of their processes. Their effects are
//! judged in `checks`.

/// It spreads interrupts over the CPUs, again and again.
pub const BALANCER: &str = "irqbalance";

/// They switch profiles of frequency, idle states and the scheduler.
pub const WRITERS: &[&str] = &[
    "tuned",
    "power-profiles-daemon",
    "tlp",
    "auto-cpufreq",
    "thermald",
];
