//! Logs that were cut, altered or forged: complete parts are read, the others reported.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;
use wakepath_archive::{
    ArchiveError, Block, Content, Damage, LOG_NAME, LogReader, Manifest, TailKind,
};

use crate::made_up_run::{samples, write};
use crate::scratch::Scratch;

wakepath_test_program::tests![
    every_prefix_of_a_log_is_readable_up_to_its_last_whole_block,
    no_flipped_bit_goes_unnoticed_and_no_other_block_is_lost,
    a_hole_of_several_blocks_is_named_with_the_blocks_that_are_lost,
    zeros_at_the_end_are_recognised_as_what_a_power_cut_leaves,
    a_block_of_an_older_log_after_the_end_is_not_taken_for_ours,
    a_block_cut_out_of_the_middle_is_missed,
    a_log_of_a_later_format_is_refused_in_so_many_words,
    a_claimed_length_of_4_gib_is_not_believed,
    samples_come_out_of_the_log_as_they_went_in,
    no_bytes_make_the_reader_panic_or_invent_a_block,
    no_bytes_make_the_manifest_reader_panic,
];

const HEADER: usize = 16;

fn small_log() -> Vec<u8> {
    let scratch = Scratch::new();
    write(&scratch.run(), 2, &[0, 1], 20);
    fs::read(scratch.run().join(LOG_NAME)).unwrap()
}

fn read(bytes: &[u8]) -> Result<(Vec<Block>, Damage), ArchiveError> {
    let mut reader = LogReader::new(Cursor::new(bytes), Path::new("samples.log"))?;
    let mut blocks = Vec::new();
    while let Some(block) = reader.next_block()? {
        blocks.push(block);
    }
    Ok((blocks, reader.damage().clone()))
}

/// End of each block.
fn ends(blocks: &[Block], length: usize) -> Vec<usize> {
    blocks
        .iter()
        .skip(1)
        .map(|block| block.offset as usize)
        .chain([length])
        .collect()
}

fn every_prefix_of_a_log_is_readable_up_to_its_last_whole_block() {
    let log = small_log();
    let (whole, damage) = read(&log).unwrap();
    assert_eq!(damage, Damage::default());
    assert_eq!(
        whole.len(),
        12,
        "start, facts, 2 × (start, 2 × samples, end), facts, end"
    );
    let ends = ends(&whole, log.len());
    for length in 0..=log.len() {
        if length < HEADER {
            let refused = read(&log[..length]);
            assert!(
                matches!(refused, Err(ArchiveError::NotRecognised { .. })),
                "{length}"
            );
            continue;
        }
        let (blocks, damage) = read(&log[..length]).unwrap();
        let complete = ends.iter().filter(|&&end| end <= length).count();
        assert_eq!(blocks, whole[..complete], "cut at {length}");
        let clean = if complete == 0 {
            HEADER
        } else {
            ends[complete - 1]
        };
        match damage.tail {
            None => assert_eq!(clean, length),
            Some(tail) => {
                assert_eq!(tail.kind, TailKind::Torn, "cut at {length}");
                assert_eq!(
                    (tail.offset, tail.bytes),
                    (clean as u64, (length - clean) as u64)
                );
            }
        }
        assert_eq!(damage.gaps, []);
    }
}

fn no_flipped_bit_goes_unnoticed_and_no_other_block_is_lost() {
    let log = small_log();
    let (whole, _) = read(&log).unwrap();
    for at in 0..log.len() {
        let mut altered = log.clone();
        altered[at] ^= 1 << (at % 8);
        if at < HEADER {
            assert!(read(&altered).is_err(), "byte {at}");
            continue;
        }
        let (blocks, damage) = read(&altered).unwrap();
        let hit = whole
            .iter()
            .rposition(|block| block.offset as usize <= at)
            .unwrap();
        let others: Vec<_> = whole
            .iter()
            .filter(|b| b.sequence != hit as u64)
            .cloned()
            .collect();
        assert_eq!(blocks, others, "byte {at}");
        if hit + 1 == whole.len() {
            assert!(damage.tail.is_some() && damage.gaps.is_empty(), "byte {at}");
        } else {
            let [gap] = &damage.gaps[..] else {
                panic!("byte {at}: {damage:?}")
            };
            assert_eq!(
                (gap.first_lost_block, gap.lost_blocks),
                (hit as u64, 1),
                "byte {at}"
            );
            assert_eq!(gap.offset, whole[hit].offset);
            assert_eq!(gap.bytes, whole[hit + 1].offset - whole[hit].offset);
        }
    }
}

fn a_hole_of_several_blocks_is_named_with_the_blocks_that_are_lost() {
    let mut log = small_log();
    let (whole, _) = read(&log).unwrap();
    log[whole[3].offset as usize..whole[6].offset as usize].fill(0xaa);
    let (blocks, damage) = read(&log).unwrap();
    assert_eq!(blocks.len(), whole.len() - 3);
    assert_eq!(damage.gaps.len(), 1);
    assert!(
        damage.gaps[0]
            .to_string()
            .contains("blocks 3 to 5 are lost"),
        "{}",
        damage.gaps[0]
    );
    assert!(damage.is_corruption());
}

fn zeros_at_the_end_are_recognised_as_what_a_power_cut_leaves() {
    let mut log = small_log();
    let length = log.len() as u64;
    log.resize(log.len() + 100_000, 0);
    let (_, damage) = read(&log).unwrap();
    let tail = damage.tail.unwrap();
    assert_eq!(
        (tail.kind, tail.offset, tail.bytes),
        (TailKind::Zeros, length, 100_000)
    );
    assert!(!damage.is_corruption());
}

fn a_block_of_an_older_log_after_the_end_is_not_taken_for_ours() {
    let mut log = small_log();
    let (whole, _) = read(&log).unwrap();
    let stale = log[whole[2].offset as usize..whole[3].offset as usize].to_vec();
    log.extend(stale);
    let (blocks, damage) = read(&log).unwrap();
    assert_eq!(blocks, whole);
    assert_eq!(damage.tail.unwrap().kind, TailKind::Damaged);
}

fn a_block_cut_out_of_the_middle_is_missed() {
    let mut log = small_log();
    let (whole, _) = read(&log).unwrap();
    log.drain(whole[4].offset as usize..whole[5].offset as usize);
    let (blocks, damage) = read(&log).unwrap();
    // The block in its place has a sequence number that is wrong there, so it is rejected.
    let [gap] = &damage.gaps[..] else {
        panic!("{damage:?}")
    };
    assert_eq!((gap.first_lost_block, gap.lost_blocks), (4, 2));
    assert!(gap.why.contains("out of order"), "{gap}");
    assert_eq!(blocks.len(), whole.len() - 2);
}

fn a_log_of_a_later_format_is_refused_in_so_many_words() {
    let mut log = small_log();
    log[8..12].copy_from_slice(&2_u32.to_le_bytes());
    let crc = crc32fast::hash(&log[..12]);
    log[12..16].copy_from_slice(&crc.to_le_bytes());
    let error = read(&log).unwrap_err();
    assert!(matches!(
        error,
        ArchiveError::NewerFormat {
            found: 2,
            supported: 1,
            ..
        }
    ));
    assert!(
        error.to_string().contains("use a newer wakepath"),
        "{error}"
    );
}

fn a_claimed_length_of_4_gib_is_not_believed() {
    let mut log = small_log();
    log[HEADER + 8..HEADER + 12].fill(0xff);
    let (blocks, damage) = read(&log).unwrap();
    assert_eq!(blocks.len(), 11);
    assert!(
        damage.gaps[0].why.contains("impossible length"),
        "{damage:?}"
    );
}

fn samples_come_out_of_the_log_as_they_went_in() {
    let (blocks, _) = read(&small_log()).unwrap();
    let expected = Content::Samples {
        segment: 1,
        thread: 1,
        samples: samples(1, 1, 0..20),
    };
    assert_eq!(
        blocks
            .iter()
            .filter(|block| block.content == expected)
            .count(),
        1
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    fn no_bytes_make_the_reader_panic_or_invent_a_block(
        noise in proptest::collection::vec(any::<u8>(), 0..400), at in 0..5_000_usize, cut in 0..5_000_usize,
    ) {
        let log = small_log();
        let (whole, _) = read(&log).unwrap();
        let (at, cut) = (HEADER + at % (log.len() - HEADER), cut % 200);
        let end = (at + cut).min(log.len());
        let mut altered = log.clone();
        altered.splice(at..end, noise);
        let (blocks, _) = read(&altered).unwrap();
        prop_assert!(blocks.iter().all(|b| whole.iter().any(|w| (w.sequence, &w.content) == (b.sequence, &b.content))));
    }

    fn no_bytes_make_the_manifest_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Manifest::from_bytes(&bytes, Path::new("manifest.json")).is_err());
        let _ = read(&bytes);
    }
}
