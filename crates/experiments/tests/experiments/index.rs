//! Entries of pages, and the index of them.

use crate::runs::repeated;
use wakepath_archive::Emulator;
use wakepath_experiments::{Entry, KernelFile, KernelOrigin, Repeated, Verdicts, index, pages};
use wakepath_report::{CostModel, StringCost};

wakepath_test_program::tests![
    an_entry_has_each_value_of_its_runs_once_and_survives_its_file,
    an_index_of_entries_has_their_rows_and_each_version_once,
    several_boards_of_one_experiment_have_a_row_each,
];

fn emulator(kernel: &str, package: Option<&str>) -> Emulator {
    Emulator {
        version: "QEMU 10".into(),
        arguments: ["qemu-system-x86_64", "-cpu", "max,-erms,-fsrm"]
            .map(String::from)
            .into(),
        kernel: kernel.into(),
        kernel_sha256: format!("sum of {kernel}"),
        kernel_package: package.map(String::from),
        initramfs_sha256: String::new(),
        before: Vec::new(),
        added: Default::default(),
        started: String::new(),
    }
}

/// Ten seeds of three kernels, of which the last one was given by the user.
fn measured() -> Repeated {
    let mut all = repeated("beaglepilot", |_, _| vec![5_000], &["FIFO 99"]);
    for guest in &mut all.guests {
        let package = (guest.guest.name != "RT_PREEMPT").then_some("linux-image 6.1");
        let kernel = package.unwrap_or("/home/user/bzImage");
        guest.virtual_time.as_mut().unwrap().emulator = Some(emulator(kernel, package));
        guest.samples_sha256 = Some("a".into());
    }
    all
}

fn entry(of: Repeated) -> Entry {
    pages(&[of]).entries.remove(0)
}

fn an_entry_has_each_value_of_its_runs_once_and_survives_its_file() {
    let entry = entry(measured());
    let row = &entry.rows[0];
    let Verdicts {
        agree,
        contradict,
        undecided,
        not_comparable,
        not_run,
    } = row.claims;
    let claims = agree + contradict + undecided + not_comparable + not_run;
    assert_eq!(claims, measured().claims.all.len());
    assert_eq!((not_comparable, not_run), (2, 5), "{row:?}");
    let of = &row.provenance;
    assert_eq!(of.wakepath, ["0.1.0"]);
    assert_eq!(of.emulators, ["QEMU 10"]);
    let kernel = |from, of: &str| KernelFile {
        from,
        sha256: format!("sum of {of}"),
    };
    let package = KernelOrigin::Package("linux-image 6.1".into());
    let given = KernelOrigin::GivenFor("RT_PREEMPT".into());
    let kernels = [
        kernel(package, "linux-image 6.1"),
        kernel(given, "/home/user/bzImage"),
    ];
    assert_eq!(of.kernels, kernels);
    assert_eq!(of.seeds, Vec::from_iter(1..=10));
    assert_eq!(of.samples.as_ref().unwrap().runs, 30);
    let [time] = of.virtual_time[..] else {
        panic!("{of:?}");
    };
    let model = CostModel {
        ns_per_instruction: 1,
        strings: StringCost::EightBytes,
    };
    assert_eq!((time.cost_model, time.cpus), (model, 1));

    let file = serde_json::to_string_pretty(&entry).unwrap();
    assert_eq!(serde_json::from_str::<Entry>(&file).unwrap(), entry);
    // A word more is another version's file.
    let other = file.replacen("\"title\"", "\"more\": 1, \"title\"", 1);
    let refused = serde_json::from_str::<Entry>(&other).unwrap_err();
    assert!(refused.to_string().contains("more"), "{refused}");
}

fn an_index_of_entries_has_their_rows_and_each_version_once() {
    let mut later = measured();
    for guest in &mut later.guests {
        guest.wakepath = "0.2.0".into();
    }
    let one = entry(measured());
    let other = Entry {
        experiment: "pi5-250hz".into(),
        title: "Another".into(),
        ..entry(later)
    };
    let text = index(&[one, other]);
    for line in [
        "| [Another](pi5-250hz.md) |",
        "- wakepath 0.1.0, 0.2.0\n- QEMU 10\n- linux-image 6.1, SHA-256 `sum of linux-image 6.1`\n\
         - a given kernel of RT_PREEMPT, SHA-256 `sum of /home/user/bzImage`\n\
         - 1 instruction = 1 ns, string instructions 8 bytes each (no ERMS, no FSRM): a cleared page is 512; 1 CPU\n\
         - seeds 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n- claims of beaglepilot: ",
        "\n- claims of pi5-250hz: ",
        "\n- all samples of the 30 runs of pi5-250hz: ",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

fn several_boards_of_one_experiment_have_a_row_each() {
    let written = pages(&[measured(), measured()]);
    assert_eq!((written.entries.len(), written.experiments.len()), (1, 1));
    assert_eq!(written.entries[0].rows.len(), 2);
    let text = index(&written.entries);
    assert_eq!(text.matches("](beaglepilot.md)").count(), 2, "{text}");
}
