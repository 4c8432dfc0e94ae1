//! The page's Content-Security-Policy: nothing is loaded, nothing sent, and only this program's
//! own script and style are obeyed, each known by its SHA-256.

use sha2::{Digest, Sha256};

/// The policy for a page with this script and this style in it.
pub(super) fn policy(script: &str, style: &str) -> String {
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'",
        base64(&Sha256::digest(script)),
        base64(&Sha256::digest(style))
    )
}

/// RFC 4648, section 4, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let at = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) & 63;
            text.push(if digit <= three.len() {
                char::from(DIGITS[index as usize])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_gives_the_vectors_of_rfc_4648() {
        let encoded =
            ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|t| base64(t.as_bytes()));
        assert_eq!(
            encoded,
            [
                "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"
            ]
        );
    }

    #[test]
    fn the_policy_names_the_hash_of_an_empty_script() {
        // SHA-256 of nothing, as every manual of the policy gives it.
        let policy = policy("", "");
        assert!(
            policy.contains("script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='")
        );
        assert!(!policy.contains("unsafe"));
    }
}
