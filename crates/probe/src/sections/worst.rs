//! The longest section alone, by the kernel's tracer `preemptirqsoff`, if the kernel was built with that and
//! without the events.

use wakepath_archive::{KernelSections, SectionFound, SectionKind};

use crate::error::KernelMeasureError;
use crate::kernel_tracer::{KernelTracer, sleep_for};
use crate::tracefs::Tracefs;

/// Looks at one CPU with the tracer; `missing` is what the kernel lacks of the events.
pub(super) fn measure(
    tracefs: &Tracefs,
    cpu: u16,
    for_ns: u64,
    missing: &str,
) -> Result<KernelSections, KernelMeasureError> {
    let tracer = match KernelTracer::start_bare(tracefs, "preemptirqsoff", cpu) {
        Err(KernelMeasureError::NoTracer(_)) => {
            return Err(KernelMeasureError::NoSections(missing.to_owned()));
        }
        started => started?,
    };
    sleep_for(for_ns);
    let (largest_us, trace) = tracer.stop_with_largest()?;
    let largest_us: u64 = largest_us.trim().parse().unwrap_or(0);
    let longest = found(&trace).map(|(began, ended)| SectionFound {
        began,
        ended,
        longest_ns: largest_us * 1_000,
        count: 1,
    });
    if largest_us == 0 {
        return Err(KernelMeasureError::Nothing("preemptirqsoff"));
    }
    Ok(KernelSections {
        cpu,
        observed_ns: for_ns,
        preemption_off: SectionKind {
            longest_ns: largest_us * 1_000,
            count: 1,
        },
        longest: longest.into_iter().collect(),
        not_available: Some(format!(
            "only the longest section with preemption or interrupts off, interrupts in it included, by the \
             preemptirqsoff tracer: this kernel has no {missing} (CONFIG_PREEMPTIRQ_TRACEPOINTS)"
        )),
        ..KernelSections::default()
    })
}

/// Its beginning and end, by the head of the tracer's trace. Pure.
fn found(trace: &str) -> Option<(String, String)> {
    let behind = |key: &str| {
        let place = trace.lines().find_map(|line| line.split(key).nth(1))?;
        Some(place.trim().to_owned())
    };
    Some((behind("=> started at:")?, behind("=> ended at:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_head_tells_where_the_longest_lies() {
        // Documentation/trace/ftrace.rst.
        let head = "# preemptirqsoff latency trace v1.1.5 on 3.8.0-test+\n\
            # latency: 100 us, #4/4, CPU#3 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)\n\
            #  => started at: ata_scsi_queuecmd\n#  => ended at:   ata_scsi_queuecmd\n#\n";
        let both = || "ata_scsi_queuecmd".to_owned();
        assert_eq!(found(head), Some((both(), both())));
        assert_eq!(found("# nothing\n"), None);
    }
}
