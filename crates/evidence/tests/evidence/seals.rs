//! Seals, whole and wrong in every way that has a name.

use super::{private, seed};
use wakepath_evidence::{
    Envelope, FileDigest, Finding, Job, PAYLOAD_TYPE, Predicate, Statement, Trust, Verification,
    disagreements, instant, message, seal, verify,
};

wakepath_test_program::tests![
    a_whole_run_is_verified,
    files_changed_missing_and_added_are_told_apart,
    a_key_that_nobody_named_is_unknown,
    a_statement_altered_after_its_signature_is_a_bad_signature,
    a_run_shown_as_another_boards_is_found,
    a_run_of_another_job_scenario_or_time_is_another_run,
    a_seal_shows_by_itself_that_it_or_a_file_was_changed,
    keys_hold_in_their_time_alone,
    a_clock_that_was_ahead_is_found,
    what_is_no_seal_is_refused;
    write_the_seed,
];

fn file(name: &str, digit: char) -> FileDigest {
    FileDigest {
        name: name.into(),
        sha256: digit.to_string().repeat(64),
    }
}

fn files() -> Vec<FileDigest> {
    vec![file("samples.parquet", '2'), file("manifest.json", '1')]
}

fn job() -> Job {
    Job {
        name: "night-1".into(),
        scenario_sha256: "5".repeat(64),
    }
}

pub fn statement(board: &str, sealed: &str) -> Statement {
    let predicate = Predicate {
        board: board.into(),
        job: Some(job()),
        run: "check-20261124T120000Z".into(),
        started: "2026-11-24T12:00:00Z".into(),
        sealed: sealed.into(),
        tool: "wakepath 0.1.0".into(),
    };
    Statement::about(files(), predicate)
}

const SEALED: &str = "2026-11-24T12:10:00Z";

fn sealed_by(key: &str, statement: &Statement) -> Vec<u8> {
    let key = private(key);
    let sealed = message(statement);
    let signature = key.sign(&sealed.message());
    seal(sealed, &key.public(), signature, None)
        .unwrap()
        .to_bytes()
}

fn trust(options: &str) -> Trust {
    Trust::parse(&format!(
        "pi5-* {options} {}",
        private("board").public().line()
    ))
    .unwrap()
}

fn now() -> u64 {
    instant("2026-11-25T00:00:00Z").unwrap()
}

fn looked_at(envelope: &[u8], files: &[FileDigest]) -> Verification {
    verify(envelope, files, &trust(""), now(), Some("pi5-1")).unwrap()
}

fn names(found: &Verification) -> Vec<&str> {
    found.findings.iter().map(Finding::name).collect()
}

fn a_whole_run_is_verified() {
    let envelope = sealed_by("board", &statement("pi5-1", SEALED));
    let found = looked_at(&envelope, &files());
    assert_eq!(found.findings, []);
    assert_eq!(
        (found.files, found.key),
        (2, Some(private("board").public()))
    );
    assert_eq!(found.predicate.board, "pi5-1");
}

fn files_changed_missing_and_added_are_told_apart() {
    let envelope = sealed_by("board", &statement("pi5-1", SEALED));
    let now = [file("manifest.json", '3'), file("report.html", '4')];
    let found = looked_at(&envelope, &now);
    assert_eq!(
        found.findings,
        [
            Finding::Changed("manifest.json".into()),
            Finding::Added("report.html".into()),
            Finding::Missing("samples.parquet".into()),
        ]
    );
    assert!(!found.is_good());
}

fn a_key_that_nobody_named_is_unknown() {
    let envelope = sealed_by("authority", &statement("pi5-1", SEALED));
    let found = looked_at(&envelope, &files());
    assert_eq!(names(&found), ["unknown-key"]);
    assert_eq!(found.key, None);
    // A hint that names a trusted key makes none of it.
    let mut forged = Envelope::from_bytes(&envelope).unwrap();
    forged.signatures[0].key = private("board").public().fingerprint();
    assert_eq!(
        names(&looked_at(&forged.to_bytes(), &files())),
        ["bad-signature"]
    );
    // An authority's line doesn't trust its own signatures.
    let line = private("authority").public().line();
    let authority = Trust::parse(&format!("pi5-1 cert-authority {line}")).unwrap();
    let found = verify(&envelope, &files(), &authority, now(), None).unwrap();
    assert_eq!(names(&found), ["unknown-key"]);
}

fn a_statement_altered_after_its_signature_is_a_bad_signature() {
    let envelope = Envelope::from_bytes(&sealed_by("board", &statement("pi5-1", SEALED))).unwrap();
    let mut altered = statement("pi5-1", SEALED);
    altered.subject[0].digest.sha256 = "3".repeat(64);
    let mut forged = envelope.clone();
    forged.payload = serde_json::to_vec(&altered).unwrap();
    let files = [file("manifest.json", '3'), file("samples.parquet", '2')];
    assert_eq!(
        names(&looked_at(&forged.to_bytes(), &files)),
        ["bad-signature"]
    );
    // Another's signature in front does not hide a good one.
    let mut both = envelope.clone();
    let strangers = sealed_by("authority", &statement("pi5-1", SEALED));
    both.signatures.insert(
        0,
        Envelope::from_bytes(&strangers).unwrap().signatures[0].clone(),
    );
    assert!(looked_at(&both.to_bytes(), &self::files()).is_good());
}

fn a_run_of_another_job_scenario_or_time_is_another_run() {
    let envelope = sealed_by("board", &statement("pi5-1", SEALED));
    let began = instant("2026-11-24T12:00:03Z").unwrap();
    let found = |job: &Job, since| names_of(looked_at(&envelope, &files()).ordered(job, since));
    assert_eq!(found(&job(), began), [""; 0]);
    let other = Job {
        name: "night-2".into(),
        ..job()
    };
    assert_eq!(found(&other, began), ["another-job"]);
    let other = Job {
        scenario_sha256: "6".repeat(64),
        ..job()
    };
    assert_eq!(found(&other, began), ["another-scenario"]);
    assert_eq!(found(&job(), began + 3600), ["older-run"]);
    let mut of_no_job = statement("pi5-1", SEALED);
    of_no_job.predicate.job = None;
    let envelope = sealed_by("board", &of_no_job);
    let found = looked_at(&envelope, &files()).ordered(&job(), began);
    assert_eq!(names_of(found), ["another-job"]);
}

fn names_of(found: Verification) -> Vec<&'static str> {
    found.findings.iter().map(Finding::name).collect()
}

fn a_seal_shows_by_itself_that_it_or_a_file_was_changed() {
    let envelope = sealed_by("board", &statement("pi5-1", SEALED));
    let found = |envelope: &[u8], files: &[FileDigest]| {
        let found = disagreements(envelope, files).unwrap();
        found.iter().map(Finding::name).collect::<Vec<_>>()
    };
    assert_eq!(found(&envelope, &files()), [""; 0]);
    let changed = [file("manifest.json", '3'), file("samples.parquet", '2')];
    assert_eq!(found(&envelope, &changed), ["changed-file"]);
    // The list altered to fit: no signature does, nor one whose key was taken out.
    let mut altered = statement("pi5-1", SEALED);
    altered.subject[0].digest.sha256 = "3".repeat(64);
    let mut forged = Envelope::from_bytes(&envelope).unwrap();
    forged.payload = serde_json::to_vec(&altered).unwrap();
    assert_eq!(found(&forged.to_bytes(), &changed), ["bad-signature"]);
    forged.signatures[0].public = None;
    assert_eq!(found(&forged.to_bytes(), &changed), ["bad-signature"]);
}

fn a_run_shown_as_another_boards_is_found() {
    let envelope = sealed_by("board", &statement("pi5-2", SEALED));
    assert_eq!(names(&looked_at(&envelope, &files())), ["another-board"]);
    let found = verify(&envelope, &files(), &trust(""), now(), None).unwrap();
    assert!(
        found.is_good(),
        "its own name, and the key is trusted for it"
    );
    let foreign = sealed_by("board", &statement("jetson", SEALED));
    let found = verify(&foreign, &files(), &trust(""), now(), None).unwrap();
    assert_eq!(names(&found), ["key-of-another-board"]);
}

fn keys_hold_in_their_time_alone() {
    let envelope = sealed_by("board", &statement("pi5-1", SEALED));
    let at = |options: &str| {
        let found = verify(&envelope, &files(), &trust(options), now(), None).unwrap();
        found.findings
    };
    assert_eq!(
        at("valid-after=\"20261124Z\",valid-before=\"20261126Z\""),
        []
    );
    let ended = at("valid-before=\"20261125Z\"");
    assert!(
        matches!(
            ended[..],
            [Finding::Expired {
                before_sealing: false,
                ..
            }]
        ),
        "{ended:?}"
    );
    assert!(
        ended[0].to_string().contains("ended 2026-11-25T00:00:00Z"),
        "{}",
        ended[0]
    );
    let ended = at("valid-before=\"20261124Z\"");
    assert!(
        matches!(
            ended[..],
            [Finding::Expired {
                before_sealing: true,
                ..
            }]
        ),
        "{ended:?}"
    );
    let early = at("valid-after=\"202611241230Z\"");
    assert!(matches!(early[..], [Finding::NotYet { .. }]), "{early:?}");
    // A later line for the same key is enough.
    let line = private("board").public().line();
    let two = format!("pi5-1 valid-before=\"20200101Z\" {line}\npi5-1 {line}");
    let two = Trust::parse(&two).unwrap();
    assert!(
        verify(&envelope, &files(), &two, now(), None)
            .unwrap()
            .is_good()
    );
}

fn a_clock_that_was_ahead_is_found() {
    for sealed in ["2026-11-26T00:00:00Z", "yesterday", "1960-01-01T00:00:00Z"] {
        let envelope = sealed_by("board", &statement("pi5-1", sealed));
        assert_eq!(
            names(&looked_at(&envelope, &files())),
            ["sealing-time"],
            "{sealed}"
        );
    }
}

fn what_is_no_seal_is_refused() {
    let refused = |bytes: &[u8]| {
        verify(bytes, &[], &trust(""), now(), None)
            .unwrap_err()
            .to_string()
    };
    for bytes in [
        &b""[..],
        b"{}",
        b"[]",
        b"{\"payloadType\":\"\",\"payload\":\"\",\"signatures\":[]}",
    ] {
        assert!(
            refused(bytes).starts_with("no DSSE envelope"),
            "{}",
            refused(bytes)
        );
    }
    let mut envelope =
        Envelope::from_bytes(&sealed_by("board", &statement("pi5-1", SEALED))).unwrap();
    let good = envelope.payload.clone();
    envelope.payload_type = "text/plain".into();
    assert!(refused(&envelope.to_bytes()).contains("not application/vnd.in-toto+json"));
    envelope.payload_type = PAYLOAD_TYPE.into();
    let text = String::from_utf8(good).unwrap();
    for (from, to) in [
        ("in-toto.io/Statement/v1", "in-toto.io/Statement/v2"),
        ("wakepath/run/v1", "wakepath/run/v2"),
        ("samples.parquet", "manifest.json"),
        ("1111", "1"),
    ] {
        assert!(text.contains(from), "{from}");
        envelope.payload = text.replace(from, to).into_bytes();
        assert!(
            refused(&envelope.to_bytes()).contains("not an in-toto statement"),
            "{from}"
        );
    }
}

fn write_the_seed() {
    let seeds = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../hostile-input/seeds/evidence"
    );
    let key = private("board");
    let sealed = message(&statement("pi5-1", SEALED));
    let signature = key.sign(&sealed.message());
    let certificate = seed("board-cert.pub");
    let envelope = seal(sealed, &key.public(), signature, Some(&certificate)).unwrap();
    std::fs::write(format!("{seeds}/seal.dsse.json"), envelope.to_bytes()).unwrap();
}
