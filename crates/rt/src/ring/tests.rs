//! The ring with real threads, full, and with corrupted indices.

use super::*;

fn sample(cycle: u64) -> Sample {
    Sample {
        cycle,
        due_ns: cycle * 7,
        wake_ns: cycle * 11,
        ..Sample::default()
    }
}

fn slots(count: usize) -> Vec<Slot> {
    (0..count).map(|_| Slot::default()).collect()
}

#[test]
fn a_full_ring_drops_the_newest_and_counts_it() {
    let (sides, slots) = (Sides::default(), slots(4));
    let indices = sides.indices();
    // SAFETY: the only ends of this ring.
    let (mut writer, mut reader) = unsafe { ends(indices, &slots) };
    (0..7).for_each(|cycle| writer.push(sample(cycle)));
    let mut taken = Vec::new();
    assert_eq!(reader.take(&mut taken, usize::MAX), 4);
    assert_eq!(
        taken.iter().map(|s| s.cycle).collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
    assert_eq!((indices.written(), indices.lost()), (4, 3));
    writer.push(sample(7));
    reader.take(&mut taken, usize::MAX);
    assert_eq!(taken.last().unwrap().cycle, 7);
}

#[test]
fn whoever_sees_a_sample_sees_what_was_skipped_before_it() {
    let (sides, slots) = (Sides::default(), slots(2));
    let indices = sides.indices();
    // SAFETY: the only ends of this ring.
    let (mut writer, _) = unsafe { ends(indices, &slots) };
    // Cycles 1 to 3 are skipped; the ring is full before cycle 6.
    for (cycle, skipped) in [(0, 0), (4, 3), (5, 3), (9, 6)] {
        writer.note_skipped(skipped);
        writer.push(sample(cycle));
    }
    let (written, lost, skipped) = (indices.written(), indices.lost(), indices.skipped());
    assert_eq!((written, lost, skipped), (2, 2, 6));
    assert_eq!(written + lost + skipped, 9 + 1, "all due times to cycle 9");
    indices.reset();
    assert_eq!(indices.skipped(), 0);
}

#[test]
fn impossible_indices_are_damage_and_what_was_taken_stays() {
    for written in [0, 6, u64::MAX] {
        let (sides, slots) = (Sides::default(), slots(4));
        let indices = sides.indices();
        // SAFETY: the only ends of this ring.
        let (mut writer, mut reader) = unsafe { ends(indices, &slots) };
        writer.push(sample(0));
        let mut taken = Vec::new();
        assert_eq!(reader.take(&mut taken, 9), 1);
        indices.writer.written.store(written, Ordering::Relaxed);
        assert_eq!(reader.take(&mut taken, 9), 0, "{written}");
        assert!(reader.is_damaged(), "{written}");
        indices.writer.written.store(2, Ordering::Relaxed);
        assert_eq!(reader.take(&mut taken, 9), 0, "once damaged, always");
    }
}

#[test]
fn two_threads_agree_on_every_sample() {
    // Miri takes a thousand times longer; its schedules are random, so a few samples suffice.
    const COUNT: u64 = if cfg!(miri) { 3_000 } else { 200_000 };
    let (sides, slots) = (Sides::default(), slots(1 << 10));
    let indices = sides.indices();
    // SAFETY: the only ends of this ring.
    let (mut writer, mut reader) = unsafe { ends(indices, &slots) };
    let mut taken = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| (0..COUNT).for_each(|cycle| writer.push(sample(cycle))));
        while indices.written() + indices.lost() < COUNT {
            reader.take(&mut taken, usize::MAX);
        }
    });
    reader.take(&mut taken, usize::MAX);
    assert_eq!(taken.len() as u64 + indices.lost(), COUNT);
    assert!(taken.is_sorted_by_key(|s| s.cycle));
    assert!(taken.iter().all(|s| *s == sample(s.cycle)));
}
