use super::*;

const CLOCK: Clock = Clock {
    ns_per_instruction: 1,
    granularity_ns: 1,
};
const LOOP: u64 = 0x7fff_1000;

/// Due every 100 µs from 1 ms on; latencies and executions as given.
fn samples(cycles: &[(u64, u64)]) -> Vec<Sample> {
    let sample = |(index, &(latency, execution)): (usize, &(u64, u64))| {
        let due_ns = 1_000_000 + index as u64 * 100_000;
        Sample {
            cycle: index as u64,
            due_ns,
            wake_ns: due_ns + latency,
            end_ns: due_ns + latency + execution,
            ..Sample::default()
        }
    };
    cycles.iter().enumerate().map(sample).collect()
}

/// A machine that executes and sleeps, and notes the readings of the clock.
#[derive(Default)]
struct Machine {
    count: u64,
    halts: u64,
    count_at_halt: u64,
    marks: Vec<Mark>,
}

impl Machine {
    fn executes(&mut self, count: u64) -> &mut Self {
        self.count += count;
        self
    }

    fn sleeps(&mut self) -> &mut Self {
        self.halts += 1;
        self.count_at_halt = self.count;
        self
    }

    fn reads_clock(&mut self, address: u64) -> &mut Self {
        self.marks.push(Mark {
            count: self.count,
            halts: self.halts,
            count_at_halt: self.count_at_halt,
            address,
        });
        self
    }
}

fn followed(machine: &Machine, samples: Vec<Sample>, wanted: &[usize]) -> (Follower, Vec<Found>) {
    let loops = vec![Loop {
        samples,
        wanted: wanted.to_vec(),
    }];
    let mut follower = Follower::new(CLOCK, loops);
    let found = machine
        .marks
        .iter()
        .flat_map(|mark| follower.push(*mark))
        .collect();
    (follower, found)
}

#[test]
fn a_loop_that_sleeps_between_its_cycles_is_found_among_others_that_read_the_clock() {
    let cycles = samples(&[(3_000, 110), (3_500, 111), (4_200, 110)]);
    let mut machine = Machine::default();
    machine.executes(50_000).reads_clock(LOOP);
    for (latency, execution) in [(3_000, 110), (3_500, 111), (4_200, 110)] {
        machine.executes(700).reads_clock(0x1234);
        machine.sleeps().executes(latency).reads_clock(LOOP);
        machine.executes(execution).reads_clock(LOOP);
    }
    let (follower, found) = followed(&machine, cycles, &[1]);
    assert_eq!(follower.complete(0).len(), 1);
    let right: Vec<&Found> = found
        .iter()
        .filter(|found| found.trail == follower.complete(0)[0])
        .collect();
    assert_eq!(right.len(), 1);
    // 50 000, then a cycle of 700 + 3000 + 110, then 700 + 3500.
    assert_eq!(right[0].wake.count, 58_010);
    assert_eq!(right[0].before.unwrap().count, 53_810);
}

#[test]
fn a_loop_is_recognised_after_some_cycles_and_at_its_end_from_its_beginning_on() {
    let cycles = vec![(3_000, 110); 10];
    let loops = vec![Loop {
        samples: samples(&cycles),
        wanted: (0..10).collect(),
    }];
    let mut follower = Follower::new(CLOCK, loops);
    let mut machine = Machine::default();
    let mut recognised = Vec::new();
    for _ in 0..10 {
        machine.executes(700).sleeps().executes(3_000);
        machine.reads_clock(LOOP).executes(110).reads_clock(LOOP);
    }
    for (number, mark) in machine.marks.iter().enumerate() {
        follower.push(*mark);
        let from = follower.recognised().into_iter();
        // The first of them: a trail that is a cycle off is likely a cycle later.
        recognised.extend(from.take(1).map(|from| (number, from)));
    }
    // Two readings a cycle: the window follows the eighth and the tenth.
    assert_eq!(recognised, [(15, 3_700), (19, 3_700)]);
}

#[test]
fn a_cycle_more_or_an_instruction_too_many_and_the_loop_is_not_found() {
    let run = |last_execution| {
        let mut machine = Machine::default();
        for execution in [110, 111, last_execution] {
            machine.executes(700).sleeps().executes(3_000);
            machine
                .reads_clock(LOOP)
                .executes(execution)
                .reads_clock(LOOP);
        }
        machine
    };
    let cycles = samples(&[(3_000, 110), (3_000, 111), (3_000, 110)]);
    assert_eq!(
        followed(&run(110), cycles.clone(), &[2])
            .0
            .complete(0)
            .len(),
        1
    );
    assert!(
        followed(&run(300), cycles.clone(), &[2])
            .0
            .complete(0)
            .is_empty()
    );
    let longer = samples(&[(3_000, 110), (3_000, 111), (3_000, 110), (3_000, 110)]);
    assert!(followed(&run(110), longer, &[2]).0.complete(0).is_empty());
}

#[test]
fn a_trail_that_is_a_cycle_off_fits_worse_than_the_loops_own() {
    // One more cycle than there are samples, with equal executions: two trails fit.
    let latencies = [3_000, 3_500, 4_200, 3_100];
    let cycles = samples(&[(3_000, 110), (3_500, 110), (4_200, 110)]);
    let mut machine = Machine::default();
    for latency in latencies {
        machine.executes(700).sleeps().executes(latency);
        machine.reads_clock(LOOP).executes(110).reads_clock(LOOP);
    }
    let (follower, found) = followed(&machine, cycles, &[1]);
    let best = follower.complete(0);
    let right: Vec<u64> = found
        .iter()
        .filter(|found| best.contains(&found.trail))
        .map(|found| found.wake.count)
        .collect();
    assert_eq!(right, [700 + 3_000 + 110 + 700 + 3_500]);
}

#[test]
fn a_busy_cpu_is_told_by_the_time_between_two_cycles() {
    // Never asleep: about 100 µs from the end of one cycle to the wake-up of the next.
    let cycles = samples(&[(3_000, 110), (52_000, 110), (3_000, 110)]);
    let mut machine = Machine::default();
    machine.executes(9_000_000).reads_clock(LOOP);
    machine.executes(110).reads_clock(LOOP);
    for gap in [148_890, 50_890] {
        // A reading in between that belongs to no cycle.
        machine.executes(1_000).reads_clock(LOOP);
        machine.executes(gap - 1_000).reads_clock(LOOP);
        machine.executes(110).reads_clock(LOOP);
    }
    let (follower, found) = followed(&machine, cycles, &[1]);
    assert_eq!(follower.complete(0).len(), 1);
    let right = found
        .iter()
        .find(|found| found.trail == follower.complete(0)[0]);
    assert_eq!(right.unwrap().wake.count, 9_000_000 + 110 + 148_890);
}
