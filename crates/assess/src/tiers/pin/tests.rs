use super::*;
use wakepath_gpio::record::{DrivenEdge, Edge};

/// A wave whose edges come `late` after their due times; `None`: neither driven nor seen.
fn step(half_period_ns: u64, due: u64, late: impl Fn(u64) -> Option<u64>) -> PinStep {
    let start_ns = 1_000_000;
    let mut step = PinStep {
        half_period_ns,
        due,
        start_ns,
        driven: Vec::new(),
        before: 2,
        edges: Vec::new(),
    };
    for (cycle, late_ns) in (0..due).filter_map(|cycle| Some((cycle, late(cycle)?))) {
        let due_ns = start_ns + cycle * half_period_ns;
        step.driven.push(DrivenEdge {
            cycle,
            begun_ns: due_ns + late_ns / 2,
            ended_ns: due_ns + late_ns / 2 + 700,
        });
        step.edges.push(Edge {
            at_ns: due_ns + late_ns,
            number: 2 + step.driven.len() as u32,
        });
    }
    assert!(step.is_sound());
    step
}

fn record(steps: Vec<PinStep>) -> PinRecord {
    PinRecord {
        drive: "gpiochip0:17".into(),
        read: "gpiochip0:27".into(),
        policy: "FIFO 80".into(),
        cpus: vec![1],
        shortfalls: Vec::new(),
        started: "2026-01-01T00:00:00Z".into(),
        kernel: "6.12".into(),
        wakepath: "0".into(),
        steps,
    }
}

#[test]
fn a_pin_is_as_fine_as_the_shortest_half_period_whose_tenth_its_edges_keep() {
    // 30 µs behind every due time: within a tenth of 1 ms and of 500 µs, not of 100 µs.
    let steps = [10_000_000, 1_000_000, 500_000, 100_000];
    let steps = steps.map(|half| step(half, 1000, |_| Some(30_000)));
    let pin = Pin::new(&record(steps.to_vec()), false);
    let outcomes: Vec<Outcome> = pin.steps.iter().map(|step| step.outcome).collect();
    use Outcome::{Failed, Passed};
    assert_eq!(outcomes, [Passed, Passed, Passed, Failed]);
    assert_eq!(pin.finest_kept_ns, Some(500_000));
    let first = &pin.steps[0];
    assert_eq!(
        (first.median_ns, first.largest_ns),
        (Some(30_000), Some(30_000))
    );
    assert_eq!((first.jitter_ns, first.call_ns), (Some(0), Some(700)));
    let tiers: Vec<_> = pin
        .tiers
        .iter()
        .map(|tier| tier.by_half_period_ns)
        .collect();
    assert_eq!(tiers, [Some(1_000_000), Some(10_000_000), Some(10_000_000)]);
    assert!(pin.tiers.iter().all(|tier| tier.outcome == Passed));
    let virtual_time = Pin::new(&record(steps.to_vec()), true);
    assert!(
        virtual_time
            .tiers
            .iter()
            .all(|tier| tier.outcome == Outcome::VirtualTime)
    );
    assert_eq!(virtual_time.finest_kept_ns, None);
}

#[test]
fn a_due_time_without_an_edge_waits_for_the_next_and_the_last_for_ever() {
    // One in fifty is not driven: it waits 1.03 ms, too late for 1 ms and in time for 20 ms.
    let skipped = step(1_000_000, 1000, |cycle| (cycle % 50 != 7).then_some(30_000));
    let pin = Pin::new(&record(vec![skipped]), false);
    let outcomes: Vec<Outcome> = pin.tiers.iter().map(|tier| tier.outcome).collect();
    assert_eq!(
        outcomes,
        [Outcome::Failed, Outcome::Passed, Outcome::Passed]
    );
    assert_eq!((pin.steps[0].driven, pin.steps[0].seen), (980, 980));
    let silent = step(1_000_000, 1000, |cycle| (cycle < 500).then_some(30_000));
    let pin = Pin::new(&record(vec![silent]), false);
    assert!(pin.tiers.iter().all(|tier| tier.outcome == Outcome::Failed));
}

#[test]
fn edges_that_were_dropped_or_that_nobody_drove_decide_nothing() {
    let mut dropped = step(1_000_000, 1000, |_| Some(30_000));
    dropped.edges.remove(500);
    let mut noisy = step(1_000_000, 1000, |_| Some(30_000));
    noisy.edges.push(Edge {
        at_ns: 1_000_000 + 999_900_000,
        number: 1003,
    });
    for (step, why) in [
        (dropped, "the kernel's buffer had no room for 1 edge:"),
        (noisy, "1 edge arrived that wakepath did not drive"),
    ] {
        let pin = Pin::new(&record(vec![step]), false);
        assert_eq!(pin.tiers[0].outcome, Outcome::Invalid);
        assert!(pin.tiers[0].why.starts_with(why), "{}", pin.tiers[0].why);
    }
    let pin = Pin::new(&record(Vec::new()), false);
    assert_eq!(pin.tiers[0].outcome, Outcome::Undecided);
}
