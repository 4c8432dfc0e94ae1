//! Seals by a key that an authority vouches for, with a certificate of `ssh-keygen -s`.

use super::seals::statement;
use super::{private, seed};
use base64::Engine;
use wakepath_evidence::{
    Certificate, CertificateError, FileDigest, Finding, Trust, instant, message, seal, verify,
};

wakepath_test_program::tests![
    a_certificate_says_what_ssh_keygen_put_into_it,
    a_certified_key_seals_for_the_boards_it_names_in_its_time,
    a_certificate_of_which_a_byte_was_changed_is_refused,
    a_seal_takes_no_certificate_of_another_key,
];

fn a_certificate_says_what_ssh_keygen_put_into_it() {
    let certificate = Certificate::from_line(&seed("board-cert.pub")).unwrap();
    assert_eq!(certificate.key, private("board").public());
    assert_eq!(certificate.authority, private("authority").public());
    assert_eq!(certificate.principals, ["pi5-1", "pi5-2"]);
    assert_eq!(certificate.from, instant("20260101Z").unwrap());
    assert_eq!(certificate.until, instant("20270101Z").unwrap());
    assert_eq!(
        Certificate::from_line(&seed("board.pub")),
        Err(CertificateError::Form)
    );
}

fn found(board: &str, now: &str, authority: &str) -> Vec<Finding> {
    let key = private("board");
    let statement = statement(board, "2026-11-24T12:10:00Z");
    let sealed = message(&statement);
    let signature = key.sign(&sealed.message());
    let certificate = seed("board-cert.pub");
    let envelope = seal(sealed, &key.public(), signature, Some(&certificate)).unwrap();
    let line = private(authority).public().line();
    let trust = Trust::parse(&format!("* cert-authority {line}")).unwrap();
    let files: Vec<_> = statement
        .subject
        .iter()
        .map(|subject| FileDigest {
            name: subject.name.clone(),
            sha256: subject.digest.sha256.clone(),
        })
        .collect();
    verify(
        &envelope.to_bytes(),
        &files,
        &trust,
        instant(now).unwrap(),
        None,
    )
    .unwrap()
    .findings
}

fn a_certified_key_seals_for_the_boards_it_names_in_its_time() {
    assert_eq!(found("pi5-1", "20261125Z", "authority"), []);
    let other = found("jetson", "20261125Z", "authority");
    assert!(
        matches!(&other[..], [Finding::KeyOfOtherBoard { trusted, .. }] if trusted == "pi5-1, pi5-2")
    );
    let ended = found("pi5-1", "20270102Z", "authority");
    assert!(
        matches!(
            ended[..],
            [Finding::Expired {
                what: "certificate",
                ..
            }]
        ),
        "{ended:?}"
    );
    let unknown = found("pi5-1", "20261125Z", "board");
    assert!(
        matches!(unknown[..], [Finding::UnknownKey { .. }]),
        "{unknown:?}"
    );
}

fn a_certificate_of_which_a_byte_was_changed_is_refused() {
    let line = seed("board-cert.pub");
    let mut words = line.split(' ');
    let (kind, encoded) = (words.next().unwrap(), words.next().unwrap());
    let engine = base64::engine::general_purpose::STANDARD;
    let blob = engine.decode(encoded).unwrap();
    for place in 0..blob.len() {
        let mut changed = blob.clone();
        changed[place] ^= 1;
        let line = format!("{kind} {}", engine.encode(changed));
        assert!(Certificate::from_line(&line).is_err(), "byte {place}");
    }
}

fn a_seal_takes_no_certificate_of_another_key() {
    let key = private("authority");
    let sealed = message(&statement("pi5-1", "2026-11-24T12:10:00Z"));
    let signature = key.sign(&sealed.message());
    assert_eq!(
        seal(
            sealed,
            &key.public(),
            signature,
            Some(&seed("board-cert.pub"))
        ),
        None
    );
}
