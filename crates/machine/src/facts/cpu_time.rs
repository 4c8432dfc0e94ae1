//! Counters of `/proc/stat`: CPU time by kind, including stolen time, and context switches.
//!
//! Also the online and isolated CPUs at that time.

use serde::{Deserialize, Serialize};

use crate::{Misread, Reading, Root};
use wakepath_timeline::CpuSet;

/// The unit of the times in `/proc/stat`: `USER_HZ` is 100 on every architecture that wakepath
/// builds for, whatever `CONFIG_HZ` is.
pub const TICK_NS: u64 = 10_000_000;

/// CPU time and which CPUs take part.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuTime {
    /// CPUs online.
    pub online: Reading<CpuSet>,
    /// CPUs kept out of load balancing, as in effect.
    pub isolated: Reading<CpuSet>,
    /// CPUs without a periodic tick while one task runs, as in effect.
    pub nohz_full: Reading<CpuSet>,
    /// Whether cores are shared by several CPUs now: 1 if so.
    pub smt_active: Reading<u32>,
    /// Time spent by each CPU since boot.
    pub ticks: Reading<Vec<CpuTicks>>,
    /// Context switches since boot, all CPUs.
    pub context_switches: Reading<u64>,
    /// Runnable tasks and averages, as `/proc/loadavg` has them.
    pub load_average: Reading<String>,
    /// Time since boot, suspended time included, ms; the kernel gives hundredths of a second.
    pub uptime_ms: Reading<u64>,
}

/// One CPU's time since boot in ticks of [`TICK_NS`]: a shorter stay appears as zero or one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuTicks {
    /// The CPU.
    pub cpu: u16,
    /// Programs, low-priority ones and guests among them.
    pub user: u64,
    /// The kernel on behalf of programs.
    pub system: u64,
    /// Idle, waiting for a disk included.
    pub idle: u64,
    /// Interrupts and SoftIRQs.
    pub interrupt: u64,
    /// Taken by the hypervisor while this CPU wanted to run.
    pub steal: u64,
}

impl CpuTicks {
    /// All time accounted for, in ticks.
    pub fn total(&self) -> u64 {
        [
            self.user,
            self.system,
            self.idle,
            self.interrupt,
            self.steal,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }
}

impl CpuTime {
    pub(super) fn read(root: &Root) -> Self {
        let list = |name: &str| root.cpus(&format!("/sys/devices/system/cpu/{name}"));
        let stat = root.text("/proc/stat");
        Self {
            online: list("online"),
            isolated: list("isolated"),
            nohz_full: list("nohz_full"),
            smt_active: root.number("/sys/devices/system/cpu/smt/active"),
            ticks: stat.clone().parse(|text| ticks(text)),
            context_switches: stat.parse(|text| context_switches(text)),
            load_average: root.text("/proc/loadavg"),
            uptime_ms: root.parsed("/proc/uptime", uptime),
        }
    }

    /// Ticks stolen from all CPUs since boot.
    pub fn stolen(&self) -> Option<u64> {
        Some(
            self.ticks
                .known()?
                .iter()
                .fold(0, |sum, cpu| sum.saturating_add(cpu.steal)),
        )
    }
}

fn ticks(text: &str) -> Result<Vec<CpuTicks>, Misread> {
    let mut all = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(cpu) = words
            .next()
            .and_then(|word| word.strip_prefix("cpu")?.parse().ok())
        else {
            continue;
        };
        let counts: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        // user nice system idle iowait irq softirq steal guest guest_nice, as in proc_stat(5);
        // guest time is already in user.
        let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = counts[..] else {
            let counts = counts.len();
            return Err(Misread::TooFewCounts { cpu, counts });
        };
        all.push(CpuTicks {
            cpu,
            user: user.saturating_add(nice),
            system,
            idle: idle.saturating_add(iowait),
            interrupt: irq.saturating_add(softirq),
            steal,
        });
    }
    if all.is_empty() {
        Err(Misread::lacks("`cpuN` line"))
    } else {
        Ok(all)
    }
}

fn context_switches(text: &str) -> Result<u64, Misread> {
    text.lines()
        .find_map(|line| line.strip_prefix("ctxt ")?.trim().parse().ok())
        .ok_or_else(|| Misread::lacks("`ctxt` line"))
}

fn uptime(text: &str) -> Result<u64, Misread> {
    let wrong = || Misread::NotOfForm("seconds with two decimals");
    let first = text.split_whitespace().next().ok_or_else(wrong)?;
    let (seconds, hundredths) = first.split_once('.').ok_or_else(wrong)?;
    let seconds: u64 = seconds.parse().map_err(|_| wrong())?;
    let hundredths: u64 = hundredths.parse().map_err(|_| wrong())?;
    let whole = seconds.checked_mul(1_000).ok_or_else(wrong)?;
    if hundredths > 99 {
        Err(wrong())
    } else {
        whole.checked_add(hundredths * 10).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stolen_time_is_the_eighth_count() {
        let text = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 4 5 6 7 8 9 10\nctxt 42\n";
        let cpus = ticks(text).unwrap();
        assert_eq!(cpus.len(), 1);
        assert_eq!(cpus[0].steal, 8);
        assert_eq!(cpus[0].total(), 36);
        assert_eq!(context_switches(text), Ok(42));
        assert_eq!(uptime("812.04 3100.10"), Ok(812_040));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "(cpu[0-9]{0,3}|ctxt|[0-9]{1,20}|[ \n-])*") {
            let _ = (ticks(&text), context_switches(&text), uptime(&text));
        }

        #[test]
        fn the_largest_counts_do_not_overflow(extra: u64) {
            let most = u64::MAX;
            let text = format!("cpu0 {most} {extra} {most} {most} {most} {most} {most} {most}");
            prop_assert_eq!(ticks(&text).unwrap()[0].total(), u64::MAX);
        }
    }
}
