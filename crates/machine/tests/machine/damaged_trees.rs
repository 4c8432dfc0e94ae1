//! Files with arbitrary content: no reader may panic, and nothing unknown may count as known.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use wakepath_machine::{Facts, Root};

wakepath_test_program::tests![a_damaged_tree_is_read_compared_and_summed_up_without_panic,];

/// Every file of a recorded machine, relative to its tree.
fn files(folder: &Path, below: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder.join(below)).unwrap() {
        let entry = entry.unwrap();
        let path = below.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files(folder, &path, found);
        } else if kind.is_file() {
            found.push(path);
        }
    }
}

fn damaged(seed: u64, original: &[u8]) -> Vec<u8> {
    // A separate small generator, so that one seed covers a whole tree.
    let mut state = seed | 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize
    };
    let mut bytes = original.to_vec();
    match next() % 5 {
        0 => bytes.truncate(next() % (bytes.len() + 1)),
        1 => bytes.clear(),
        2 => bytes.extend_from_slice(b"18446744073709551616 -1 \xff\xfe\0,-(:["),
        3 => bytes = bytes.repeat(2),
        _ => {
            for _ in 0..8 {
                let at = next() % bytes.len().max(1);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = next() as u8;
                }
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    fn a_damaged_tree_is_read_compared_and_summed_up_without_panic(
        seed: u64,
        name in prop::sample::select(vec!["virtual-two-cpus", "fedora-desktop", "beaglebone-black"]),
    ) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/machines").join(name);
        let target = std::env::temp_dir()
            .join(format!("wakepath-damaged-{}-{seed:x}", std::process::id()));
        let mut all = Vec::new();
        files(&source, Path::new(""), &mut all);
        for (number, file) in all.iter().enumerate() {
            let bytes = fs::read(source.join(file)).unwrap();
            fs::create_dir_all(target.join(file).parent().unwrap()).unwrap();
            let salt = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            fs::write(target.join(file), damaged(seed ^ salt, &bytes)).unwrap();
        }
        let broken = Facts::read(&Root::at(&target));
        fs::remove_dir_all(&target).unwrap();
        let whole = Facts::read(&Root::at(&source));
        let _ = (broken.summary(), broken.privileges());
        let _ = (broken.changes_since(&whole), whole.changes_since(&broken));
        let back: Facts = serde_json::from_str(&serde_json::to_string(&broken).unwrap()).unwrap();
        prop_assert_eq!(back, broken);
    }
}
