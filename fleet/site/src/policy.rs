//! The head of every page, with its Content-Security-Policy.
//!
//! Nothing is loaded, nothing is sent, and only this program's own script and style are allowed,
//! each by its SHA-256.

use crate::markup::escaped;
use sha2::{Digest, Sha256};

/// The style of all pages.
pub(crate) const STYLE: &str = include_str!("assets/site.css");

/// A page; `script` can be empty.
pub(crate) fn page(title: &str, body: &str, script: &str) -> String {
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        base64(&Sha256::digest(script)),
        base64(&Sha256::digest(STYLE))
    );
    let script = if script.is_empty() {
        String::new()
    } else {
        format!("<script>{script}</script>")
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{}</title><style>{STYLE}</style></head>\n<body>\n{body}\n{script}</body></html>\n",
        escaped(title)
    )
}

/// RFC 4648, section 4, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte));
        let bits = bits << (8 * (3 - three.len()));
        for digit in 0..4 {
            text.push(if digit <= three.len() {
                char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63])
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
    fn base64_gives_the_vectors_of_rfc_4648_and_the_hash_of_nothing() {
        let encoded = ["", "f", "fo", "foo", "foob"].map(|t| base64(t.as_bytes()));
        assert_eq!(encoded, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
        let nothing = "script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
        assert!(page("t", "b", "").contains(nothing));
        assert!(!page("t", "b", "").contains("unsafe"));
    }
}
