//! The memory mapped twice, and files that aren't such memory.

use super::*;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::os::unix::fs::FileExt;
use wakepath_timeline::Sample;

#[test]
fn another_mapping_of_the_same_memory_sees_the_samples() {
    let ours = SharedMemory::create(2, 8).unwrap();
    let theirs = SharedMemory::open(ours.file().as_fd().try_clone_to_owned().unwrap()).unwrap();
    // SAFETY: one writer and one reader for ring 1.
    let (mut writer, mut reader) = unsafe { (ours.writer(1), theirs.reader(1)) };
    writer.push(Sample {
        cycle: 42,
        ..Sample::default()
    });
    let mut taken = Vec::new();
    reader.take(&mut taken, 10);
    assert_eq!(taken[0].cycle, 42);
    assert_eq!(theirs.indices(0).written(), 0);
}

#[test]
fn memory_of_another_version_is_refused_and_told_who_came() {
    let theirs = SharedMemory::create(1, 8).unwrap();
    let bytes = theirs.bytes as u64;
    let another = memfd_create("another", MemfdFlags::CLOEXEC).unwrap();
    ftruncate(&another, bytes).unwrap();
    let file = std::fs::File::from(another.try_clone().unwrap());
    // Written as every version writes it: mark, layout 77, nobody yet, version 9.9.9.
    file.write_all_at(&u64::from_be_bytes(*b"wakepath").to_ne_bytes(), 0)
        .unwrap();
    file.write_all_at(&77_u32.to_ne_bytes(), 8).unwrap();
    file.write_all_at(b"9.9.9", 16).unwrap();
    let error = SharedMemory::join(another).err().unwrap();
    assert_eq!(
        error.to_string(),
        "the shared memory is that of wakepath 9.9.9 (memory layout 77), which this version does not \
         understand"
    );
    let mut answer = [0; 4];
    file.read_exact_at(&mut answer, 12).unwrap();
    assert_eq!(u32::from_ne_bytes(answer), crate::greeting::LAYOUT);
    let mut version = [0; 5];
    file.read_exact_at(&mut version, 32).unwrap();
    assert_eq!(version, env!("CARGO_PKG_VERSION").as_bytes()[..5]);
}

#[test]
fn what_a_loop_says_beside_its_samples_lies_apart_from_them() {
    let memory = SharedMemory::create_with(2, 8, 64).unwrap();
    // SAFETY: the only writer of ring 0.
    let mut writer = unsafe { memory.writer(0) };
    for cycle in 0..8 {
        writer.push(Sample {
            cycle,
            ..Sample::default()
        });
        memory.said_writer(1).due(cycle, 9);
        memory.said_writer(0).due(cycle, 7);
    }
    for (thread, due_ns) in [(0, 7), (1, 9)] {
        let mut cycles = Vec::new();
        memory.said_reader(thread).take(|record| {
            let said::Said::Due { cycle, due_ns: due } = said::Said::new(record).unwrap() else {
                panic!("{record:?}");
            };
            assert_eq!(due, due_ns);
            cycles.push(cycle);
        });
        assert_eq!(cycles, (0..8).collect::<Vec<_>>());
    }
    memory.words().leave_out("position");
    assert_eq!(memory.words().left_out(), ["position"]);
    memory.reset();
    assert!(memory.words().left_out().is_empty());
}

#[test]
fn foreign_memory_is_refused() {
    let file = memfd_create("foreign", MemfdFlags::CLOEXEC).unwrap();
    ftruncate(&file, 1 << 16).unwrap();
    assert!(matches!(
        SharedMemory::open(file),
        Err(SharedMemoryError::Layout)
    ));
}
