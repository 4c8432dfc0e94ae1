//! Every interleaving of a small ring, and a deliberately wrong variant that the model must
//! find. Run by `RUSTFLAGS="--cfg loom" cargo test -p wakepath-rt --lib ring`.

use super::*;
use loom::sync::Arc;

struct Memory {
    sides: Sides,
    slots: Vec<Slot>,
}

fn write_and_read(publish: Ordering) {
    loom::model(move || {
        let memory = Arc::new(Memory {
            sides: Sides::default(),
            slots: (0..2).map(|_| Slot::default()).collect(),
        });
        let theirs = Arc::clone(&memory);
        let thread = loom::thread::spawn(move || {
            // SAFETY: the only writer.
            let mut writer = unsafe { writer(theirs.sides.indices(), &theirs.slots) };
            writer.publish = publish;
            for cycle in 1..=3 {
                writer.push(Sample {
                    cycle,
                    due_ns: cycle,
                    ..Sample::default()
                });
            }
        });
        // SAFETY: the only reader.
        let mut reader = unsafe { reader(memory.sides.indices(), &memory.slots) };
        let mut taken = Vec::new();
        reader.take(&mut taken, 8);
        reader.take(&mut taken, 8);
        thread.join().unwrap();
        reader.take(&mut taken, 8);
        assert_eq!(taken.len() as u64 + memory.sides.indices().lost(), 3);
        assert!(taken.iter().all(|s| s.cycle == s.due_ns && s.cycle != 0));
    });
}

#[test]
fn no_interleaving_tears_or_loses_a_sample() {
    write_and_read(Ordering::Release);
}

#[test]
#[should_panic]
fn publishing_without_release_is_found_by_the_model() {
    write_and_read(Ordering::Relaxed);
}
