//! The built-in experiments, as scenario files.

/// A built-in scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Builtin {
    /// Its name, the same as in the file.
    pub name: &'static str,
    /// The file's text.
    pub text: &'static str,
}

macro_rules! builtins {
    ($($name:literal),+ $(,)?) => {
        &[$(Builtin {
            name: $name,
            text: include_str!(concat!("../scenarios/", $name, ".toml")),
        }),+]
    };
}

static ALL: &[Builtin] = builtins![
    "check",
    "quick",
    "pi5-250hz",
    "jetson-1khz",
    "aura-100hz",
    "beaglepilot",
    "litmus-16core",
    "contention",
    "cache-delay",
    "copter-tasks",
    "aura-logging",
];

/// All built-in scenarios, in the order in which they are listed.
pub fn all() -> &'static [Builtin] {
    ALL
}

/// Suggestion for an unknown name: the similar one, if there is one, else all of them.
pub fn instead_of(name: &str) -> String {
    let names: Vec<&str> = ALL.iter().map(|builtin| builtin.name).collect();
    match crate::keys::near(name, &names) {
        Some(meant) => meant,
        None => format!("there are {}", names.join(", ")),
    }
}

/// The built-in scenario of that name.
pub fn named(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.name == name)
}
