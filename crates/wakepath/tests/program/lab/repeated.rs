//! A scenario run twice is the same to the nanosecond, and so is a run made once more while the emulator
//! records sections, costs or windows.

use super::{Place, SCENARIO, lacking, text};
use serde_json::Value;
use std::process::Output;

wakepath_test_program::tests![
    ;
    two_runs_of_a_scenario_are_the_same_to_the_nanosecond_on_stock_and_rt_kernels,
    two_runs_in_an_aarch64_guest_are_the_same_to_the_nanosecond,
];

// Ignored: the stage `lab` runs it: minutes of a CPU.
fn two_runs_of_a_scenario_are_the_same_to_the_nanosecond_on_stock_and_rt_kernels() {
    let place = Place::new("repeated");
    // The RT kernel's second run is the baseline's check, the stock kernel's the one for windows.
    let rt = [
        "--kernel",
        "debian:rt",
        "--baseline",
        "baseline.json",
        "--json",
    ];
    let first = place.lab_run("first", &rt).output().unwrap();
    if let Some(why) = lacking(&first) {
        wakepath_test_program::not_run(why);
    }
    assert!(first.status.success(), "{}", text(&first.stderr));
    let check = ["lab", "check", "baseline.json", "--directory", "second"];
    let second = place.wakepath(&check);
    let said = text(&second.stdout);
    assert_eq!(
        second.status.code(),
        Some(0),
        "{said}{}",
        text(&second.stderr)
    );
    assert!(
        said.contains("debian:rt: every count as in the baseline"),
        "{said}"
    );
    let diff = place.wakepath(&["lab", "diff", "first/debian-rt", "second/debian-rt"]);
    let said = text(&diff.stdout);
    assert_eq!(diff.status.code(), Some(0), "{said}");
    // Two policies in two phases, 60 cycles and 20 of warm-up each; a cycle may be skipped.
    let samples = said.split_whitespace().nth(2).unwrap();
    let samples: usize = samples.parse().unwrap();
    assert!((240..=320).contains(&samples), "{said}");

    let seeds = ["--kernel", "debian:stock", "--seed", "1", "--seed", "2"];
    let seeded = place.lab_run("stock", &seeds).output().unwrap();
    assert!(seeded.status.success(), "{}", text(&seeded.stderr));
    // What compares as equal above can differ: another kernel is another path, another seed another
    // moment.
    let others = [
        ("first/debian-rt", "kernel: debian:stock against debian:rt"),
        ("stock/debian-stock-seed-2", "seed: 1 against 2"),
    ];
    for (other, differs) in others {
        let diff = place.wakepath(&["lab", "diff", STOCK, other]);
        let said = text(&diff.stdout);
        assert_eq!(diff.status.code(), Some(2), "{said}");
        // What explains it comes before the first nanosecond.
        let (known, parted) = (said.find(differs), said.find("they part at"));
        assert!(known.is_some() && known < parted, "{said}");
    }

    virtual_time_judges_nothing(&place, &first);
    what_was_sampled_lies_below_any_instant_and_that_below_the_bound(&place);
    costs_by_a_model_leave_the_run_as_it_is_and_loads_in_its_caches_show(&place);
    a_latency_is_as_many_instructions_as_it_has_nanoseconds(&place);
}

/// The stock kernel's run among those of the test above.
const STOCK: &str = "stock/debian-stock-seed-1";
/// The run made once more with its sections noted must be the same run, and what is composed of them hold.
fn what_was_sampled_lies_below_any_instant_and_that_below_the_bound(place: &Place) {
    let output = place.wakepath(&["lab", "sections", "first/debian-rt", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["preemption"], "PREEMPT_RT");
    // OTHER in two phases is bounded by no section.
    assert_eq!(found["left_out"].as_array().unwrap().len(), 2);
    let conditions = found["conditions"].as_array().unwrap();
    assert_eq!(conditions.len(), 2);
    for condition in conditions {
        let number = |key: &str| condition[key].as_u64().unwrap();
        let [sampled, any, bound] =
            ["latency_of_wake_ups_max_ns", "any_instant_ns", "bound_ns"].map(number);
        assert!(0 < sampled && sampled <= any && any <= bound, "{condition}");
        let phase = condition["phase"].as_str().unwrap();
        // Each with who had called: in a quiet phase all of it is there when the loop is recognised.
        for found in condition["longest"].as_array().unwrap() {
            assert!(found["of"]["longest_ns"].as_u64() > Some(0), "{found}");
            let stack = found["stack"].as_array();
            assert!(stack.is_some_and(|stack| !stack.is_empty()), "{found}");
        }
        let file = format!("first/debian-rt/sections-fifo-80-{phase}.toml");
        let composed = place.wakepath(&["bound", "first/debian-rt", "--json", "--sections", &file]);
        let composed: Value = serde_json::from_slice(&composed.stdout).unwrap();
        assert_eq!(composed["composed"]["latency_ns"], bound, "{composed}");
    }
}

/// The run repeated with a model of a core must be the same run. The loads' data in the caches makes the
/// same instructions of an execution wait.
fn costs_by_a_model_leave_the_run_as_it_is_and_loads_in_its_caches_show(place: &Place) {
    let costs = ["lab", "costs", "first/debian-rt", "--json"];
    let output = place.wakepath(&[&costs[..], &["--cost-model", "cortex-a76"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let kept = std::fs::read(place.0.join("first/debian-rt/costs-cortex-a76.json")).unwrap();
    assert_eq!(text(&kept), text(&output.stdout));
    let found: Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!(found["cost_model"]["name"], "cortex-a76");
    let conditions = found["conditions"].as_array().unwrap();
    assert_eq!(conditions.len(), 4);
    let waits = |phase: &str| -> u64 {
        let of = |one: &&Value| one["condition"] == "FIFO 80" && one["phase"] == phase;
        let cycles = conditions.iter().find(of).unwrap()["cycles"].as_array();
        let cycles = cycles.unwrap();
        assert!(cycles.len() >= 60, "{}", cycles.len());
        let number = |cycle: &Value, key: &str| cycle[key].as_u64().unwrap();
        let waits = cycles.iter().map(|cycle| {
            assert!(number(cycle, "execution_ns") > 0, "{cycle}");
            number(cycle, "code_ns") + number(cycle, "data_ns")
        });
        waits.sum::<u64>() / cycles.len() as u64
    };
    let (idle, loaded) = (waits("idle"), waits("stress"));
    assert!(idle < loaded, "{idle} ns idle, {loaded} ns beside loads");
}

/// The known answer of a window: at a nanosecond for each instruction, its instructions are its
/// latency. Made of the run above once more, which must come out the same with the emulator noting.
fn a_latency_is_as_many_instructions_as_it_has_nanoseconds(place: &Place) {
    /// Between instructions and clock where the CPU was idle, and its timer had to wake it.
    const IDLE_APART_NS: i64 = 200;
    /// If it was busy since the cycle before, up to milliseconds: a block that a page fault leaves
    /// in its middle is counted whole.
    const BUSY_APART_NS: i64 = 20_000;
    let output = place.wakepath(&["lab", "window", STOCK, "--json"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let windows = found["windows"].as_array().unwrap();
    // The worst of two policies in two phases.
    assert_eq!(windows.len(), 4, "{found}");
    for window in windows {
        let number = |key: &str| window[key].as_i64().unwrap();
        let (late, instructions) = (number("latency_ns"), number("instructions"));
        let is_idle = window["check"]["how"] == "since-idle";
        let (apart, most) = if is_idle {
            (late - instructions, IDLE_APART_NS)
        } else {
            (
                window["check"]["difference_ns"].as_i64().unwrap_or(0),
                BUSY_APART_NS,
            )
        };
        assert!(apart.abs() <= most, "{late} ns: {}", window["check"]);
        assert!(is_idle || late == instructions, "{late} ns, {instructions}");
        let stacks = window["stacks"].as_array().unwrap();
        let in_stacks: i64 = stacks
            .iter()
            .map(|s| s["instructions"].as_i64().unwrap())
            .sum();
        assert_eq!(in_stacks, instructions);
    }
    // The path of a wake-up, in the kernel's own names.
    let idle = windows
        .iter()
        .find(|window| window["condition"] == "FIFO 80" && window["phase"] == "idle");
    let idle = idle.unwrap();
    let names: Vec<&str> = idle["symbols"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["symbol"].as_str().unwrap())
        .collect();
    for name in [
        "hrtimer_interrupt",
        "try_to_wake_up",
        "__schedule",
        "do_nanosleep",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let cycle = idle["cycle"].as_u64().unwrap();
    let folded = place
        .0
        .join(format!("{STOCK}/window-{}-{cycle}.folded", idle["segment"]));
    assert!(
        std::fs::read_to_string(folded)
            .unwrap()
            .contains(";hrtimer_interrupt;")
    );
    let report = place.wakepath(&["report", STOCK]);
    assert_eq!(report.status.code(), Some(0), "{}", text(&report.stderr));
    let page = std::fs::read_to_string(place.0.join(STOCK).join("report.html")).unwrap();
    assert!(
        page.contains("data-figure=\"window-fifo-80-"),
        "no flame graph"
    );
}

/// The criterion holds by far, and yet nothing is passed.
fn virtual_time_judges_nothing(place: &Place, first: &Output) {
    let result: Value = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!(result["outcome"], "virtual-time");
    let marked = &result["guests"][0]["assessment"]["virtual_time"];
    assert_eq!(marked["seed"], 1);
    let emulator = &marked["emulator"];
    assert_eq!(emulator["kernel"], "debian:rt");
    for digest in ["kernel_sha256", "initramfs_sha256"] {
        assert_eq!(emulator[digest].as_str().unwrap().len(), 64, "{emulator}");
    }
    assert!(emulator["version"].as_str().unwrap().starts_with("QEMU "));
    let shown = place.wakepath(&["show", "first/debian-rt"]);
    assert_eq!(shown.status.code(), Some(3));
    let shown = text(&shown.stdout);
    assert!(shown.contains("verdict: VIRTUAL TIME"), "{shown}");
    assert!(!shown.to_lowercase().contains("passed"), "{shown}");
}

// Ignored: the stage `lab` runs it: minutes of a CPU.
fn two_runs_in_an_aarch64_guest_are_the_same_to_the_nanosecond() {
    let place = Place::new("arm");
    let scenario = SCENARIO.replace(
        "policies = [\"OTHER\", \"FIFO 80\"]",
        "policies = [\"FIFO 80\"]",
    );
    let (idle, _) = scenario
        .split_once("[[phases]]\nname = \"stress\"")
        .unwrap();
    let criterion = "[criterion]\nlatency = \"1 ms\"\nmiss-fraction = \"50 %\"\n";
    std::fs::write(place.0.join("scenario.toml"), idle.to_owned() + criterion).unwrap();
    let guest = ["--architecture", "aarch64", "--kernel", "debian:rt"];
    for run in ["first", "second"] {
        let output = place.lab_run(run, &guest).output().unwrap();
        if let Some(why) = lacking(&output) {
            wakepath_test_program::not_run(why);
        }
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let diff = place.wakepath(&["lab", "diff", "first/debian-rt", "second/debian-rt"]);
    assert_eq!(diff.status.code(), Some(0), "{}", text(&diff.stdout));
}
