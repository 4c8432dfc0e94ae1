//! Content of an archive after adding runs, compared with the generated runs.

use crate::scratch::{Scratch, board, nobody};
use std::thread;
use wakepath_fleet_archive::{Board, FleetArchiveError, Standing, add, catalogue, run_number};
use wakepath_fleet_made_up::{DUE, MadeUp, WARM_UP};

#[test]
fn counts_sums_and_worst_cycles_are_those_of_the_samples() {
    let scratch = Scratch::new();
    let run = MadeUp {
        threads: 2,
        ..MadeUp::number(7)
    };
    scratch.added(&run);
    let all = catalogue(&scratch.store()).unwrap();
    let record = &all.records[0];
    assert_eq!(
        (&*record.run_id, &*record.board),
        ("2026-00000007", "pi5-07")
    );
    assert_eq!(record.facts["kernel"], "6.12.9-rt");
    assert_eq!(record.facts["governor"], "performance");
    assert_eq!(record.facts["ending"], "complete");
    for (row, number) in record.threads.iter().zip(0..) {
        let judged = WARM_UP..WARM_UP + run.cycles;
        let latencies: Vec<i64> = judged
            .clone()
            .filter_map(|cycle| run.latency_ns(number, cycle))
            .collect();
        assert_eq!(row.executed, latencies.len() as i64);
        assert_eq!(row.skipped, run.cycles as i64 - row.executed);
        assert!(
            row.skipped > 0,
            "the run shows nothing of skipped due times"
        );
        assert_eq!(row.latency_sum_ns, latencies.iter().sum::<i64>());
        let mut suffered = 0;
        for cycle in judged
            .clone()
            .filter(|&cycle| run.latency_ns(number, cycle).is_none())
        {
            let next =
                (cycle + 1..judged.end).find_map(|at| Some((at, run.latency_ns(number, at)?)));
            let woke = next.map_or(DUE.due_ns(judged.end), |(at, latency)| {
                DUE.due_ns(at).wrapping_add_signed(latency)
            });
            suffered += (woke - DUE.due_ns(cycle)) as i64;
        }
        assert_eq!(row.skipped_sum_ns, suffered);
        let worst = record
            .outliers
            .iter()
            .filter(|o| o.thread == i64::from(number));
        let worst: Vec<_> = worst.collect();
        assert_eq!(worst.len(), 32);
        assert!(worst.is_sorted_by(|a, b| a.response_ns >= b.response_ns));
        assert_eq!(
            worst.iter().map(|o| o.latency_ns).max(),
            latencies.iter().max().copied()
        );
    }
    let condition = &record.conditions[0];
    assert_eq!(condition.due, 2 * run.cycles as i64);
    assert_eq!(condition.policy, "FIFO 80");
    assert_eq!(condition.latency_limit_ns, Some(100_000));
}

#[test]
fn a_recorded_run_of_a_busy_machine_is_taken_with_all_its_segments() {
    let scratch = Scratch::new();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/format-1");
    add(&scratch.store(), fixture.as_ref(), &board(), &nobody()).unwrap();
    let record = catalogue(&scratch.store()).unwrap().records.remove(0);
    let recorded: Vec<i64> = record.threads.iter().map(|row| row.recorded).collect();
    // Copied from its manifest by hand.
    assert_eq!(recorded, [168, 175, 96, 175]);
    assert_eq!(record.conditions.len(), 4);
}

#[test]
fn added_again_it_changes_nothing_and_another_of_its_name_is_refused() {
    let scratch = Scratch::new();
    let directory = scratch.added(&MadeUp::number(1));
    let before = scratch.files();
    let again = add(&scratch.store(), &directory, &board(), &nobody()).unwrap();
    assert_eq!(
        (&*again.run_id, again.is_new, again.standing),
        ("2026-00000001", false, Standing::Unsealed)
    );
    assert_eq!(scratch.files(), before);

    let elsewhere = Board::new("pi5-08").unwrap();
    let moved = add(&scratch.store(), &directory, &elsewhere, &nobody()).unwrap_err();
    assert!(
        moved
            .to_string()
            .contains("from board pi5-07 and not pi5-08"),
        "{moved}"
    );
    let forged = scratch.path().join("forged");
    MadeUp {
        slower_by_ns: -1,
        ..MadeUp::number(1)
    }
    .write(&forged);
    let refused = add(&scratch.store(), &forged, &board(), &nobody()).unwrap_err();
    assert!(
        matches!(refused, FleetArchiveError::Another { .. }),
        "{refused}"
    );
    assert_eq!(scratch.files(), before);
}

#[test]
fn eight_controllers_at_once_lose_nothing_and_add_nothing_twice() {
    const RUNS: u64 = 12;
    let scratch = Scratch::new();
    let runs: Vec<_> = (0..RUNS).map(|n| scratch.run(&MadeUp::number(n))).collect();
    let made = thread::scope(|scope| {
        let controllers = (0..8).map(|first| {
            let (runs, scratch) = (&runs, &scratch);
            scope.spawn(move || {
                let store = scratch.store();
                // Each adds all, starting at a different one, so that they collide.
                let order = (0..runs.len()).map(|i| &runs[(i + first) % runs.len()]);
                order
                    .filter(|run| {
                        add(&store, run, &board(), &nobody()).is_ok_and(|added| added.is_new)
                    })
                    .count()
            })
        });
        let controllers: Vec<_> = controllers.collect();
        controllers
            .into_iter()
            .map(|c| c.join().unwrap())
            .sum::<usize>()
    });
    assert_eq!(made, RUNS as usize);
    let all = catalogue(&scratch.store()).unwrap();
    assert_eq!(all.records.len(), RUNS as usize);
    let files = scratch.files();
    assert!(
        !files.iter().any(|name| name.contains(".partial")),
        "{files:?}"
    );
    // Record, manifest, samples and histograms of each.
    assert_eq!(files.len(), 4 * RUNS as usize);
}

#[test]
fn a_long_runs_histograms_are_kept_by_the_minute() {
    let scratch = Scratch::new();
    let run = MadeUp {
        cycles: 130_000,
        ..MadeUp::number(3)
    };
    scratch.added(&run);
    let store = scratch.store();
    let all = catalogue(&store).unwrap();
    let read = all.latencies(&store, &all.records[0]).unwrap();
    let count: i64 = read[&(0, 0)].iter().map(|(_, samples)| samples).sum();
    assert_eq!(count, all.records[0].threads[0].executed);
    let file = std::fs::File::open(&all.histograms(&store).unwrap()[0]).unwrap();
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let table = SerializedFileReader::new(file).unwrap();
    let (mut counted, mut sum, mut minutes) = (0, 0, std::collections::BTreeSet::new());
    for row in table.get_row_iter(None).unwrap() {
        use parquet::record::RowAccessor;
        let row = row.unwrap();
        assert_eq!(row.get_long(0).unwrap(), run_number(&run.run_id));
        if row.get_string(4).unwrap() == "latency" {
            minutes.insert(row.get_long(3).unwrap());
            counted += row.get_long(6).unwrap();
            sum += row.get_long(7).unwrap();
            assert_eq!(
                row.get_long(5).unwrap() * row.get_long(6).unwrap(),
                row.get_long(7).unwrap()
            );
        }
    }
    let thread = &all.records[0].threads[0];
    assert_eq!((counted, sum), (thread.executed, thread.latency_sum_ns));
    assert_eq!(minutes.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
}
