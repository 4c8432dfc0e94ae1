//! Independent pieces of work on several threads, the results in the order of the pieces whatever
//! thread did which. It knows nothing of what they are.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

/// A piece of work.
pub(super) type Piece<'a, T> = Box<dyn FnOnce() -> T + Send + 'a>;

/// Runs all pieces on at most `workers` threads. `done` receives the number of finished pieces and their
/// total.
pub(super) fn all<T: Send>(
    pieces: Vec<Piece<'_, T>>,
    workers: NonZeroUsize,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Vec<T> {
    let count = pieces.len();
    let pieces: Vec<Mutex<Option<Piece<'_, T>>>> = pieces
        .into_iter()
        .map(|piece| Mutex::new(Some(piece)))
        .collect();
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let (next, ready) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(index) else {
                return;
            };
            if let Some(piece) = piece.lock().ok().and_then(|mut piece| piece.take()) {
                let result = piece();
                if let Ok(mut place) = results[index].lock() {
                    *place = Some(result);
                }
            }
            done(ready.fetch_add(1, Ordering::Relaxed) + 1, count);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers.get().min(count) {
            // Where the system gives no more threads, those that there are do it all.
            if Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    // A piece that panicked has taken its thread, and with it the scope, down before this.
    results
        .into_iter()
        .filter_map(|result| result.into_inner().ok().flatten())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_pieces_whatever_the_number_of_threads() {
        let with = |workers| {
            let pieces: Vec<Piece<'_, usize>> = (0..50_usize)
                .map(|n| Box::new(move || n * n) as Piece<'_, usize>)
                .collect();
            let told = Mutex::new(0);
            let workers = NonZeroUsize::new(workers).expect("not 0");
            let results = all(pieces, workers, &|_, of| {
                assert_eq!(of, 50);
                *told.lock().expect("not poisoned") += 1;
            });
            (results, told.into_inner().expect("not poisoned"))
        };
        let squares: Vec<usize> = (0..50).map(|n| n * n).collect();
        for workers in [1, 2, 7, 100] {
            assert_eq!(with(workers), (squares.clone(), 50));
        }
    }

    #[test]
    fn no_work_is_no_result() {
        assert!(all::<u8>(vec![], NonZeroUsize::MIN, &|_, _| ()).is_empty());
    }
}
