//! Trust files, right and wrong.

use super::seed;
use wakepath_evidence::{PublicKey, Trust};

wakepath_test_program::tests![
    lines_say_which_boards_which_key_and_when,
    a_wrong_line_is_named_with_what_would_be_right,
    patterns_fit_as_ssh_keygen_has_them,
];

fn key() -> PublicKey {
    PublicKey::from_line(&seed("board.pub")).unwrap()
}

fn lines_say_which_boards_which_key_and_when() {
    let trust = Trust::parse(&seed("trust")).unwrap();
    // The line with an RSA key can't be about a seal.
    assert_eq!(trust.trusted.len(), 2);
    let first = &trust.trusted[0];
    assert_eq!((first.key, first.is_authority), (key(), false));
    // date -u -d 2026-01-01 +%s; date -u -d 2027-01-01 +%s
    assert_eq!(
        (first.from, first.until),
        (Some(1_767_225_600), Some(1_798_761_600))
    );
    assert!(first.is_for("pi5-1") && !first.is_for("pi5-9") && !first.is_for("jetson"));
    let second = &trust.trusted[1];
    assert_eq!(
        (second.is_authority, second.boards.as_slice()),
        (true, &["rack 3".to_owned()][..])
    );
}

fn a_wrong_line_is_named_with_what_would_be_right() {
    let key = key().line();
    let cases = [
        (
            format!("# one\na {key}\nb ssh-ed25519 AAAA"),
            "line 3: a damaged key",
        ),
        ("a".to_owned(), "line 1: "),
        (
            "a hello there".to_owned(),
            "neither a kind of key nor an option",
        ),
        (
            format!("a valid-after=20260101Z {key}"),
            "put the value in quotation marks",
        ),
        (
            format!("a valid-after=\"20260101\" {key}"),
            "a Z at its end is missing",
        ),
        (format!("a valid-before=\"never\" {key}"), "no time"),
        (
            format!("a namespaces=\"x {key}"),
            "a quotation mark that is not closed",
        ),
        (
            format!("a valid-after=\"20260102Z\",valid-before=\"20260101Z\" {key}"),
            "not before",
        ),
        (
            format!("a valid-before=\"20260101Z\",Valid-Before=\"20300101Z\" {key}"),
            "twice; give it once",
        ),
        (
            format!("a namespaces=\"git\" {key}"),
            "names no key of Ed25519",
        ),
        (String::new(), "line 1: the file names no key of Ed25519"),
    ];
    for (text, expected) in cases {
        let said = Trust::parse(&text).unwrap_err().to_string();
        assert!(said.contains(expected), "{text}: {said}");
        assert!(!said.contains('\n'), "{said}");
    }
}

fn patterns_fit_as_ssh_keygen_has_them() {
    let is_for = |boards: &str, board: &str| {
        Trust::parse(&format!("{boards} {}", key().line()))
            .unwrap()
            .trusted[0]
            .is_for(board)
    };
    assert!(is_for("*", "anything") && is_for("a,b", "b") && is_for("pi?-1", "pi5-1"));
    assert!(is_for("a*b*c", "aXbYc") && is_for("**", "") && is_for("a*", "a"));
    assert!(!is_for("a*b", "a") && !is_for("pi?", "pi") && !is_for("A", "a"));
    assert!(!is_for("!b,*", "b") && !is_for("*,!b", "b") && !is_for("!b", "a"));
    // A pattern that would take forever, were it tried in every way.
    assert!(!is_for(&("a*".repeat(40) + "c"), &"a".repeat(60)));
}
