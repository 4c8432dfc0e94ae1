//! A recorder started by the program, with the command line's words as options.

use crate::text::{say, text_of};
use std::ffi::{OsString, c_char};
use wakepath_rt::{Recording, Service};

/// The only option of this library: the program's path.
const RECORDER: &str = "--recorder";

/// Starts wakepath's recorder for this program.
///
/// # Safety
/// `directory` ends with a NUL; `options` has `option_count` texts that end with a NUL, or is null;
/// `said` has room for `said_bytes`, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wakepath_record_service(
    directory: *const c_char,
    options: *const *const c_char,
    option_count: usize,
    said: *mut c_char,
    said_bytes: usize,
) -> i32 {
    let options = match options.is_null() {
        true => &[][..],
        // SAFETY: the caller's promise.
        false => unsafe { std::slice::from_raw_parts(options, option_count) },
    };
    // SAFETY: the caller's promise.
    let directory = unsafe { text_of(directory) };
    // SAFETY: as above.
    let words: Option<Vec<&str>> = options.iter().map(|of| unsafe { text_of(*of) }).collect();
    let (answer, text) = match (directory, words) {
        (Some(directory), Some(words)) => started(directory, &words),
        _ => (-1, "a directory and options are texts of UTF-8".into()),
    };
    // SAFETY: the caller's promise.
    unsafe { say(said, said_bytes, &text) };
    answer
}

fn started(directory: &str, words: &[&str]) -> (i32, String) {
    let mut service = Service {
        directory: directory.into(),
        ..Service::default()
    };
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        if word != RECORDER {
            service.more.push(OsString::from(word));
        } else if let Some(path) = words.next() {
            service.recorder = Some(path.into());
        } else {
            return (-1, format!("{RECORDER}: say where the program is"));
        }
    }
    match service.start() {
        Ok(Recording::Beside) => (0, String::new()),
        Ok(Recording::Already) => (1, "it is recorded already".into()),
        Err(why) => (-1, why.to_string()),
    }
}
