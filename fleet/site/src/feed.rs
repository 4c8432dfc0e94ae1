//! Changes for the worse as a feed (Atom, RFC 4287).
//!
//! Improvements are only on the pages.

use crate::front::told;
use crate::markup::escaped;
use crate::seen::{Seen, SeenChange};
use sha2::{Digest, Sha256};

/// Entries: the newest of more.
const MOST: usize = 100;

/// The file `feed.xml`, in the same directory as `index.html`. Its links are relative to it.
pub fn feed(seen: &Seen) -> String {
    let later = seen.changes.iter().filter(|seen| is_later(seen));
    let later: Vec<&SeenChange> = later.take(MOST).collect();
    // The time of the archive's newest news, not of writing: the same archive gives the same bytes.
    let newest = later.first().map(|seen| &*seen.change.started);
    let newest = newest.or(seen.runs.last().map(|run| &*run.started));
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <title>Fleet: what got later</title>\n<id>{}</id>\n<updated>{}</updated>\n<author><name>wakepath-fleet</name></author>\n\
         <link href=\"index.html\"/>\n",
        id(&["fleet"]),
        time(newest.unwrap_or_default())
    );
    for seen in later {
        let change = &seen.change;
        let board = xml(&seen.board);
        let title = format!("{}, {}: p99.9 rose", seen.board, seen.condition);
        let words = format!("{}, {}", seen.board, told(seen, str::to_owned));
        text += &format!(
            "<entry>\n<title>{}</title>\n<id>{}</id>\n<updated>{}</updated>\n<link href=\"board/{board}.html\"/>\n\
             <content type=\"text\">{}</content>\n</entry>\n",
            xml(&title),
            id(&[&seen.board, &seen.condition, &change.run_id]),
            time(&change.started),
            xml(&words)
        );
    }
    text + "</feed>\n"
}

fn is_later(seen: &SeenChange) -> bool {
    seen.change.after_ns > seen.change.before_ns
}

/// A name that stays the same when the feed is written again.
fn id(parts: &[&str]) -> String {
    let digest = Sha256::digest(parts.join("\n"));
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("urn:sha256:{digits}")
}

/// A valid time: a board's text might not be one, and feed readers require it.
fn time(text: &str) -> &str {
    let form = b"dddd-dd-ddTdd:dd:ddZ";
    let fits = |(byte, form): (u8, &u8)| match form {
        b'd' => byte.is_ascii_digit(),
        form => byte == *form,
    };
    if text.len() == form.len() && text.bytes().zip(form).all(fits) {
        text
    } else {
        "1970-01-01T00:00:00Z"
    }
}

/// Text for XML, in which some characters are forbidden even when escaped.
fn xml(text: &str) -> String {
    escaped(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
