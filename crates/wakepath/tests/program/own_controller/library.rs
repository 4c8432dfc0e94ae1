//! Shared libraries: the examples in three languages, and such as are wrong, refuse or crash.

use super::*;

wakepath_test_program::tests![
    the_example_in_c_flies_the_circle,
    the_example_in_cpp_holds_its_height,
    the_example_in_rust_hovers,
    a_library_of_another_version_is_refused_and_says_which,
    a_library_that_refuses_or_is_no_controller_says_so,
    a_controller_that_crashes_ends_the_loop_and_not_the_run,
    modules_that_a_controller_times_are_shown_with_their_budgets,
    a_fault_that_a_controller_reports_is_counted,
    what_a_library_prints_stays_out_of_the_processes_talk,
];

fn the_example_in_c_flies_the_circle() {
    let place = Place::new("c");
    let source = example("geometric.c");
    place.build("cc", &["-std=c11"], &source, "libgeometric.so");
    let output = place.run("{ kind = \"library\", library = \"libgeometric.so\" }");
    assert_eq!(flown(&output)["work_faults"], 0);
}

fn the_example_in_cpp_holds_its_height() {
    let place = Place::new("cpp");
    let source = example("altitude.cpp");
    place.build("g++", &["-std=c++17"], &source, "libaltitude.so");
    let output = place.run(
        "{ kind = \"library\", library = \"libaltitude.so\", settings = \"0.5\", trajectory = \
         \"hover\" }",
    );
    assert_eq!(flown(&output)["work_faults"], 0);
}

fn the_example_in_rust_hovers() {
    let place = Place::new("rust");
    let source = example("hover.rs");
    let options = ["--edition", "2024", "--crate-type", "cdylib"];
    place.build("rustc", &options, &source, "libhover.so");
    let output =
        place.run("{ kind = \"library\", library = \"libhover.so\", trajectory = \"hover\" }");
    assert_eq!(flown(&output)["work_faults"], 0);
}

/// The C interface around this body of `step`.
fn library(version: &str, init: &str, step: &str) -> String {
    format!(
        "#include \"wakepath_controller.h\"\n\
         uint32_t wakepath_controller_version(void) {{ return {version}; }}\n\
         void *wakepath_controller_init(const wakepath_controller_setup *s) {{ {init} }}\n\
         int32_t wakepath_controller_step(void *c, const wakepath_controller_input *in,\n\
             wakepath_controller_output *out) {{ (void)c; (void)in; (void)out; {step} }}\n\
         void wakepath_controller_free(void *c) {{ (void)c; }}\n"
    )
}

const WRONG: &str = "{ kind = \"library\", library = \"libwrong.so\" }";

fn a_library_of_another_version_is_refused_and_says_which() {
    let place = Place::new("version");
    let text = library(
        "WAKEPATH_CONTROLLER_VERSION + 1",
        "return (void *)s;",
        "return 0;",
    );
    place.build_text(&text, "libwrong.so");
    let line = refusal(&place, &place.run(WRONG));
    assert!(
        line.contains("libwrong.so: was built for version 2"),
        "{line}"
    );
}

fn a_library_that_refuses_or_is_no_controller_says_so() {
    let place = Place::new("refuses");
    place.build_text(
        &library("1", "(void)s; return 0;", "return 0;"),
        "libwrong.so",
    );
    let line = refusal(&place, &place.run(WRONG));
    assert!(line.contains("refused (it returned NULL)"), "{line}");

    let place = Place::new("dies");
    place.build_text(
        &library(
            "1",
            "(void)s; *(volatile int *)0 = 0; return 0;",
            "return 0;",
        ),
        "libwrong.so",
    );
    let line = refusal(&place, &place.run(WRONG));
    assert!(
        line.contains("before its first cycle: signal: 11"),
        "{line}"
    );

    let place = Place::new("foreign");
    place.build_text(
        "int answer(void);\nint answer(void) { return 42; }\n",
        "libwrong.so",
    );
    let line = refusal(&place, &place.run(WRONG));
    assert!(
        line.contains("doesn't export wakepath_controller_version"),
        "{line}"
    );
}

fn a_controller_that_crashes_ends_the_loop_and_not_the_run() {
    let place = Place::new("crash");
    let crash = "if (in->time_ns > 500000000) { *(volatile int *)0 = 0; } return 0;";
    place.build_text(&library("1", "return (void *)s;", crash), "libwrong.so");
    let output = place.run(WRONG);
    let error = error_of(&output);
    assert!(
        error.contains("died in the controller") && error.contains("SIGSEGV"),
        "{error}"
    );
    let result = result(&output);
    assert_eq!(result["run"]["ending"]["how"], "complete", "{result:#}");
    let executed = result["conditions"][0]["cycles"]["executed"].as_u64();
    assert!(executed > Some(0), "what was measured until then is kept");
    assert!(matches!(output.status.code(), Some(1..=3)), "{error}");
}

fn modules_that_a_controller_times_are_shown_with_their_budgets() {
    let place = Place::new("modules");
    let step = "parts[0].ran = 1; parts[0].time_ns = 3000; parts[1].ran = in->time_ns / 4000000 % 2;\n\
        parts[1].time_ns = 9000;\n\
        for (int n = 0; n < 4; n++) out->rotor_speed_rad_s[n] = 469.2042;\n return 0;";
    let text = library("1", "return (void *)s;", step);
    let (include, rest) = text.split_once('\n').expect("lines");
    let text = format!(
        "{include}\nstatic wakepath_controller_module parts[2] = {{\n\
         {{ \"inner\", 5000, 0, 0, 0 }}, {{ \"outer\", 8000, 0, 0, 0 }} }};\n{rest}\
         uint32_t wakepath_controller_modules(void *c, const wakepath_controller_module **m) {{\n\
         (void)c; *m = parts; return 2; }}\n"
    );
    // The outer part runs in every second cycle, and says that it shall in every cycle.
    let text = text.replace("8000, 0, 0, 0 }", "8000, 0, 0, 1 }");
    place.build_text(&text, "libwrong.so");
    let result = result(&place.run(WRONG));
    let executed = &result["conditions"][0]["cycles"]["executed"];
    let [inner, outer] = [0, 1].map(|number| &result["modules"][number]);
    assert_eq!(
        (&inner["name"], &inner["runs"]),
        (&"inner".into(), executed)
    );
    assert_eq!(inner["average_ns"], 3000.0);
    assert_eq!(inner["over_budget"], 0);
    assert_eq!(outer["over_budget"], outer["runs"]);
    assert!(outer["runs"].as_u64() < executed.as_u64(), "{result:#}");
    assert_eq!(inner["wanted_hz"], Value::Null);
    assert_eq!(outer["wanted_hz"], 250.0);
    // Late in each of the other cycles, and in those that were skipped.
    let late = outer["late"]
        .as_u64()
        .expect("a part with a rate can be late");
    assert!(
        late + 1 >= outer["runs"].as_u64().expect("a count"),
        "{outer:#}"
    );
    assert!(inner.get("late").is_none(), "{inner:#}");
}

fn a_fault_that_a_controller_reports_is_counted() {
    let place = Place::new("fault");
    let step = "for (int n = 0; n < 4; n++) out->rotor_speed_rad_s[n] = 469.2;\n return 1;";
    place.build_text(&library("1", "return (void *)s;", step), "libwrong.so");
    let cycles = flown(&place.run(WRONG));
    assert_eq!(cycles["work_faults"], cycles["executed"]);
}

fn what_a_library_prints_stays_out_of_the_processes_talk() {
    let place = Place::new("prints");
    let step = "printf(\"{}\\n\"); fflush(stdout);\n\
        for (int n = 0; n < 4; n++) out->rotor_speed_rad_s[n] = 469.2;\n return 0;";
    let text = format!(
        "#include <stdio.h>\n{}",
        library("1", "return (void *)s;", step)
    );
    place.build_text(&text, "libwrong.so");
    assert_eq!(flown(&place.run(WRONG))["work_faults"], 0);
}
