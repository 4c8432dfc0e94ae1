//! An archive of runs whose samples follow a formula.

use std::path::Path;
use wakepath_directory::Trust;
use wakepath_fleet_archive::{Board, DirectoryStore, SealTerms, add, catalogue};
use wakepath_fleet_made_up::{DUE, MadeUp, WARM_UP};
use wakepath_fleet_query::{Answered, Engine, Tables, Text, ask};

pub struct Fleet {
    scratch: tempfile::TempDir,
    pub runs: Vec<(String, MadeUp)>,
}

impl Fleet {
    /// Boards `a` and `b` under two kernels, three runs of each.
    pub fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let mut fleet = Self {
            scratch,
            runs: Vec::new(),
        };
        for (number, (board, kernel)) in [("a", "6.6"), ("b", "6.6"), ("a", "6.12"), ("b", "6.12")]
            .into_iter()
            .cycle()
            .take(12)
            .enumerate()
        {
            let run = MadeUp {
                kernel: kernel.to_owned(),
                threads: 2,
                ..MadeUp::number(number as u64)
            };
            fleet.add(board, run);
        }
        fleet
    }

    pub fn add(&mut self, board: &str, run: MadeUp) {
        let directory = self.path().join(&run.run_id);
        run.write(&directory);
        add(
            &self.store(),
            &directory,
            &Board::new(board).unwrap(),
            &SealTerms::default(),
        )
        .unwrap();
        self.runs.push((board.to_owned(), run));
    }

    pub fn path(&self) -> &Path {
        self.scratch.path()
    }

    pub fn store(&self) -> DirectoryStore {
        DirectoryStore::make(&self.path().join("archive"), Trust::Any).unwrap()
    }

    pub fn tables(&self, text: &Text) -> Tables {
        let store = self.store();
        Tables::new(&store, &catalogue(&store).unwrap(), text).unwrap()
    }

    pub fn ask(&self, sql: &str) -> Answered {
        let text = Text::new(sql).unwrap();
        ask(&self.tables(&text), &text, &Engine::Embedded).unwrap()
    }

    /// All latencies of a board under a kernel, lateness of skipped due times included, ascending.
    pub fn latencies(&self, board: &str, kernel: &str) -> Vec<i64> {
        let mine = self
            .runs
            .iter()
            .filter(|(b, run)| b == board && run.kernel == kernel);
        let mut all: Vec<i64> = mine.flat_map(|(_, run)| of_run(run)).collect();
        all.sort_unstable();
        all
    }
}

fn of_run(run: &MadeUp) -> Vec<i64> {
    let mut all = Vec::new();
    let end = WARM_UP + run.cycles;
    for thread in 0..run.threads {
        for cycle in WARM_UP..end {
            all.push(match run.latency_ns(thread, cycle) {
                Some(latency) => latency,
                None => {
                    let next =
                        (cycle + 1..end).find_map(|at| Some((at, run.latency_ns(thread, at)?)));
                    let woke = next.map_or(DUE.due_ns(end), |(at, latency)| {
                        DUE.due_ns(at).wrapping_add_signed(latency)
                    });
                    (woke - DUE.due_ns(cycle)) as i64
                }
            });
        }
    }
    all
}

/// The nearest rank, from 1: the smallest rank that at least n · q reach.
pub fn at(sorted: &[i64], numerator: usize, denominator: usize) -> i64 {
    sorted[(sorted.len() * numerator).div_ceil(denominator) - 1]
}
