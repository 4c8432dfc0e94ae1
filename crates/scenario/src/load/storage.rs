//! Named fio jobs and their arguments.
//!
//! A run records the arguments and not the name, so that it doesn't depend on the version of
//! wakepath. Starts nothing.

/// The names and their arguments.
pub(super) const PROFILES: &[(&str, &[&str])] = &[
    // Past the page cache: each request waits for the device and its interrupt.
    (
        "direct",
        &[
            "--name=direct",
            "--rw=randrw",
            "--bs=4k",
            "--size=256M",
            "--ioengine=psync",
            "--direct=1",
            "--numjobs=4",
        ],
    ),
    // Into the page cache, at full speed: the kernel's own threads write them back.
    (
        "buffered",
        &[
            "--name=buffered",
            "--rw=write",
            "--bs=1M",
            "--size=256M",
            "--ioengine=psync",
            "--direct=0",
            "--numjobs=2",
            "--end_fsync=1",
        ],
    ),
];

pub(super) fn job(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use crate::{KnownCpus, LoadKind, Scenario};

    #[test]
    fn a_profile_stands_for_its_arguments_and_others_come_after_them() {
        let text = "name = \"storage\"\nperiod = \"1 ms\"\ncycles = 1000\npolicies = [\"FIFO 80\"]\n\
                    phases = [{ name = \"storage\", loads = [\"fio buffered\", { kind = \"fio\", \
                    profile = \"direct\", arguments = [\"--size=1M\"] }] }]\n\
                    criterion = { latency = \"1 ms\" }\n";
        let read =
            |text: &str| Scenario::parse(text, "storage.toml", &KnownCpus::first(2)).unwrap();
        let scenario = read(text);
        let arguments = |load: usize| match &scenario.phases[0].loads[load].kind {
            LoadKind::Fio { arguments } => arguments.clone(),
            other => panic!("{other:?}"),
        };
        assert!(arguments(0).contains(&"--direct=0".to_owned()));
        assert_eq!(arguments(1).first().unwrap(), "--name=direct");
        assert_eq!(arguments(1).last().unwrap(), "--size=1M");
        // A run's scenario reads back the same, even if a later version changes the names.
        assert_eq!(read(&scenario.to_toml()), scenario);
    }
}
