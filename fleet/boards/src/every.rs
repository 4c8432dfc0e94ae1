//! Runs a function on many boards, several at a time, with results in the boards' order.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `work` for each of `all`, at most `at_once` at a time.
pub fn each<T: Sync, R: Send>(
    all: &[T],
    at_once: NonZero<usize>,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = all.iter().map(|_| Mutex::new(None)).collect();
    let worker = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(index) else { return };
            *results[index].lock().expect("no panic") = Some(work(one));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..at_once.get().min(all.len()) {
            scope.spawn(worker);
        }
    });
    let taken = results
        .into_iter()
        .map(|one| one.into_inner().expect("no panic"));
    taken.map(|one| one.expect("each was worked on")).collect()
}
