//! Capabilities end where code of others begins: what `exec`, a load and a controller get of those
//! that wakepath was given, by its file or by a unit.

use crate::started::{Place, Start, is_root, loop_cpu, not_run};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

wakepath_test_program::tests![
    a_program_that_exec_starts_has_the_policy_and_no_capability,
    loads_have_no_capability_and_a_controller_the_one_that_locks_its_memory,
    a_watch_that_recorded_nothing_says_why_and_leaves_no_directory,
];

const NOBODY: u32 = 65_534;
const NONE: &str = "0000000000000000";
/// CAP_IPC_LOCK alone: a controller's memory is locked with the loop's.
const IPC_LOCK: &str = "0000000000004000";

/// How wakepath comes by CAP_SYS_NICE and CAP_IPC_LOCK.
#[derive(Debug, Clone, Copy)]
enum Granted {
    /// `setcap cap_sys_nice,cap_ipc_lock+ep wakepath`.
    ByItsFile,
    /// A unit's `AmbientCapabilities`.
    ByItsStarter,
}

/// The one that is available nearly everywhere comes first, so that it is tried even if the second is
/// unavailable.
const EACH: [Granted; 2] = [Granted::ByItsStarter, Granted::ByItsFile];

const HOST: &str = "wakepath-controller-host";

/// Runs wakepath as nobody, with the two capabilities.
fn as_nobody(granted: Granted, place: &Place, arguments: &[&str]) -> Output {
    let copy = place.path().join("wakepath");
    std::fs::copy(crate::started::binary(), &copy).unwrap();
    let mut programs = vec![copy.clone()];
    // If static, it has its host load a library; the host is installed next to it with the same rights.
    let directories = std::env::var_os("PATH").unwrap_or_default();
    let host = std::env::split_paths(&directories).map(|place| place.join(HOST));
    if let Some(host) = host.into_iter().find(|host| host.is_file()) {
        programs.push(place.path().join(HOST));
        std::fs::copy(host, &programs[1]).unwrap();
    }
    chown(place.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let both = "+sys_nice,+ipc_lock";
    let (tool, words) = match granted {
        Granted::ByItsFile => ("setpriv", vec![]),
        Granted::ByItsStarter => (
            "setpriv",
            vec![
                format!("--inh-caps={both}"),
                format!("--ambient-caps={both}"),
            ],
        ),
    };
    if let Granted::ByItsFile = granted {
        let set = Command::new("setcap")
            .args(programs.iter().flat_map(|program| {
                let capabilities = Path::new("cap_sys_nice,cap_ipc_lock+ep");
                [capabilities, program.as_path()]
            }))
            .status();
        if !set.is_ok_and(|status| status.success()) {
            not_run(
                "a program with capabilities of its own",
                "setcap does not work here",
            );
        }
    }
    let started = Command::new(tool)
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .args(words)
        .arg(&copy)
        .args(arguments)
        .current_dir(place.path())
        .output();
    match started {
        Ok(output) => output,
        Err(error) => not_run("a user with capabilities", &format!("{tool}: {error}")),
    }
}

/// The sets in a copy of `/proc/self/status`, by their names.
fn sets(status: &str) -> Vec<(&str, &str)> {
    let of = |name| {
        let mut lines = status.lines();
        let value = lines
            .find_map(|line| line.strip_prefix(name))
            .unwrap_or("?");
        (name, value.trim())
    };
    ["CapEff:", "CapPrm:", "CapInh:", "CapAmb:"]
        .map(of)
        .to_vec()
}

fn holding(held: &str) -> Vec<(&str, &str)> {
    let (kept, inherited) = (held, NONE);
    vec![
        ("CapEff:", kept),
        ("CapPrm:", kept),
        ("CapInh:", inherited),
        ("CapAmb:", inherited),
    ]
}

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn a_program_that_exec_starts_has_the_policy_and_no_capability() {
    if !is_root() {
        not_run("capabilities of a started program", "it needs root");
    }
    for granted in EACH {
        let place = Place::new();
        let arguments = [
            "exec",
            "--quiet",
            "--policy",
            "FIFO 10",
            "--",
            "sh",
            "-c",
            "cat /proc/self/status; cut -d' ' -f40,41 /proc/self/stat",
        ];
        let output = as_nobody(granted, &place, &arguments);
        let said = said(&output);
        assert_eq!(sets(&said), holding(NONE), "{granted:?}: {said}");
        assert!(said.ends_with("\n10 1\n"), "FIFO 10 is in effect: {said}");
    }
}

/// Keeps `/proc/thread-self/status` at the time when the library is loaded and when it works.
const CONTROLLER: &str = r#"
#include "wakepath_controller.h"
#include <stdio.h>
#include <stdlib.h>
static void keep(const char *name) {
    FILE *in = fopen("/proc/thread-self/status", "r"), *out = fopen(name, "w");
    int c;
    while (in && out && (c = getc(in)) != EOF) putc(c, out);
    if (in) fclose(in);
    if (out) fclose(out);
}
__attribute__((constructor)) static void loaded(void) { keep("loaded"); }
uint32_t wakepath_controller_version(void) { return WAKEPATH_CONTROLLER_VERSION; }
void *wakepath_controller_init(const wakepath_controller_setup *setup) {
    double *speed = malloc(sizeof *speed);
    *speed = setup->hover_speed_rad_s;
    return speed;
}
void wakepath_controller_free(void *controller) { free(controller); }
int32_t wakepath_controller_step(void *controller, const wakepath_controller_input *in,
                                 wakepath_controller_output *out) {
    static int calls;
    (void)in;
    if (calls++ == 20) keep("stepped");
    for (int n = 0; n < 4; n++) out->rotor_speed_rad_s[n] = *(double *)controller;
    return 0;
}
"#;

fn built(place: &Path) -> PathBuf {
    let (source, library) = (place.join("keep.c"), place.join("libkeep.so"));
    std::fs::write(&source, CONTROLLER).unwrap();
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../measured-loop/include");
    let built = Command::new("cc")
        .args(["-fPIC", "-shared", "-I", include, "-o"])
        .args([&library, &source])
        .status();
    match built {
        Ok(status) => {
            assert!(status.success());
            library
        }
        Err(error) => not_run("capabilities of a controller", &format!("cc: {error}")),
    }
}

fn loads_have_no_capability_and_a_controller_the_one_that_locks_its_memory() {
    if !is_root() {
        not_run("capabilities of loads and controllers", "it needs root");
    }
    for granted in EACH {
        let place = Place::new();
        let library = built(place.path());
        let load = place.path().join("load");
        std::fs::write(
            &load,
            "#!/bin/sh\ncat /proc/self/status > loaded-with\nwhile :; do :; done\n",
        )
        .unwrap();
        std::fs::set_permissions(&load, std::fs::Permissions::from_mode(0o755)).unwrap();
        let scenario = format!(
            "name = \"rights\"\nrate = \"250 Hz\"\nduration = \"2 s\"\nwarm-up = \"100 ms\"\n\
             policies = [\"FIFO 10\"]\ncpu = {}\n\
             work = {{ kind = \"library\", library = \"{}\", trajectory = \"hover\" }}\n\
             phases = [{{ name = \"phase\", loads = [{{ kind = \"command\", command = [\"{}\"] }}, \"cpu\"] }}]\n\
             criterion = {{ miss-fraction = \"99.9999 %\" }}\n",
            loop_cpu(),
            library.display(),
            load.display(),
        );
        std::fs::write(place.path().join("scenario.toml"), scenario).unwrap();
        let arguments = ["run", "scenario.toml", "--directory", "run"];
        let output = as_nobody(granted, &place, &arguments);
        let said = said(&output);
        let kept = |name| std::fs::read_to_string(place.path().join(name)).unwrap_or_default();
        assert!(said.contains("FIFO 10"), "{granted:?}: {said}");
        for name in ["loaded", "stepped"] {
            assert_eq!(
                sets(&kept(name)),
                holding(IPC_LOCK),
                "{granted:?}, {name}: {said}"
            );
        }
        assert_eq!(
            sets(&kept("loaded-with")),
            holding(NONE),
            "{granted:?}: {said}"
        );
        let run = wakepath_archive::Run::open(&place.path().join("run")).unwrap();
        let thread = &run.manifest.segments[0].threads[0];
        assert_eq!(thread.effective.text, "FIFO 10", "{said}");
        assert!(thread.recorded > 400, "{said}");
    }
}

fn a_watch_that_recorded_nothing_says_why_and_leaves_no_directory() {
    if !is_root() {
        not_run("a watch as nobody", "only root can start it");
    }
    for target in [&["-p", "1"][..], &["--", "/bin/true"]] {
        let arguments = [&["watch", "--for", "1s"], target].concat();
        let finished = Start::command_in(Place::new(), &arguments);
        let finished = finished.by_user(NOBODY).finish();
        finished.assert_refused(1, &["can't watch", "run as root"]);
        assert!(!finished.place.path().join("wakepath-runs").exists());
    }
    // With the right to trace, but of a program that does nothing.
    let mut idle = Command::new("sleep").arg("60").spawn().unwrap();
    let arguments = ["watch", "--for", "1s", "-p", &idle.id().to_string()];
    let finished = Start::command_in(Place::new(), &arguments).finish();
    idle.kill().unwrap();
    idle.wait().unwrap();
    finished.assert_code(3);
    assert!(!finished.place.path().join("wakepath-runs").exists());
}
