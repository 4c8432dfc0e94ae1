//! The latency plot over all CPUs, where several were measured.

use super::made_up::{FIFO, MadeUp, usual};
use wakepath_report::Origin;

#[test]
fn every_cpu_has_its_line_and_one_alone_has_no_plot() {
    let mut made_up = MadeUp::with_spikes(1_000, vec![]);
    let one = made_up.write().report();
    assert!(one.figures.cpus.is_empty());

    made_up.threads = 4;
    // Late in cycle 400, with 401 and 402 skipped: they suffered 2.005 and 1.005 ms.
    let late = |cycle| match cycle {
        400 => Some(2_500_000),
        401 | 402 => None,
        _ => Some(usual(cycle)),
    };
    made_up.conditions = vec![("stress", FIFO, Box::new(late))];
    let written = made_up.write();
    let several = written.report();
    let cpus = &several.pictures[0].cpus;
    let told: Vec<_> = cpus
        .iter()
        .map(|one| (one.cpu, one.beyond, one.max_ns))
        .collect();
    let wanted: Vec<_> = (1..=4).map(|cpu| (cpu, 3, 2_500_000)).collect();
    assert_eq!(told, wanted);
    for one in cpus {
        let counted: u64 = one.micros.iter().map(|(_, count)| count).sum();
        assert_eq!(counted + one.beyond, 990);
    }
    let [figure] = &several.figures.cpus[..] else {
        panic!("{} figures", several.figures.cpus.len());
    };
    assert_eq!(figure.name, "cpus-fifo-50-stress");
    assert!(
        figure.caption.contains("12 of 3960 beyond 1 ms"),
        "{}",
        figure.caption
    );
    // As a separate file it names its origin.
    let origin = Origin::of_run(&several.assessment);
    let svg = figure.to_svg(&Origin {
        machine: "4 × <Board>".into(),
        ..origin
    });
    for part in [
        "Latency of each CPU: FIFO 50, stress</text>",
        "made-up (wakepath ",
        "4 × &lt;Board&gt;",
        "2026-11-03T10:15:00Z",
        "CPU 4: max 2.50 ms",
    ] {
        assert!(svg.contains(part), "{part}\n{svg}");
    }
}
