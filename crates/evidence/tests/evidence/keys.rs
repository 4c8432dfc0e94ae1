//! Keys as OpenSSH writes them, whole and broken.

use super::{private, seed};
use wakepath_evidence::{KeyError, PrivateKey, PublicKey};

wakepath_test_program::tests![
    a_key_signs_as_rfc_8032_says,
    a_fingerprint_is_the_one_that_ssh_keygen_prints,
    what_is_no_usable_key_is_called_by_its_name,
    a_key_that_is_cut_or_mixed_is_refused,
    a_signature_holds_for_its_message_alone,
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
    // The other key's public half in the place of its own.
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
    assert!(!PublicKey(neutral).signed(b"anything", &forged));
}
