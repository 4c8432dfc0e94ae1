//! Cobalt's own latencies, measured by its device `timerbench`.
//!
//! The latency of its timer's handler, or of its own task in the kernel. The calling thread sleeps
//! in Linux during the measurement.

use super::abi::{self, BenchOrder, BenchResult, BindRequest};
use super::calls::{self, Device};
use super::narrowed::Narrowed;
use super::{known_revision, refused as core_refused};
use crate::affinity;
use crate::core_latency::{CoreLatency, CoreLatencyError, CoreLatencyOrder, CoreStage, refused};
use std::ffi::CString;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

const DEVICE_OPTION: &str = "CONFIG_XENO_DRIVERS_TIMERBENCH";
/// Its threads with their CPUs.
const THREADS: &str = "/proc/xenomai/sched/threads";

/// Makes the device measure, and waits for it.
///
/// # Errors
/// The reason why there is no figure.
pub(crate) fn measure(
    order: &CoreLatencyOrder,
    priority: u8,
) -> Result<CoreLatency, CoreLatencyError> {
    let revision = known_revision()?;
    if !Path::new(abi::TIMERBENCH).exists() {
        return Err(CoreLatencyError::NoDevice {
            device: abi::TIMERBENCH,
            option: DEVICE_OPTION,
        });
    }
    calls::bind(&mut BindRequest::new(abi::FEATURES, revision))
        .map_err(core_refused("bind the process"))?;
    let before = affinity::current().map_err(refused("tell its CPUs"))?;
    // The handler's timer is the CPU's that starts it.
    affinity::pin(&[order.cpu]).map_err(refused("start on that CPU"))?;
    let path = CString::new(abi::TIMERBENCH).unwrap_or_default();
    let device = Device::open(&path).map_err(refused("be opened"))?;
    {
        let _narrowed = match order.stage {
            CoreStage::Thread => Narrowed::to(order.cpu),
            CoreStage::Handler => None,
        };
        device
            .request(abi::BENCH_START, &mut of(order, priority))
            .map_err(refused("start"))?;
    }
    // Whatever the measurement does to that CPU, this thread can still stop it.
    affinity::pin(&before).map_err(refused("leave that CPU"))?;
    let cpu = match order.stage {
        CoreStage::Handler => Some(order.cpu),
        CoreStage::Thread => fs::read_to_string(THREADS)
            .ok()
            .and_then(|threads| cpu_of_the_task(&threads)),
    };
    thread::sleep(Duration::from_nanos(order.takes_ns()));
    let mut result = BenchResult::default();
    device
        .request(abi::BENCH_STOP, &mut result)
        .map_err(refused("stop"))?;
    counted(order, &result, cpu)
}

fn of(order: &CoreLatencyOrder, priority: u8) -> BenchOrder {
    BenchOrder {
        mode: match order.stage {
            CoreStage::Handler => abi::BENCH_HANDLER,
            CoreStage::Thread => abi::BENCH_TASK,
        },
        priority: priority.into(),
        period_ns: order.period_ns,
        warm_up_passages: 1,
        ..BenchOrder::default()
    }
}

/// Interprets its result: sums are of complete passes, with a second's periods each.
fn counted(
    order: &CoreLatencyOrder,
    result: &BenchResult,
    cpu: Option<u16>,
) -> Result<CoreLatency, CoreLatencyError> {
    let passages = u64::try_from(result.passages - 1).unwrap_or(0);
    if passages == 0 || (result.smallest_ns, result.largest_ns) == abi::NOTHING_COUNTED {
        let waited_s = order.takes_ns() / 1_000_000_000;
        return Err(CoreLatencyError::NothingCounted(waited_s));
    }
    Ok(CoreLatency {
        periods: passages * order.periods_in_a_second(),
        smallest_ns: result.smallest_ns.into(),
        mean_ns: result.mean_ns.into(),
        largest_ns: result.largest_ns.into(),
        overruns: u64::try_from(result.overruns).unwrap_or(0),
        cpu,
    })
}

/// The CPU of the line `  1  75     rt    core       80   …  [timerbench]`, if there is exactly
/// one.
fn cpu_of_the_task(threads: &str) -> Option<u16> {
    let mut tasks = threads
        .lines()
        .filter(|line| line.trim_end().ends_with("[timerbench]"));
    let (first, second) = (tasks.next()?, tasks.next());
    let cpu = first.split_whitespace().next()?.parse().ok()?;
    second.is_none().then_some(cpu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::Policy;

    const ORDER: CoreLatencyOrder = CoreLatencyOrder {
        policy: Policy::CobaltFifo { priority: 80 },
        stage: CoreStage::Thread,
        cpu: 1,
        period_ns: 300_000_000,
        seconds: 2,
    };

    #[test]
    fn its_result_counts_one_passage_more_than_were_measured() {
        let result = BenchResult {
            mean_ns: -3,
            smallest_ns: -20,
            largest_ns: 900,
            overruns: 2,
            passages: 3,
            histograms: [0; 3],
        };
        let latency = counted(&ORDER, &result, Some(1)).unwrap();
        assert_eq!(latency.periods, 6);
        assert_eq!((latency.smallest_ns, latency.largest_ns), (-20, 900));
        assert_eq!((latency.mean_ns, latency.overruns), (-3, 2));
    }

    #[test]
    fn a_warm_up_that_did_not_end_is_no_figure() {
        let (smallest_ns, largest_ns) = abi::NOTHING_COUNTED;
        let warming = BenchResult {
            smallest_ns,
            largest_ns,
            passages: 1,
            ..BenchResult::default()
        };
        assert!(counted(&ORDER, &warming, None).is_err());
        let begun = BenchResult {
            passages: 1,
            ..BenchResult::default()
        };
        assert!(counted(&ORDER, &begun, None).is_err());
    }

    #[test]
    fn the_tasks_cpu_is_read_where_there_is_one_task() {
        let one = "CPU  PID    CLASS TYPE      PRI   TIMEOUT       STAT       NAME\n\
            \x20 0  0      idle  core       -1   -             R          [ROOT/0]\n\
            \x20 1  77     rt    core       80   740us         D          [timerbench]\n";
        assert_eq!(cpu_of_the_task(one), Some(1));
        let two = format!(
            "{one}  0  78     rt    core       80   740us         D          [timerbench]\n"
        );
        assert_eq!(cpu_of_the_task(&two), None);
        assert_eq!(cpu_of_the_task(""), None);
    }
}
