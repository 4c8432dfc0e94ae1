//! Published experiments, repeated: refusals before anything boots, and one of them on its three kernels
//! with few due times.

use super::{Place, lacking, text};
use serde_json::Value;
use std::process::Command;

wakepath_test_program::tests![
    experiments_are_listed_and_wrong_ones_refused_before_anything_boots,
    ;
    a_repeated_experiment_writes_its_page_and_is_not_repeated_again,
];

fn experiments_are_listed_and_wrong_ones_refused_before_anything_boots() {
    let place = Place::new("experiments-refused");
    let listed = text(&place.wakepath(&["lab", "experiments", "--list"]).stdout);
    assert!(
        listed.contains("beaglepilot") && listed.contains("RT_PREEMPT / Xenomai"),
        "{listed}"
    );
    std::fs::create_dir_all(place.0.join("runs/beaglepilot")).unwrap();
    std::fs::write(place.0.join("runs/beaglepilot/notes.txt"), "mine").unwrap();
    let used = ["lab", "experiments", "beaglepilot", "--directory", "runs"];
    for (words, expected) in [
        (
            &["lab", "experiments", "pi6"][..],
            "there are beaglepilot, pi5-250hz",
        ),
        (&["lab", "experiments", "--cycles", "1"], "20..=1000000"),
        (
            &["lab", "experiments", "--kernel", "cobalt=bzImage"],
            "NAME one of xenomai, litmus",
        ),
        (
            &["lab", "experiments", "--kernel", "litmus=nowhere"],
            "nowhere is not a file",
        ),
        (&used, "remove runs/beaglepilot or give another --directory"),
        (
            &["lab", "experiments", "--index", "runs"],
            "runs: no page of an experiment has its entry here",
        ),
    ] {
        let refused = place.wakepath(words);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(
            said.contains(expected) && said.lines().count() == 1,
            "{said}"
        );
    }
    let kept = std::fs::read_dir(place.0.join("runs/beaglepilot")).unwrap();
    assert_eq!(kept.count(), 1);
}

// Ignored: the stage `lab` runs it: minutes of a CPU.
fn a_repeated_experiment_writes_its_page_and_is_not_repeated_again() {
    let place = Place::new("experiments");
    let words = [
        "lab",
        "experiments",
        "beaglepilot",
        "--cycles",
        "40",
        "--seeds",
        "1",
        "--json",
    ];
    let words = [&words[..], &["--directory", "runs"]].concat();
    let first = place.wakepath(&words);
    if let Some(why) = lacking(&first) {
        wakepath_test_program::not_run(why);
    }
    assert!(first.status.success(), "{}", text(&first.stderr));
    let result: Value = serde_json::from_slice(&first.stdout).unwrap();
    let guests = result["experiments"][0]["guests"].as_array().unwrap();
    assert_eq!(guests.len(), 3);
    for guest in guests {
        let conditions = guest["conditions"].as_array().unwrap();
        assert_eq!(conditions.len(), 2, "{guest}");
        assert!(
            conditions.iter().all(|one| one["scheduled"] == 40),
            "{guest}"
        );
    }
    let findings = result["experiments"][0]["findings"].as_array().unwrap();
    // No kernel of Xenomai was given, and one seed is one draw.
    for finding in findings {
        let here = finding["here"].as_str().unwrap();
        match finding["agreement"].as_str().unwrap() {
            "not-run" => assert!(here.starts_with("no run of Xenomai"), "{finding}"),
            "undecided" => assert!(
                here.ends_with("1 of the 10 seeds that decide it"),
                "{finding}"
            ),
            other => assert_eq!(other, "not-comparable", "{finding}"),
        }
    }
    assert_eq!(findings.len(), 15);
    let claims = place.0.join("runs/claims-beaglepilot.toml");
    assert!(
        std::fs::read_to_string(claims)
            .unwrap()
            .contains("seeds = 10")
    );
    let said = text(&first.stderr);
    assert!(
        said.contains("beaglepilot: 4 guests to run, about "),
        "{said}"
    );

    let page = std::fs::read_to_string(place.0.join("runs/beaglepilot.md")).unwrap();
    assert!(
        page.contains("| RT_PREEMPT | FIFO 99 | all loads | 40 |"),
        "{page}"
    );
    let linked: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("!["))
        .collect();
    assert_eq!(linked.len(), 4, "{page}");
    for line in linked {
        let name = line.rsplit_once('(').unwrap().1.trim_end_matches(')');
        let svg = std::fs::read_to_string(place.0.join("runs").join(name)).unwrap();
        assert!(svg.contains("RT_PREEMPT"), "{name}");
    }

    let index = std::fs::read_to_string(place.0.join("runs/README.md")).unwrap();
    assert!(index.contains("](beaglepilot.md) | 0 | 0 | "), "{index}");
    assert!(
        index.contains("- seeds 1\n") && index.contains("\n- QEMU "),
        "{index}"
    );
    let printed = place.wakepath(&["lab", "experiments", "--index", "runs"]);
    assert_eq!(text(&printed.stdout), index);

    let again = place.wakepath(&words);
    let said = text(&again.stderr);
    assert!(said.contains("its runs are in runs/beaglepilot"), "{said}");
    assert_eq!(again.stdout, first.stdout);
    // One guest that was killed in the middle is run again, the others are not, and the page is the same.
    let killed = place.0.join("runs/beaglepilot/debian-stock-preempt=none");
    std::fs::remove_dir_all(&killed).unwrap();
    std::fs::create_dir(&killed).unwrap();
    std::fs::write(killed.join("console.log"), "cut off").unwrap();
    std::fs::write(place.0.join("runs/beaglepilot/.initramfs-4711"), "left").unwrap();
    let gone_on = place.wakepath(&words);
    let said = text(&gone_on.stderr);
    assert!(said.contains("1 guest of"), "{said}");
    assert!(said.contains("beaglepilot: 1 guest to run"), "{said}");
    assert_eq!(gone_on.stdout, first.stdout);
    assert_eq!(
        std::fs::read_to_string(place.0.join("runs/beaglepilot.md")).unwrap(),
        page
    );
    assert!(!place.0.join("runs/beaglepilot/.initramfs-4711").exists());
    // A second run that is not the same: nothing is shown, and the page of before stays as it is.
    let again = place.0.join("runs/beaglepilot/again");
    let [second] = &std::fs::read_dir(&again)
        .unwrap()
        .flatten()
        .collect::<Vec<_>>()[..]
    else {
        panic!("one guest was carried out twice");
    };
    // Held against its first run while it was under way: a line for each of its two segments.
    let [before, now] = [place.0.join("runs/beaglepilot/debian-rt"), second.path()].map(|run| {
        let console = std::fs::read_to_string(run.join("console.log")).unwrap();
        let canary = console.lines().filter(|line| line.contains(": canary "));
        canary.map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!((before.len(), &before), (2, &now));
    let other_guest = place.0.join("runs/beaglepilot/debian-stock-preempt=none");
    assert_ne!(second.path().file_name(), other_guest.file_name());
    // One that was stopped, such as because it differed, is carried out again.
    std::fs::remove_dir_all(second.path()).unwrap();
    std::fs::create_dir(second.path()).unwrap();
    std::fs::write(second.path().join("console.log"), "stopped").unwrap();
    let resumed = place.wakepath(&words);
    assert_eq!(resumed.stdout, first.stdout, "{}", text(&resumed.stderr));
    std::fs::remove_dir_all(second.path()).unwrap();
    let mut copy = Command::new("cp");
    let copied = copy.arg("-r").arg(&other_guest).arg(second.path()).status();
    assert!(copied.unwrap().success());
    let parted = place.wakepath(&words);
    let said = text(&parted.stderr);
    assert_eq!(parted.status.code(), Some(1), "{said}");
    assert!(said.contains("carried out twice, they "), "{said}");
    assert_eq!(text(&parted.stdout), "");
    let unchanged = std::fs::read_to_string(place.0.join("runs/beaglepilot.md")).unwrap();
    assert_eq!(unchanged, page);

    let other = ["--cycles", "41", "--seeds", "1", "--directory", "runs"];
    let other = [&words[..3], &other].concat();
    let other = place.wakepath(&other);
    assert_eq!(
        other.status.code(),
        Some(1),
        "another experiment than the runs are of"
    );
}
