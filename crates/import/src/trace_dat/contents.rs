//! Contents of a `trace.dat` of any version: its stretches, located and unpacked.

use crate::ImportError;
use crate::bytes::Bytes;
use std::borrow::Cow;

/// More bytes than a file's sections unpack to.
const MOST_UNPACKED: u64 = 4 << 30;
/// More CPUs than any machine has, and more systems of events than any kernel.
const MOST_CPUS: u32 = 1 << 13;

/// The parts of a file.
pub(super) struct Contents<'a> {
    pub(super) page_bytes: u32,
    /// `header_page` and `header_event`.
    pub(super) headers: Cow<'a, [u8]>,
    /// Systems with the formats of their events.
    pub(super) formats: Cow<'a, [u8]>,
    /// The kernel's symbols.
    pub(super) symbols: Cow<'a, [u8]>,
    pub(super) clock: Option<String>,
    pub(super) kernel: Option<String>,
    pub(super) version: Option<String>,
    /// Pages by CPU.
    pub(super) cpus: Vec<(u16, Cow<'a, [u8]>)>,
}

/// What several parts may say wrong.
pub(super) fn cut() -> ImportError {
    ImportError::whole("truncated: its sections extend past its end")
}

impl Contents<'_> {
    /// The text of `header_page`.
    pub(super) fn page_format(&self) -> Result<&str, ImportError> {
        let mut headers = Bytes(&self.headers);
        let found = (headers.text() == Some("header_page")).then(|| {
            let length = headers.u64()?;
            std::str::from_utf8(headers.take(length)?).ok()
        });
        found.flatten().ok_or_else(cut)
    }

    /// System and text of the format of each event.
    pub(super) fn formats(&self) -> Result<Vec<(&str, &str)>, ImportError> {
        let mut rest = Bytes(&self.formats);
        let mut found = Vec::new();
        let mut read = || {
            for _ in 0..rest.u32()? {
                let system = rest.text()?;
                for _ in 0..rest.u32()? {
                    let length = rest.u64()?;
                    found.push((system, std::str::from_utf8(rest.take(length)?).ok()?));
                }
            }
            Some(())
        };
        read().ok_or_else(cut)?;
        Ok(found)
    }

    /// The kernel's symbols; none if they are not text.
    pub(super) fn symbols(&self) -> &str {
        std::str::from_utf8(&self.symbols).unwrap_or("")
    }
}

/// What options say of a file, in either version.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) clock: Option<String>,
    pub(super) kernel: Option<String>,
    pub(super) version: Option<String>,
    pub(super) cpus: Option<u32>,
}

impl Told {
    /// Takes an option that both versions have.
    pub(super) fn take(&mut self, id: u16, data: Bytes<'_>) {
        const TRACE_CLOCK: u16 = 4;
        const UNAME: u16 = 5;
        const CPU_COUNT: u16 = 8;
        const VERSION: u16 = 9;
        let (mut text, mut number) = (data, data);
        let mut words = || {
            let text = text.text()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        match id {
            TRACE_CLOCK => {
                // `local global [mono] boot`: the one in brackets is in use.
                let all = words().unwrap_or_default();
                let used = all
                    .split_once('[')
                    .and_then(|(_, rest)| rest.split_once(']'));
                self.clock = used.map(|(used, _)| used.to_owned());
            }
            UNAME => self.kernel = words().map(|all| release(&all)),
            CPU_COUNT => self.cpus = number.u32().filter(|count| *count <= MOST_CPUS),
            VERSION => self.version = words(),
            _ => {}
        }
    }
}

/// `Linux machine release version …`: without the machine's name.
fn release(uname: &str) -> String {
    let mut words = uname.split_whitespace().skip(2);
    let release = words.next().unwrap_or("unknown");
    if words.clone().any(|word| word == "PREEMPT_RT") {
        format!("{release} PREEMPT_RT")
    } else {
        release.to_owned()
    }
}

/// Unpacks zstd data with the given length; `None` if that length is wrong.
pub(super) fn unpacked(packed: &[u8], length: u32, sum: &mut u64) -> Option<Vec<u8>> {
    *sum = sum.checked_add(length.into())?;
    // A page of zeros packs to little: the stated length must still be possible.
    let plausible = u64::from(length) <= (packed.len() as u64 + 64).saturating_mul(1 << 15);
    if *sum > MOST_UNPACKED || !plausible {
        return None;
    }
    let unpacked = zstd::bulk::decompress(packed, length as usize).ok()?;
    (unpacked.len() == length as usize).then_some(unpacked)
}
