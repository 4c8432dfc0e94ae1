//! A service whose recorder is killed, and whose program becomes another: the lost samples are counted, and
//! the end is named.

use super::*;
use std::time::Instant;

wakepath_test_program::tests![
    a_killed_recorder_is_started_again_and_what_it_lost_is_counted,
    a_killed_keeper_is_started_again_and_keeps_the_recorder,
    a_program_that_nothing_records_any_more_is_named_and_its_next_start_heals_it,
    a_program_that_becomes_another_one_in_its_section_is_named,
];

fn a_killed_recorder_is_started_again_and_what_it_lost_is_counted() {
    let place = Place::new();
    let program = program(&place, 60_000, "");
    let mut child = start(&place, &words(None, &program));
    let began = Instant::now();
    wait_until("there is a recorder", || {
        began.elapsed() > Duration::from_millis(900)
            && process_of("service-recorder", &place).is_some()
    });
    let recorder = process_of("service-recorder", &place).unwrap();
    kill(recorder);
    wait_until("there is another", || {
        process_of("service-recorder", &place).is_some_and(|of| of != recorder)
    });
    std::thread::sleep(Duration::from_millis(700));
    // The loop continued. Now it dies, too.
    assert!(child.try_wait().unwrap().is_none());
    kill(child.id());
    let lived_ms = began.elapsed().as_millis() as u64;
    child.wait().unwrap();
    let found = shown(&place);
    assert_eq!(found["recorder_died"], 1);
    let lost = count(&found, "lost");
    assert!(lost < 3_000, "{lost} lost");
    assert!(
        due(&found) > 1_000 && due(&found) <= lived_ms,
        "{lived_ms}: {found:#}"
    );
    // Of a cycle that is lost nobody knows what became.
    let outcome = match count(&found, "lost") {
        0 => "undecided",
        _ => "invalid",
    };
    assert_eq!(found["loops"]["loop"]["verdict"]["outcome"], outcome);
    let gaps = found["gaps"].to_string();
    for named in [
        "the recorder had died",
        "its program ended while the loop ran",
    ] {
        assert!(gaps.contains(named), "{gaps}");
    }
}

/// The number of a process of this kind once there is another than this.
fn another(kind: &str, place: &Place, than: u32) -> u32 {
    wait_until("there is another", || {
        process_of(kind, place).is_some_and(|of| of != than)
    });
    process_of(kind, place).unwrap()
}

fn a_killed_keeper_is_started_again_and_keeps_the_recorder() {
    let place = Place::new();
    let program = program(&place, 60_000, "");
    let mut child = start(&place, &words(None, &program));
    let recorder = another("service-recorder", &place, 0);
    let keeper = another("service-keeper", &place, 0);
    kill(keeper);
    let second = another("service-keeper", &place, keeper);
    assert_eq!(process_of("service-recorder", &place), Some(recorder));
    // The second keeper keeps a recorder that is not its child.
    kill(recorder);
    let after = another("service-recorder", &place, recorder);
    assert_eq!(process_of("service-keeper", &place), Some(second));
    kill(second);
    another("service-keeper", &place, second);
    assert_eq!(process_of("service-recorder", &place), Some(after));
    std::thread::sleep(Duration::from_millis(700));
    kill(child.id());
    child.wait().unwrap();
    let found = shown(&place);
    assert_eq!(found["recorder_died"], 1, "{found:#}");
    assert!(due(&found) > 500, "{found:#}");
    wait_until("nobody is left", || {
        ["service-keeper", "service-recorder"]
            .iter()
            .all(|kind| process_of(kind, &place).is_none())
    });
}

fn a_program_that_nothing_records_any_more_is_named_and_its_next_start_heals_it() {
    let place = Place::new();
    let long = program(&place, 60_000, "");
    let mut child = start(&place, &words(None, &long));
    let recorder = another("service-recorder", &place, 0);
    std::thread::sleep(Duration::from_millis(1_200));
    kill(process_of("service-keeper", &place).unwrap());
    kill(recorder);
    let text = || {
        let output = Command::new(crate::started::binary())
            .arg("show")
            .arg(place.path().join("field"))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    wait_until("show names it", || text().contains("nothing records it"));
    assert!(child.try_wait().unwrap().is_none(), "the program runs on");
    kill(child.id());
    child.wait().unwrap();
    let short = program(&place, 400, "");
    assert!(
        start(&place, &words(None, &short))
            .wait()
            .unwrap()
            .success()
    );
    let found = shown(&place);
    assert_eq!(found["starts"], 2);
    assert!(
        due(&found) > 400 + 500,
        "what was recorded before is in it: {found:#}"
    );
    assert!(!text().contains("nothing records it"));
}

fn a_program_that_becomes_another_one_in_its_section_is_named() {
    let place = Place::new();
    let each = "if (!part) part = 1 + wakepath_loop_section(loop, \"update\", 0); \
                wakepath_section_begin(loop, part - 1); \
                if (cycle.cycle >= 300) execl(\"/bin/true\", \"true\", (char *)0); \
                wakepath_section_end(loop, part - 1);";
    let headers = "#include <unistd.h>\nstatic uint32_t part;";
    // Long enough for the recorder to look before the next program is over.
    let each = each.replace(
        "\"/bin/true\", \"true\"",
        "\"/bin/sleep\", \"sleep\", \"2\"",
    );
    let program = built_of(&place, &looping(headers, &each));
    start(&place, &words(None, &program)).wait().unwrap();
    let found = shown(&place).to_string();
    for said in [
        "executed another program (exec)",
        "within its section `update`",
    ] {
        assert!(found.contains(said), "{said}: {found}");
    }
}
