//! The user's own program with a loop on EVL or Cobalt, recorded in a guest: the recording must name its
//! policy, and must not take it off its core in any cycle. Needs cc.

use super::Place;
use super::cores::{COBALT, Core, EVL};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

wakepath_test_program::tests![
    ;
    a_recorded_loop_on_evl_is_told_by_the_policy_that_it_has_there,
    a_recorded_loop_on_cobalt_is_told_by_the_policy_that_it_has_there,
];

const PROGRAM: &str = r#"
#include <stdio.h>
#include <wakepath.h>

int main(void) {
    char said[256] = "";
    if (PREPARE(80, NULL, 0, said, sizeof said) < 0) {
        fprintf(stderr, "%s\n", said);
        return 1;
    }
    wakepath_loop *loop = wakepath_loop_create("control", 1000000, said, sizeof said);
    if (loop == NULL) {
        fprintf(stderr, "%s\n", said);
        return 1;
    }
    wakepath_cycle cycle;
    while (wakepath_loop_wait(loop, &cycle)) {
        wakepath_loop_finish(loop);
    }
    wakepath_loop_destroy(loop);
    return 0;
}
"#;

/// The script of the guest; its own shell is brought with it.
const RECORDS: &str = "#!/bin/sh
exec /bin/wakepath record --idle --no-tui --json --duration 2s --directory /run/recorded -- /bin/control
";

impl Core {
    fn records(&self, prepare: &str) {
        // Whether it can be run is known before anything is built.
        self.kernel();
        let place = Place::new(&format!("{}-recorded", self.tag));
        let at = |name: &str| place.0.join(name);
        std::fs::write(at("control.c"), PROGRAM.replace("PREPARE", prepare)).unwrap();
        let tests = std::env::current_exe().unwrap();
        let library = tests.parent().unwrap().join("libwakepath.a");
        let headers = concat!(env!("CARGO_MANIFEST_DIR"), "/../c-library/include");
        let built = Command::new("cc")
            .args(["-std=c11", "-O2", "-I", headers])
            .args([&at("control.c"), &library])
            .args(["-lpthread", "-ldl", "-lm", "-o"])
            .arg(at("control"))
            .status();
        assert!(built.expect("the compiler runs").success());
        std::fs::write(at("script"), RECORDS).unwrap();
        let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(at("script"), runs).unwrap();
        std::fs::write(at("scenario.toml"), self.scenario("")).unwrap();

        let files = ["--file", "control=/bin/control", "--before", "-./script"];
        let run = self.runs(&place, &files);
        let printed = printed(&run[0]);
        let conditions = printed["conditions"].as_array().unwrap();
        let [condition] = &conditions[..] else {
            panic!("one condition: {printed}");
        };
        let policy = &condition["name"]["policy"];
        assert_eq!(policy["policy"], self.tag, "{condition}");
        assert_eq!(policy["priority"], 80);
        let cycles = &condition["cycles"];
        assert!(cycles["executed"].as_u64() > Some(300), "{condition}");
        // Its due times are the core's: it wakes about its time, not after Linux's whole way.
        let median = cycles["latency_as_executed"]["quantiles"][0]["value"].as_i64();
        assert!(median < Some(2_000), "{condition}");
        let reasons = condition["reasons"].to_string();
        assert!(!reasons.contains("mode-switches"), "{reasons}");
    }
}

/// Output of the script's command.
fn printed(run: &Path) -> Value {
    let [out, err] = ["out", "err"].map(|end| {
        let path = run.join(format!("command-1.{end}"));
        std::fs::read_to_string(path).unwrap_or_default()
    });
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"))
}

fn a_recorded_loop_on_evl_is_told_by_the_policy_that_it_has_there() {
    EVL.records("wakepath_prepare_evl_fifo");
}

fn a_recorded_loop_on_cobalt_is_told_by_the_policy_that_it_has_there() {
    COBALT.records("wakepath_prepare_cobalt_fifo");
}
