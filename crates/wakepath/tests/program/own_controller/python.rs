//! Controllers in Python through the same interface.

use super::*;

wakepath_test_program::tests![
    the_example_in_python_hovers_and_is_labelled_not_real_time_everywhere,
    a_python_controller_that_raises_or_answers_wrongly_ends_the_loop_with_one_line,
    modules_that_a_python_controller_times_are_shown_with_their_budgets,
    a_python_file_that_is_no_controller_is_refused_before_the_loop,
    a_library_other_than_the_scenario_wants_is_refused_before_anything_runs,
];

/// A Python that can be loaded. A machine without one can't run these tests and reports that; it is no
/// failure of wakepath's.
fn needs_python(test: &str) {
    let place = Place::new(&format!("probe-{test}"));
    std::fs::write(place.path("mine.py"), PYTHON_HOVER).expect("a Python file");
    let output = place.run("{ kind = \"library\", library = \"mine.py\" }");
    let error = error_of(&output);
    let missing = error
        .lines()
        .find(|line| line.contains("no Python: ") || line.contains("has no shared library"));
    if let Some(reason) = missing {
        wakepath_test_program::not_run(reason);
    }
}

const PYTHON_HOVER: &str = "class Controller:\n    def __init__(self, setup):\n        \
    self.speed = setup.hover_speed_rad_s\n    def step(self, now):\n        return [self.speed] * 4\n";

/// A run of this Python file.
fn python(place: &Place, text: &str) -> Output {
    std::fs::write(place.path("mine.py"), text).expect("a Python file");
    place.run("{ kind = \"library\", library = \"mine.py\", trajectory = \"hover\" }")
}

fn the_example_in_python_hovers_and_is_labelled_not_real_time_everywhere() {
    needs_python("hover.py");
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

    let show = |more: &[&str]| {
        let mut show = Command::new(crate::started::binary());
        let run = place.path("run");
        let shown = show.arg("show").arg(run).args(more).output();
        String::from_utf8_lossy(&shown.expect("wakepath runs").stdout).into_owned()
    };
    let short = show(&[]);
    for part in [", not real-time", "hover.py is Python"] {
        assert!(short.contains(part), "{part} in {short}");
    }
    let text = show(&["--details"]);
    for part in [
        "OTHER nice 0 (not real-time)",
        "hover.py is Python",
        "hover.py (Python, not real-time), SHA-256",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!file.with_file_name("__pycache__").exists());
}

fn a_python_controller_that_raises_or_answers_wrongly_ends_the_loop_with_one_line() {
    needs_python("wrong Python");
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

fn modules_that_a_python_controller_times_are_shown_with_their_budgets() {
    needs_python("Python's modules");
    let place = Place::new("python-modules");
    let text = "class Controller:\n    def __init__(self, setup):\n        \
        self.speed = setup.hover_speed_rad_s\n        self.cycle = 0\n        \
        self.inner = setup.module('inner', budget_ns=1)\n        \
        self.outer = setup.module('outer', every=2)\n    def step(self, now):\n        \
        self.cycle += 1\n        for _ in range(2):\n            with self.inner:\n                \
        sum(range(100))\n        if self.cycle % 4 == 0:\n            with self.outer:\n                \
        pass\n        return [self.speed] * 4\n";
    let output = python(&place, text);
    let executed = flown(&output)["executed"].as_u64();
    let result = result(&output);
    let [inner, outer] = [0, 1].map(|number| &result["modules"][number]);
    assert_eq!(
        (&inner["name"], inner["runs"].as_u64()),
        (&"inner".into(), executed)
    );
    // Nothing in Python takes a nanosecond.
    assert_eq!(inner["over_budget"].as_u64(), executed, "{inner:#}");
    assert_eq!(outer["wanted_hz"], 125.0);
    let runs = outer["runs"].as_u64().expect("a count");
    assert!(
        runs.abs_diff(executed.expect("a count") / 4) <= 1,
        "{outer:#}"
    );
    assert!(outer["late"].as_u64() >= Some(runs - 1), "{outer:#}");
    assert!(
        outer.get("over_budget").is_none_or(|over| over == 0),
        "{outer:#}"
    );
}

fn a_python_file_that_is_no_controller_is_refused_before_the_loop() {
    needs_python("no controller");
    for (text, line) in [
        (
            "x = 1\n",
            "mine.py: is not a controller: it defines no class Controller",
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
            "class Controller:\n    def __init__(self, setup): setup.module('')\n    \
             def step(self, now): pass\n",
            "raised ValueError: a module's name has 1 to 64 bytes",
        ),
        (
            "WAKEPATH_CONTROLLER_VERSION = 2\nclass Controller:\n    def step(self): pass\n",
            "was written for version 2 of the controller interface",
        ),
    ] {
        let place = Place::new("no-controller");
        let refused = refusal(&place, &python(&place, text));
        assert!(refused.contains(line), "{refused}");
    }
    let place = Place::new("no-python");
    std::fs::write(place.path("mine.py"), PYTHON_HOVER).expect("a Python file");
    let output =
        place.run("{ kind = \"library\", library = \"mine.py\", python = \"/nowhere/python\" }");
    let line = refusal(&place, &output);
    assert!(
        line.contains("no Python: /nowhere/python: No such file"),
        "{line}"
    );
}

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
