//! Other programs: keys made by ssh-keygen, and signatures checked and made by openssl.

use super::seals::statement;
use std::path::Path;
use std::process::{Command, Output};
use wakepath_evidence::{Certificate, KeyError, PrivateKey, PublicKey, message, seal};
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    a_key_of_ssh_keygen_seals_and_openssl_verifies_it,
    a_signature_of_openssl_seals,
    an_ecdsa_signature_of_openssl_seals,
    certificates_of_ecdsa_keys_are_those_of_ssh_keygen,
    a_protected_key_and_an_rsa_key_are_called_so,
];

fn output(program: &str, arguments: &[&str], directory: &Path) -> Output {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .output();
    match output {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            not_run(format!("{program}: not installed"))
        }
        output => output.expect("a program"),
    }
}

fn made(program: &str, arguments: &[&str], directory: &Path) -> String {
    let output = output(program, arguments, directory);
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn a_key_of_ssh_keygen_seals_and_openssl_verifies_it() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    made(
        "ssh-keygen",
        &[
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-C",
            "a comment",
            "-f",
            "key",
        ],
        place,
    );
    let key =
        PrivateKey::from_openssh(&std::fs::read_to_string(place.join("key")).unwrap()).unwrap();
    let public = std::fs::read_to_string(place.join("key.pub")).unwrap();
    assert_eq!(PublicKey::from_line(&public).unwrap(), key.public());
    let listed = made("ssh-keygen", &["-l", "-f", "key.pub"], place);
    assert!(listed.contains(&key.public().fingerprint()), "{listed}");

    let sealed = message(&statement("pi5-1", "2026-11-24T12:10:00Z"));
    let text = sealed.message();
    let envelope = seal(sealed, &key.public(), key.sign(&text), None).unwrap();
    std::fs::write(place.join("pem"), key.public().pem()).unwrap();
    std::fs::write(place.join("message"), envelope.message()).unwrap();
    std::fs::write(place.join("signature"), &envelope.signatures[0].bytes).unwrap();
    let check = "pkeyutl -verify -pubin -inkey pem -rawin -in message -sigfile signature";
    let check: Vec<&str> = check.split(' ').collect();
    let said = made("openssl", &check, place);
    assert!(said.contains("Signature Verified Successfully"), "{said}");
    std::fs::write(
        place.join("message"),
        [&envelope.message()[..], b"x"].concat(),
    )
    .unwrap();
    assert!(
        !output("openssl", &check, place).status.success(),
        "openssl takes anything"
    );
}

fn a_signature_of_openssl_seals() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    made(
        "openssl",
        &["genpkey", "-algorithm", "ed25519", "-out", "key"],
        place,
    );
    made(
        "openssl",
        &[
            "pkey", "-in", "key", "-pubout", "-outform", "DER", "-out", "public",
        ],
        place,
    );
    let der = std::fs::read(place.join("public")).unwrap();
    let key = PublicKey::Ed25519(der[der.len() - 32..].try_into().unwrap());
    made(
        "openssl",
        &["pkey", "-in", "key", "-pubout", "-out", "pem"],
        place,
    );
    assert_eq!(
        std::fs::read_to_string(place.join("pem")).unwrap(),
        key.pem()
    );
    let sealed = message(&statement("pi5-1", "2026-11-24T12:10:00Z"));
    std::fs::write(place.join("message"), sealed.message()).unwrap();
    let sign = "pkeyutl -sign -inkey key -rawin -in message -out signature";
    made("openssl", &sign.split(' ').collect::<Vec<_>>(), place);
    let signature = std::fs::read(place.join("signature")).unwrap();
    assert!(seal(sealed, &key, signature, None).is_some());
}

fn an_ecdsa_signature_of_openssl_seals() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let openssl = |line: &str| made("openssl", &line.split(' ').collect::<Vec<_>>(), place);
    openssl("ecparam -name prime256v1 -genkey -noout -out key");
    openssl("pkey -in key -pubout -out pem");
    openssl("pkey -in key -pubout -outform DER -out public");
    let der = std::fs::read(place.join("public")).unwrap();
    let key = PublicKey::P256(der[der.len() - 65..].try_into().unwrap());
    let pem = std::fs::read_to_string(place.join("pem")).unwrap();
    assert_eq!(pem, key.pem());
    let line = made("ssh-keygen", &["-i", "-m", "PKCS8", "-f", "pem"], place);
    assert_eq!(PublicKey::from_line(&line), Ok(key));
    let sealed = message(&statement("pi5-1", "2026-11-24T12:10:00Z"));
    std::fs::write(place.join("message"), sealed.message()).unwrap();
    openssl("dgst -sha256 -sign key -out signature message");
    let signature = std::fs::read(place.join("signature")).unwrap();
    let envelope = seal(sealed, &key, signature, None).unwrap();
    assert_eq!(envelope.signatures[0].key, key.fingerprint());
}

fn certificates_of_ecdsa_keys_are_those_of_ssh_keygen() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    for (name, kind) in [
        ("authority", "ecdsa"),
        ("board", "ecdsa"),
        ("other", "ed25519"),
    ] {
        let words = ["-q", "-t", kind, "-N", "", "-C", "", "-f", name];
        made("ssh-keygen", &words, place);
    }
    let key = |name: &str| {
        let line = std::fs::read_to_string(place.join(format!("{name}.pub"))).unwrap();
        PublicKey::from_line(&line).unwrap()
    };
    for name in ["board", "other"] {
        let file = format!("{name}.pub");
        let words = ["-q", "-s", "authority", "-I", "rack", "-n", "pi5-1", &file];
        made("ssh-keygen", &words, place);
        let line = std::fs::read_to_string(place.join(format!("{name}-cert.pub"))).unwrap();
        let certificate = Certificate::from_line(&line).unwrap();
        assert_eq!(certificate.key, key(name));
        assert_eq!(certificate.authority, key("authority"));
        assert_eq!(certificate.principals, ["pi5-1"]);
    }
}

fn a_protected_key_and_an_rsa_key_are_called_so() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let refused = |name: &str| {
        let text = std::fs::read_to_string(place.join(name)).unwrap();
        PrivateKey::from_openssh(&text).unwrap_err()
    };
    made(
        "ssh-keygen",
        &["-q", "-t", "ed25519", "-N", "a secret", "-f", "protected"],
        place,
    );
    assert_eq!(refused("protected"), KeyError::Protected);
    made(
        "ssh-keygen",
        &["-q", "-t", "ecdsa", "-N", "", "-f", "ecdsa"],
        place,
    );
    assert_eq!(refused("ecdsa"), KeyError::AgentAlone);
}
