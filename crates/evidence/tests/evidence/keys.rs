//! Keys as OpenSSH writes them, whole and broken.

use super::{private, seed};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use wakepath_evidence::{KeyError, PrivateKey, PublicKey};

wakepath_test_program::tests![
    a_key_signs_as_rfc_8032_says,
    a_fingerprint_is_the_one_that_ssh_keygen_prints,
    what_is_no_usable_key_is_called_by_its_name,
    a_key_that_is_cut_or_mixed_is_refused,
    a_signature_holds_for_its_message_alone,
    a_signature_of_ecdsa_is_checked_as_rfc_6979_has_it,
];

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn a_key_signs_as_rfc_8032_says() {
    // Section 7.1, tests 1 and 2.
    assert_eq!(
        hexadecimal(&private("board").sign(b"")),
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    );
    assert_eq!(
        hexadecimal(&private("authority").sign(&[0x72])),
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    );
}

fn a_fingerprint_is_the_one_that_ssh_keygen_prints() {
    let key = PublicKey::from_line(&seed("board.pub")).unwrap();
    assert_eq!(
        key.fingerprint(),
        "SHA256:bbXpuKG6zhzdmnxq256TlqzFBzRl2f6OOg722cYNbU8"
    );
    assert_eq!(private("board").public(), key);
    assert!(seed("board.pub").starts_with(&key.line()));
    assert!(
        !format!("{:?}", private("board")).contains("9d61"),
        "a secret is shown"
    );
}

fn what_is_no_usable_key_is_called_by_its_name() {
    let refused = |text: &str| PrivateKey::from_openssh(text).unwrap_err();
    assert_eq!(refused(&seed("board.pub")), KeyError::Public);
    assert_eq!(
        refused("-----BEGIN TSS2 PRIVATE KEY-----\nAA=="),
        KeyError::Tpm
    );
    assert_eq!(
        refused("-----BEGIN RSA PRIVATE KEY-----"),
        KeyError::OtherKind("RSA".into())
    );
    assert_eq!(
        refused("ssh-rsa AAAAB3NzaC1yc2E= me"),
        KeyError::OtherKind("ssh-rsa".into())
    );
    assert_eq!(refused(""), KeyError::NotPrivate);
    assert_eq!(
        refused("-----BEGIN PRIVATE KEY-----\nAA==\n"),
        KeyError::NotPrivate
    );
    assert_eq!(
        PublicKey::from_line("sk-ssh-ed25519@openssh.com AAAA"),
        Err(KeyError::OtherKind("sk-ssh-ed25519@openssh.com".into()))
    );
    assert_eq!(
        PublicKey::from_line("hello there"),
        Err(KeyError::NotPublic)
    );
}

fn a_key_that_is_cut_or_mixed_is_refused() {
    let whole = seed("board");
    for length in 0..whole.len() - "-----END OPENSSH PRIVATE KEY-----\n".len() {
        assert!(
            PrivateKey::from_openssh(&whole[..length]).is_err(),
            "{length}"
        );
    }
    // With another key's public half.
    let of = |name: &str| {
        let line = seed(name);
        line.split(' ').nth(1).expect("a key")[24..].to_owned()
    };
    assert_ne!(of("board.pub"), of("authority.pub"));
    let lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    let authority: Vec<String> = seed("authority").lines().map(str::to_owned).collect();
    let mixed = [&lines[..3], &authority[3..]].concat().join("\n");
    assert!(
        matches!(PrivateKey::from_openssh(&mixed), Err(KeyError::Damaged(_))),
        "{mixed}"
    );
}

fn a_signature_holds_for_its_message_alone() {
    let key = private("board");
    let signature = key.sign(b"message");
    assert!(key.public().signed(b"message", &signature));
    assert!(!key.public().signed(b"massage", &signature));
    assert!(!private("authority").public().signed(b"message", &signature));
    for place in 0..signature.len() {
        let mut changed = signature.clone();
        changed[place] ^= 1;
        assert!(!key.public().signed(b"message", &changed), "{place}");
    }
    assert!(!key.public().signed(b"message", &signature[1..]));
    // A key of small order signs whatever one likes, if a verifier lets it.
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut forged = neutral.to_vec();
    forged.extend([0; 32]);
    assert!(!PublicKey::Ed25519(neutral).signed(b"anything", &forged));
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let pairs = (0..hexadecimal.len()).step_by(2);
    let byte = |at: usize| u8::from_str_radix(&hexadecimal[at..at + 2], 16).unwrap();
    pairs.map(byte).collect()
}

fn a_signature_of_ecdsa_is_checked_as_rfc_6979_has_it() {
    // Appendix A.2.5: the key, and its signature over "sample" with SHA-256.
    let point = bytes(
        "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6\
         7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299",
    );
    let r = bytes("efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716");
    let s = bytes("f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8");
    let key = PublicKey::P256(point.try_into().unwrap());
    // Both numbers begin with a set bit, so a zero precedes each.
    let der = [&[0x30, 70, 2, 33, 0], &r[..], &[2, 33, 0], &s[..]].concat();
    assert!(key.signed(b"sample", &der));
    assert!(!key.signed(b"test", &der));
    for place in 0..der.len() {
        let mut changed = der.clone();
        changed[place] ^= 1;
        assert!(!key.signed(b"sample", &changed), "{place}");
    }
    assert!(!key.signed(b"sample", &[&r[..], &s].concat()));
    assert!(!key.signed(b"sample", &[0x30, 6, 2, 1, 0, 2, 1, 0]));
    assert_eq!(PublicKey::from_line(&key.line()), Ok(key));
    let blob = key.blob();
    let line = |blob: &[u8]| format!("ecdsa-sha2-nistp256 {}", STANDARD.encode(blob));
    for (end, why) in [(blob.len() - 1, "cut short"), (20, "without a point")] {
        assert!(PublicKey::from_line(&line(&blob[..end])).is_err(), "{why}");
    }
    let mut beside = blob;
    *beside.last_mut().unwrap() ^= 1;
    assert_eq!(
        PublicKey::from_line(&line(&beside)),
        Err(KeyError::Damaged("no point of P-256"))
    );
    let other = line(&private("board").public().blob());
    assert_eq!(
        PublicKey::from_line(&other),
        Err(KeyError::Damaged("of another kind than its line says"))
    );
}
