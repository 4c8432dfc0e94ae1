//! Keys, trust files and seals, compared with RFC 8032, OpenSSH and openssl.

mod certificates;
mod keys;
mod other_programs;
mod seals;
mod trust_files;

wakepath_test_program::program!(
    certificates::TESTS,
    keys::TESTS,
    other_programs::TESTS,
    seals::TESTS,
    trust_files::TESTS,
);

/// The keys stored with the seeds of the hostile input: RFC 8032's own.
fn seed(name: &str) -> String {
    let seeds = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../hostile-input/seeds/evidence"
    );
    std::fs::read_to_string(format!("{seeds}/{name}")).expect("a seed")
}

fn private(name: &str) -> wakepath_evidence::PrivateKey {
    wakepath_evidence::PrivateKey::from_openssh(&seed(name)).expect("a key")
}
