//! Seals generated runs with the publicly known keys of RFC 8032.

use std::path::Path;
use wakepath_directory::content;
use wakepath_evidence::{FileDigest, Predicate, PrivateKey, SEAL_NAME, Statement, message, seal};

/// Time at which generated runs are sealed, by their own clock.
pub const SEALED: &str = "2020-02-29T00:00:00Z";

/// The board's key.
fn key() -> PrivateKey {
    let seed = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../crates/hostile-input/seeds/evidence/board"
    );
    let text = std::fs::read_to_string(seed).expect("a key of the repository");
    PrivateKey::from_openssh(&text).expect("a key")
}

/// The trust file that trusts it for boards of these names.
pub fn trust_file(boards: &str) -> String {
    format!("{boards} {}\n", key().public().line())
}

/// Seals a run's directory as a run of `board`.
///
/// # Panics
/// If it can't be read or written.
pub fn seal_run(directory: &Path, board: &str) {
    let files = content(directory, SEAL_NAME).expect("plain files");
    let file = |file: wakepath_directory::ContentFile| FileDigest {
        name: file.name,
        sha256: file.sha256,
    };
    let predicate = Predicate {
        board: board.to_owned(),
        job: None,
        run: directory
            .file_name()
            .map_or(String::new(), |name| name.to_string_lossy().into_owned()),
        started: "2020-02-28T00:00:00Z".to_owned(),
        sealed: SEALED.to_owned(),
        tool: "wakepath 0.1.0".to_owned(),
    };
    let sealed = message(&Statement::about(
        files.into_iter().map(file).collect(),
        predicate,
    ));
    let key = key();
    let signature = key.sign(&sealed.message());
    let envelope = seal(sealed, &key.public(), signature, None).expect("its own signature");
    std::fs::write(directory.join(SEAL_NAME), envelope.to_bytes()).expect("a disk with room");
}
