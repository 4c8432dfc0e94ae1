//! A controller of the user's own in the measured loop: the examples, built by their compilers and
//! flown; libraries that are wrong, refuse or crash; Python behind the same seam. Needs cc, g++ and
//! rustc, and python3 with its shared library.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A directory of its own for each test, gone afterwards.
struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Self {
        let name = format!("wakepath-own-controller-{test}-{}", std::process::id());
        let place = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&place).expect("a directory for the test");
        Self(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Builds a shared library with `compiler` from a source file.
    fn build(&self, compiler: &str, options: &[&str], source: &Path, library: &str) {
        let mut command = Command::new(compiler);
        command.args(options);
        if compiler != "rustc" {
            let include = format!("{ROOT}/crates/measured-loop/include");
            command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]);
            command.args(["-I", include.as_str()]);
        }
        let output = command.arg("-o").arg(self.path(library)).arg(source);
        let output = output.arg(if compiler == "cc" { "-lm" } else { "-O" });
        let output = output.output().expect("the compiler runs");
        assert!(output.status.success(), "{}", error_of(&output));
    }

    /// Builds a library from C text.
    fn build_text(&self, text: &str, library: &str) {
        let source = self.path("source.c");
        std::fs::write(&source, text).expect("the source is written");
        self.build("cc", &["-std=c11"], &source, library);
    }

    /// Runs a loop for two seconds with this work.
    fn run(&self, work: &str) -> Output {
        let scenario = self.path("scenario.toml");
        let text = format!(
            "name = \"own\"\nrate = \"250 Hz\"\nduration = \"2 s\"\nwarm-up = \"100 ms\"\n\
             policies = [\"OTHER\"]\nwork = {work}\n[criterion]\ndeadline = \"100 periods\"\n\
             miss-fraction = \"5 %\"\n"
        );
        std::fs::write(&scenario, text).expect("the scenario is written");
        Command::new(env!("CARGO_BIN_EXE_wakepath"))
            .arg("run")
            .arg(&scenario)
            .arg("--json")
            .arg("--directory")
            .arg(self.path("run"))
            .output()
            .expect("wakepath runs")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn result(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", error_of(output)))
}

/// The one condition's figures; checks that the controller alone was timed in every cycle and
/// takes no longer than the region around it.
fn flown(output: &Output) -> Value {
    let result = result(output);
    let cycles = result["conditions"][0]["cycles"].clone();
    assert!(cycles["executed"].as_u64() > Some(0), "{result:#}");
    assert_eq!(cycles["work"]["count"], cycles["executed"]);
    for figure in ["min", "max"] {
        let time = |of: &str| cycles[of][figure].as_i64().expect("a time");
        assert!(time("work") <= time("execution"), "{cycles:#}");
    }
    cycles
}

fn example(name: &str) -> PathBuf {
    Path::new(ROOT).join("examples/controllers").join(name)
}

#[test]
fn the_built_in_controller_is_timed_apart_and_its_recording_repeats_without_the_vehicle_file() {
    let place = Place::new("built-in");
    std::fs::copy(
        format!("{ROOT}/vehicles/crazyflie.toml"),
        place.path("mine.toml"),
    )
    .expect("a vehicle file");
    let output = place.run("{ kind = \"flight\", vehicle-file = \"mine.toml\" }");
    assert_eq!(flown(&output)["work_faults"], 0);
    let manifest = std::fs::read_to_string(place.path("run/manifest.json")).expect("a manifest");
    assert!(
        manifest.contains("mass_kg = 0.03"),
        "the vehicle's text is kept"
    );
    assert!(!manifest.contains("mine.toml\\\""), "its path is not");
}

#[test]
fn a_bad_vehicle_file_is_refused_with_its_line_before_anything_runs() {
    let place = Place::new("bad-vehicle");
    let text = std::fs::read_to_string(format!("{ROOT}/vehicles/crazyflie.toml")).expect("a file");
    let text = text.replace("mass_kg = 0.03", "mass_kg = -0.03");
    std::fs::write(place.path("mine.toml"), text).expect("a vehicle file");
    let output = place.run("{ kind = \"flight\", vehicle-file = \"mine.toml\" }");
    let error = error_of(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("mine.toml:6: body.mass_kg is -0.03"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(!place.path("run").exists());
}

#[test]
fn the_example_in_c_flies_the_circle() {
    let place = Place::new("c");
    let source = example("geometric.c");
    place.build("cc", &["-std=c11"], &source, "libgeometric.so");
    let output = place.run("{ kind = \"library\", library = \"libgeometric.so\" }");
    assert_eq!(flown(&output)["work_faults"], 0);
}

#[test]
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

#[test]
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

fn reason_not_measured(output: &Output) -> String {
    let result = result(output);
    let reason = result["not_measured"][0]["reason"].as_str();
    reason.unwrap_or_else(|| panic!("{result:#}")).to_owned()
}

const WRONG: &str = "{ kind = \"library\", library = \"libwrong.so\" }";

#[test]
fn a_library_of_another_version_is_refused_and_says_which() {
    let place = Place::new("version");
    let text = library(
        "WAKEPATH_CONTROLLER_VERSION + 1",
        "return (void *)s;",
        "return 0;",
    );
    place.build_text(&text, "libwrong.so");
    let output = place.run(WRONG);
    let reason = reason_not_measured(&output);
    assert!(
        reason.contains("libwrong.so: was built for version 2"),
        "{reason}"
    );
    assert!(!reason.contains('\n'));
    assert_ne!(output.status.code(), Some(0));
}

#[test]
fn a_library_that_refuses_or_is_no_controller_says_so() {
    let place = Place::new("refuses");
    place.build_text(
        &library("1", "(void)s; return 0;", "return 0;"),
        "libwrong.so",
    );
    let reason = reason_not_measured(&place.run(WRONG));
    assert!(reason.contains("refused (it returned NULL)"), "{reason}");

    let place = Place::new("foreign");
    place.build_text(
        "int answer(void);\nint answer(void) { return 42; }\n",
        "libwrong.so",
    );
    let reason = reason_not_measured(&place.run(WRONG));
    assert!(
        reason.contains("doesn't export wakepath_controller_version"),
        "{reason}"
    );
}

#[test]
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

#[test]
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

#[test]
fn a_fault_that_a_controller_reports_is_counted() {
    let place = Place::new("fault");
    let step = "for (int n = 0; n < 4; n++) out->rotor_speed_rad_s[n] = 469.2;\n return 1;";
    place.build_text(&library("1", "return (void *)s;", step), "libwrong.so");
    let cycles = flown(&place.run(WRONG));
    assert_eq!(cycles["work_faults"], cycles["executed"]);
}

/// Whether there is a Python that can be loaded. A machine without one can't run these tests, and
/// says so; it is no failure of wakepath's.
fn python_is_there(test: &str) -> bool {
    let place = Place::new(&format!("probe-{test}"));
    std::fs::write(place.path("mine.py"), PYTHON_HOVER).expect("a Python file");
    let output = place.run("{ kind = \"library\", library = \"mine.py\" }");
    let result = result(&output);
    let missing = result["not_measured"][0]["reason"]
        .as_str()
        .filter(|reason| {
            reason.contains("no Python: ") || reason.contains("has no shared library")
        });
    if let Some(reason) = missing {
        eprintln!("not run: {test}: {reason}");
    }
    missing.is_none()
}

const PYTHON_HOVER: &str = "class Controller:\n    def __init__(self, setup):\n        \
    self.speed = setup.hover_speed_rad_s\n    def step(self, now):\n        return [self.speed] * 4\n";

/// A run of this Python file.
fn python(place: &Place, text: &str) -> Output {
    std::fs::write(place.path("mine.py"), text).expect("a Python file");
    place.run("{ kind = \"library\", library = \"mine.py\", trajectory = \"hover\" }")
}

#[test]
fn the_example_in_python_hovers_and_is_labelled_not_real_time_everywhere() {
    if !python_is_there("hover.py") {
        return;
    }
    let place = Place::new("python");
    let file = example("hover.py");
    let output = place.run(&format!(
        "{{ kind = \"library\", library = \"{}\", settings = \"0.5\", trajectory = \"hover\" }}",
        file.display()
    ));
    assert_eq!(flown(&output)["work_faults"], 0);
    let result = result(&output);
    let controller = &result["controllers"][0];
    assert_eq!(controller["real_time"], false);
    let digest = wakepath_archive::sha256_of_file(&file).expect("the example is there");
    assert_eq!(controller["sha256"], digest.as_str());
    let manifest = std::fs::read_to_string(place.path("run/manifest.json")).expect("a manifest");
    assert!(manifest.contains(&digest), "the digest is in the manifest");
    let cautions = result["conditions"][0]["cautions"]
        .as_array()
        .expect("a list");
    assert!(
        cautions.iter().any(|one| one["kind"] == "not-real-time"),
        "{cautions:?}"
    );

    let mut show = Command::new(env!("CARGO_BIN_EXE_wakepath"));
    let shown = show
        .arg("show")
        .arg(place.path("run"))
        .output()
        .expect("wakepath runs");
    let text = String::from_utf8_lossy(&shown.stdout);
    for part in [
        "OTHER nice 0 (not real-time)",
        "hover.py is Python",
        "hover.py (Python, not real-time), SHA-256",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!file.with_file_name("__pycache__").exists());
}

#[test]
fn a_python_controller_that_raises_or_answers_wrongly_ends_the_loop_with_one_line() {
    if !python_is_there("wrong Python") {
        return;
    }
    let class = |step: &str| {
        format!(
            "class Controller:\n    def __init__(self, setup):\n        self.calls = 0\n    \
             def step(self, now):\n        self.calls += 1\n        print('to standard output')\n        \
             {step}\n"
        )
    };
    for (test, step, line) in [
        (
            "raises",
            "return [1 / (100 - self.calls)] * 4",
            "mine.py: step raised ZeroDivisionError: division by zero (line 7)",
        ),
        (
            "three",
            "return (1.0, 2.0, 3.0)",
            "mine.py: step must return four rotor speeds in rad/s, and returned (1.0, 2.0, 3.0)",
        ),
        (
            "words",
            "return 'abcd'",
            "mine.py: step must return four rotor speeds in rad/s, and returned 'abcd'",
        ),
    ] {
        let place = Place::new(test);
        let output = python(&place, &class(step));
        let error = error_of(&output);
        assert!(error.contains(line), "{error}");
        assert!(!error.contains("Traceback"), "{error}");
        assert_ne!(output.status.code(), Some(0), "{error}");
        assert_eq!(result(&output)["run"]["ending"]["how"], "complete");
    }
}

#[test]
fn a_python_file_that_is_no_controller_is_refused_before_the_loop() {
    if !python_is_there("no controller") {
        return;
    }
    for (text, line) in [
        (
            "x = 1\n",
            "mine.py: is no controller: it defines no class Controller",
        ),
        (
            "def f(:\n",
            "mine.py: loading it raised SyntaxError: invalid syntax",
        ),
        (
            "import nowhere\n",
            "mine.py: loading it raised ModuleNotFoundError",
        ),
        (
            "class Controller:\n    def step(self, now): pass\n",
            "Controller(setup) raised TypeError",
        ),
        (
            "WAKEPATH_CONTROLLER_VERSION = 2\nclass Controller:\n    def step(self): pass\n",
            "was written for version 2 of the controller interface",
        ),
    ] {
        let place = Place::new("no-controller");
        let reason = reason_not_measured(&python(&place, text));
        assert!(reason.contains(line) && !reason.contains('\n'), "{reason}");
    }
    let place = Place::new("no-python");
    std::fs::write(place.path("mine.py"), PYTHON_HOVER).expect("a Python file");
    let output =
        place.run("{ kind = \"library\", library = \"mine.py\", python = \"/nowhere/python\" }");
    let reason = reason_not_measured(&output);
    assert!(
        reason.contains("no Python: /nowhere/python: No such file"),
        "{reason}"
    );
}

#[test]
fn a_library_other_than_the_scenario_wants_is_refused_before_anything_runs() {
    let place = Place::new("digest");
    std::fs::write(place.path("mine.py"), PYTHON_HOVER).expect("a Python file");
    let wanted = "0".repeat(64);
    let output = place.run(&format!(
        "{{ kind = \"library\", library = \"mine.py\", sha256 = \"{wanted}\" }}"
    ));
    let error = error_of(&output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("mine.py: its SHA-256 is ") && error.contains(&wanted),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
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

#[test]
fn a_table_of_tasks_runs_at_its_rates_and_its_recording_repeats_without_the_file() {
    let place = Place::new("tasks");
    let table = "[[tasks]]\nname = \"often\"\nrate = \"250 Hz\"\nbudget = \"50 us\"\npriority = 1\n\
        rounds = 1000\n[[tasks]]\nname = \"seldom\"\nrate = \"25 Hz\"\nbudget = \"4 us\"\npriority = 2\n\
        rounds = 100_000\nbytes = \"4 KiB\"\n[[tasks]]\nname = \"too large\"\nrate = \"50 Hz\"\n\
        budget = \"5 ms\"\npriority = 3\n";
    std::fs::write(place.path("mine.toml"), table).expect("a task table");
    let output = place.run("{ kind = \"tasks\", table-file = \"mine.toml\" }");
    let cycles = flown(&output);
    let result = result(&output);
    let modules = result["modules"].as_array().expect("a list");
    let names: Vec<&str> = modules
        .iter()
        .filter_map(|module| module["name"].as_str())
        .collect();
    assert_eq!(names, ["controller", "often", "seldom", "too large"]);
    let of = |module: usize, key: &str| modules[module][key].as_u64().expect("a count");
    assert_eq!(of(0, "runs"), cycles["executed"].as_u64().expect("a count"));
    assert!(of(1, "runs") > 0 && of(1, "runs") <= of(0, "runs"));
    assert!((1..=51).contains(&of(2, "runs")), "{modules:#?}");
    // A hundred thousand dependent rounds in 4 µs is beyond any machine.
    assert_eq!(of(2, "over_budget"), of(2, "runs"));
    assert_eq!(modules[2]["wanted_hz"], 25.0);
    // Its budget is longer than the period: it never runs, and is late each time.
    assert_eq!(of(3, "runs"), 0);
    assert!((95..=101).contains(&of(3, "late")), "{modules:#?}");
    let manifest = std::fs::read_to_string(place.path("run/manifest.json")).expect("a manifest");
    assert!(manifest.contains("too large") && !manifest.contains("mine.toml\\\""));
}

#[test]
fn counters_that_are_asked_for_are_in_the_json_as_numbers_or_as_a_reason() {
    let place = Place::new("counters");
    let output = place.run("\"flight\"\naccounting = { counters = true }");
    let counted = result(&output)["counters"][0].clone();
    match counted["missing"].as_str() {
        Some(reason) => {
            assert!(
                reason.contains("counter") && counted["per_cycle"].is_null(),
                "{counted:#}"
            );
            let shown = Command::new(env!("CARGO_BIN_EXE_wakepath"))
                .arg("show")
                .arg(place.path("run"))
                .output()
                .expect("wakepath runs");
            let text = String::from_utf8_lossy(&shown.stdout);
            assert!(
                text.contains(&format!("no hardware counters: {reason}")),
                "{text}"
            );
            eprintln!("hardware counters were not tested here: {reason}");
        }
        None => {
            let of = |key: &str| counted["per_cycle"][key].as_f64();
            assert!(of("instructions") > Some(100.0), "{counted:#}");
            assert!(
                of("cpu_cycles") > Some(0.0) && of("cycles") > Some(0.0),
                "{counted:#}"
            );
        }
    }
}
