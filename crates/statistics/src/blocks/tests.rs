use super::*;
use proptest::prelude::*;

/// By the definition: every block's misses counted.
fn counted(misses: &[bool], length: usize) -> Blocks {
    let mut blocks = Blocks::default();
    for block in misses.chunks(length) {
        let missed = block.iter().filter(|&&missed| missed).count() as u64;
        blocks.open = (missed, block.len() as u64);
        if block.len() == length {
            blocks.end();
        }
    }
    blocks
}

fn push(blocks: &mut OpenBlocks, misses: &[bool]) {
    for &missed in misses {
        if missed {
            blocks.push_missed(1)
        } else {
            blocks.push_met()
        }
    }
}

fn pushed(misses: &[bool]) -> OpenBlocks {
    let mut blocks = OpenBlocks::default();
    push(&mut blocks, misses);
    blocks
}

fn some(share: f64, count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(prop::bool::weighted(share), count)
}

proptest! {
    #[test]
    fn sums_are_those_of_every_block_counted(misses in some(0.1, 0..700)) {
        let spread = pushed(&misses).spread();
        for (level, found) in spread.levels.iter().enumerate() {
            prop_assert_eq!(*found, counted(&misses, 1 << level), "{}", level);
        }
    }

    #[test]
    fn misses_in_a_row_are_counted_as_one_by_one(
        runs in prop::collection::vec((0..40_u64, 1..70_u64, any::<bool>()), 1..20),
    ) {
        let (mut together, mut single) = (OpenBlocks::default(), OpenBlocks::default());
        for (met, missed, part) in runs {
            for blocks in [&mut together, &mut single] {
                (0..met).for_each(|_| blocks.push_met());
                if part {
                    blocks.part();
                }
            }
            together.push_missed(missed);
            (0..missed).for_each(|_| single.push_missed(1));
        }
        prop_assert_eq!(together.spread(), single.spread());
    }

    #[test]
    fn parts_of_a_recording_appended_are_the_whole(
        parts in prop::collection::vec((some(0.1, 0..90), any::<bool>()), 1..20),
        half in 0..20_usize,
    ) {
        let (mut whole, mut cut) = (OpenBlocks::default(), OpenBlocks::default());
        let mut pieces = Vec::new();
        for (misses, ends) in &parts {
            for blocks in [&mut whole, &mut cut] {
                push(blocks, misses);
                if *ends {
                    blocks.end_series();
                }
            }
            pieces.push(cut.spread());
            cut.part();
        }
        let all = |pieces: &[Spread]| {
            let mut all = Spread::default();
            pieces.iter().for_each(|piece| all.append(piece));
            all
        };
        prop_assert_eq!(all(&pieces), whole.spread());
        let (first, second) = pieces.split_at(half.min(pieces.len()));
        let mut halves = all(first);
        halves.append(&all(second));
        prop_assert_eq!(halves, whole.spread());
    }

    #[test]
    fn recordings_appended_stay_apart(
        parts in prop::collection::vec(some(0.2, 1..90), 1..20),
    ) {
        let mut all = Spread::default();
        parts.iter().for_each(|part| all.append(&pushed(part).spread()));
        let longest = all.levels[10].cut();
        let squares = parts.iter().map(|part| (part.len() as f64).powi(2));
        prop_assert_eq!(longest.weights, squares.sum::<f64>());
    }
}
