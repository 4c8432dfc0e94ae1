//! A run sealed and looked at again by hand, as the guide says it.

use crate::started::{Finished, Place, Start, binary};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    a_sealed_run_is_verified_until_something_of_it_changes,
    a_broken_seal_is_shown_by_every_verb_that_shows_the_run,
    a_seal_names_the_job_that_the_run_was_ordered_for,
    what_can_not_be_sealed_is_one_line_and_nothing_is_written,
    an_agent_seals_for_a_protected_key,
    an_agent_seals_for_a_key_that_only_it_signs_with,
    an_agent_seals_by_the_library_of_a_token,
];

/// A run, a key of ssh-keygen's, and a file that trusts it.
fn prepared(place: &Place, kind: &str, phrase: &str) -> PathBuf {
    let run = place.path().join("run");
    fs::create_dir(&run).unwrap();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/format-1");
    for name in ["manifest.json", "samples.parquet"] {
        fs::copy(format!("{fixture}/{name}"), run.join(name)).unwrap();
    }
    let mut made = Command::new("ssh-keygen");
    made.args(["-q", "-t", kind, "-N", phrase, "-f", "key"])
        .current_dir(place.path());
    match made.status() {
        Ok(status) => assert!(status.success()),
        Err(error) => not_run(format!("ssh-keygen: {error}")),
    }
    let public = fs::read_to_string(place.path().join("key.pub")).unwrap();
    fs::write(place.path().join("trust"), format!("pi5-1 {public}")).unwrap();
    run
}

fn seal(place: &Place, run: &Path) -> Finished {
    Start::command(&["seal", "--board", "pi5-1", "--key"])
        .with(&[&place.path().join("key"), run])
        .finish()
}

fn verify(place: &Place, run: &Path, more: &[&str]) -> Finished {
    Start::command(&[&["verify"], more, &["--trust"]].concat())
        .with(&[&place.path().join("trust"), run])
        .finish()
}

fn a_sealed_run_is_verified_until_something_of_it_changes() {
    let place = Place::new();
    let run = prepared(&place, "ed25519", "");
    seal(&place, &run).assert_code(0);
    let good = verify(&place, &run, &["--board", "pi5-1"]);
    good.assert_code(0);
    assert!(
        good.output.contains("VERIFIED: ") && good.output.contains("2 files as sealed"),
        "{}",
        good.output
    );
    assert!(
        good.output.contains("not proven by a seal:"),
        "{}",
        good.output
    );
    // A run that is sealed is shown as before.
    let shown = Start::command(&["show"]).with(&[&run]).finish();
    assert_ne!(shown.code(), Some(1), "{}", shown.said());

    let moved = verify(&place, &run, &["--board", "pi5-2", "--json"]);
    moved.assert_code(2);
    assert_eq!(moved.json()["findings"][0]["finding"], "another-board");

    fs::write(run.join("report.html"), "late").unwrap();
    let mut manifest = fs::read(run.join("manifest.json")).unwrap();
    manifest.push(b'\n');
    fs::write(run.join("manifest.json"), manifest).unwrap();
    fs::remove_file(run.join("samples.parquet")).unwrap();
    let found = verify(&place, &run, &[]);
    found.assert_code(2);
    for line in [
        "changed: manifest.json",
        "added: report.html",
        "missing: samples.parquet",
        "NOT VERIFIED",
    ] {
        assert!(found.output.contains(line), "{line}: {}", found.output);
    }
}

fn a_broken_seal_is_shown_by_every_verb_that_shows_the_run() {
    let place = Place::new();
    let run = prepared(&place, "ed25519", "");
    seal(&place, &run).assert_code(0);
    // A file more would break it.
    let report = Start::command(&["report"]).with(&[&run]).finish();
    report.assert_refused(1, &["is sealed", "--output"]);
    verify(&place, &run, &[]).assert_code(0);
    fs::write(run.join("answer.json"), "{}").unwrap();
    for words in [
        &["show"][..],
        &["show", "--json"],
        &["show", "--details"],
        &["report", "--output", "page.html"],
        &["explain"],
        &["export", "--format", "csv"],
        &["export", "--format", "json"],
        &["bound"],
        &["fly"],
        &["tiers"],
        &["doctor", "--against"],
    ] {
        let shown = Start::command(words).with(&[&run]).finish();
        assert_eq!(shown.code(), Some(1), "{words:?}: {}", shown.said());
        for part in ["its seal is broken", "added: answer.json"] {
            assert!(
                shown.complaints.contains(part),
                "{words:?}: {}",
                shown.said()
            );
        }
        assert!(!shown.output.contains("PASSED"), "{}", shown.said());
    }
    let compared = Start::command(&["compare"]).with(&[&run, &run]).finish();
    assert!(
        compared.complaints.contains("its seal is broken"),
        "{}",
        compared.said()
    );
    let listed = Start::command_in(place, &["runs"]).finish();
    assert!(listed.output.contains("seal broken"), "{}", listed.said());
}

fn a_seal_names_the_job_that_the_run_was_ordered_for() {
    let place = Place::new();
    let run = prepared(&place, "ed25519", "");
    let words = ["seal", "--board", "pi5-1", "--job", "night-1", "--key"];
    let with = |digest: &str| {
        Start::command(&words)
            .with(&[&place.path().join("key"), &run])
            .with(&["--scenario-sha256", digest])
            .finish()
    };
    with("5").assert_refused(1, &["a digest has 64 digits"]);
    let digest = "5".repeat(64);
    with(&digest).assert_code(0);
    let seal = fs::read_to_string(run.join("seal.dsse.json")).unwrap();
    let found = wakepath_evidence::Envelope::from_bytes(seal.as_bytes()).unwrap();
    let statement = String::from_utf8(found.payload).unwrap();
    let job = format!(r#""job":{{"name":"night-1","scenarioSha256":"{digest}"}}"#);
    assert!(statement.contains(&job), "{statement}");
    verify(&place, &run, &[]).assert_code(0);
}

fn what_can_not_be_sealed_is_one_line_and_nothing_is_written() {
    let place = Place::new();
    let run = prepared(&place, "ed25519", "");
    let refused = |finished: Finished, why: &str| {
        finished.assert_refused(1, &[why]);
    };
    refused(verify(&place, &run, &[]), "this run is not sealed");
    let bad = Start::command(&["seal", "--board", "a b", "--key"])
        .with(&[&place.path().join("key"), &run]);
    refused(bad.finish(), "a board's name has letters");
    std::os::unix::fs::symlink("manifest.json", run.join("link")).unwrap();
    refused(seal(&place, &run), "it is a link");
    fs::remove_file(run.join("link")).unwrap();
    let samples = run.join("samples.parquet");
    let whole = fs::read(&samples).unwrap();
    fs::write(&samples, &whole[..whole.len() - 1]).unwrap();
    refused(seal(&place, &run), "samples.parquet");
    assert!(!run.join("seal.dsse.json").exists());
    fs::write(&samples, whole).unwrap();
    fs::create_dir_all(run.join("figures/old")).unwrap();
    refused(seal(&place, &run), "figures/old/: holds nothing");
    fs::remove_dir_all(run.join("figures")).unwrap();
    seal(&place, &run).assert_code(0);
    verify(&place, &run, &[]).assert_code(0);
    fs::create_dir(run.join("added")).unwrap();
    let added = verify(&place, &run, &[]);
    added.assert_code(2);
    assert!(added.output.contains("added/"), "{}", added.said());
    fs::remove_dir(run.join("added")).unwrap();
    refused(seal(&place, &run), "sealed already");
    fs::write(place.path().join("trust"), "pi5-1 hello\n").unwrap();
    refused(verify(&place, &run, &[]), "trust: line 1: ");
    fs::write(run.join("seal.dsse.json"), "{}").unwrap();
    fs::write(
        place.path().join("trust"),
        fs::read(place.path().join("key.pub")).unwrap(),
    )
    .unwrap();
    let public = fs::read_to_string(place.path().join("key.pub")).unwrap();
    fs::write(place.path().join("trust"), format!("* {public}")).unwrap();
    refused(verify(&place, &run, &[]), "no DSSE envelope");
}

fn an_agent_seals_for_a_protected_key() {
    let place = Place::new();
    let run = prepared(&place, "ed25519", "a phrase");
    let refused = seal(&place, &run);
    refused.assert_refused(1, &["protected by a passphrase"]);
    by_agent(&place, "ssh-add -q key", &[]);
    verify(&place, &run, &[]).assert_code(0);
}

fn an_agent_seals_for_a_key_that_only_it_signs_with() {
    let place = Place::new();
    let run = prepared(&place, "ecdsa", "");
    seal(&place, &run).assert_refused(1, &["signs through ssh-agent alone"]);
    by_agent(&place, "ssh-add -q key", &[]);
    verify(&place, &run, &[]).assert_code(0);
    fs::write(run.join("report.html"), "late").unwrap();
    verify(&place, &run, &[]).assert_code(2);
}

/// A TPM's key, and a token's, is reached by a library of PKCS#11. SoftHSM has one without a device.
fn an_agent_seals_by_the_library_of_a_token() {
    let place = Place::new();
    let run = prepared(&place, "ed25519", "");
    let found = |paths: &[&str]| paths.iter().map(PathBuf::from).find(|path| path.is_file());
    let library = found(&[
        "/usr/lib/softhsm/libsofthsm2.so",
        "/usr/lib64/pkcs11/libsofthsm2.so",
    ]);
    let tools = ["/usr/bin/softhsm2-util", "/usr/bin/openssl"].map(|tool| found(&[tool]));
    let (Some(library), [Some(_), Some(_)]) = (library, tools) else {
        not_run("softhsm2: not installed");
    };
    let library = library.display();
    let prepare = "mkdir tokens && echo \"directories.tokendir = $PWD/tokens\" > softhsm2.conf && \
         softhsm2-util --init-token --free --label board --pin 1234 --so-pin 1234 >&2 && \
         openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out token.pem 2>&1 && \
         softhsm2-util --import token.pem --token board --label board --id 01 --pin 1234 >&2 && rm token.pem";
    let add = format!(
        "{prepare} && ssh-add -q -s {library} >&2 && ssh-add -L > key.pub && \
         printf 'pi5-1 %s\\n' \"$(cut -d' ' -f1,2 key.pub)\" > trust"
    );
    let configuration = place.path().join("softhsm2.conf");
    by_agent(&place, &add, &[("SOFTHSM2_CONF", &configuration)]);
    verify(&place, &run, &[]).assert_code(0);
}

/// Has an agent that was given a key seal the run by its public half.
fn by_agent(place: &Place, add: &str, environment: &[(&str, &Path)]) {
    let program = binary();
    let program = program.display();
    // The agent ends with the command that it is started for.
    let ask = place.path().join("ask");
    fs::write(&ask, "#!/bin/sh\ncat secret\n").unwrap();
    let pin = environment.iter().any(|(name, _)| *name == "SOFTHSM2_CONF");
    let secret = if pin { "1234\n" } else { "a phrase\n" };
    fs::write(place.path().join("secret"), secret).unwrap();
    let line =
        format!("chmod 700 ask && {add} && exec {program} seal run --key key.pub --board pi5-1");
    let mut agent = Command::new("ssh-agent");
    // Libraries elsewhere than where Debian looks are allowed by name.
    agent.args(["-P", "/usr/lib/*,/usr/lib64/*,/usr/local/lib/*"]);
    agent.args(["sh", "-c", &line]).current_dir(place.path());
    agent
        .envs(environment.iter().copied())
        .env("SSH_ASKPASS", &ask)
        .env("SSH_ASKPASS_REQUIRE", "force");
    let output = match agent.output() {
        Ok(output) => output,
        Err(error) => not_run(format!("ssh-agent: {error}")),
    };
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
