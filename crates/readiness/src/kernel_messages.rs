//! The kernel's own log, with the parameters that it rejected. Reading it starts at
//! the oldest message that is still kept; a long-running machine may have dropped those of its
//! boot, and then the log says nothing about them.

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use wakepath_machine::{Reading, Root};

/// The device, and where a recorded tree keeps a copy of it.
const DEVICE: &str = "/dev/kmsg";
/// Where a recorded tree keeps its copy: a device's name would be read as a device there too.
const RECORDED: &str = "/dev/kmsg.recorded";
/// The kernel's largest record (`PRINTKRB_RECORD_MAX` of `kernel/printk/internal.h` is 1024; older
/// kernels had 8192).
const LARGEST_RECORD: usize = 8192;
/// No kernel keeps more messages than this by default; a reader that gets more is being fed.
const MOST_MESSAGES: usize = 200_000;

/// The messages, oldest first, without their headers.
#[derive(Debug, Clone, Default)]
pub struct KernelMessages {
    /// Messages, if readable.
    pub messages: Reading<Vec<String>>,
}

impl KernelMessages {
    /// Reads the log; needs root, or `kernel.dmesg_restrict` = 0.
    pub fn read(root: &Root) -> Self {
        let messages = if root.is_host() {
            live()
        } else {
            root.text(RECORDED)
                .map(|text| text.lines().filter_map(message).collect())
        };
        Self { messages }
    }

    /// Whether the log still reaches back to the start of the kernel.
    pub fn reaches_boot(&self) -> bool {
        self.messages.known().is_some_and(|messages| {
            messages
                .iter()
                .take(200)
                .any(|text| text.starts_with("Linux version ") || text.starts_with("Booting Linux"))
        })
    }

    /// The messages that hold one of these texts.
    pub fn with_any<'a>(&'a self, texts: &'a [&str]) -> impl Iterator<Item = &'a str> {
        self.messages
            .known()
            .into_iter()
            .flatten()
            .filter(move |message| texts.iter().any(|text| message.contains(text)))
            .map(String::as_str)
    }
}

/// Reads the device without waiting for more: each read gives one record, nothing more (EAGAIN), or
/// a gap because records were overwritten (EPIPE), after which reading continues.
fn live() -> Reading<Vec<String>> {
    let path = DEVICE.to_owned();
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let device = match rustix::fs::open(DEVICE, flags, Mode::empty()) {
        Ok(device) => device,
        Err(Errno::NOENT) => return Reading::Absent { path },
        Err(Errno::PERM | Errno::ACCESS) => return Reading::Denied { path },
        Err(error) => return Reading::unreadable(path, "", error.to_string()),
    };
    let mut record = vec![0; LARGEST_RECORD];
    let mut messages = Vec::new();
    for _ in 0..MOST_MESSAGES {
        match rustix::io::read(&device, &mut record) {
            Ok(0) | Err(Errno::AGAIN) => break,
            Ok(length) => {
                let text = String::from_utf8_lossy(&record[..length]);
                messages.extend(message(text.lines().next().unwrap_or_default()));
            }
            Err(Errno::PIPE | Errno::INTR | Errno::INVAL) => {}
            Err(error) => return Reading::unreadable(path, "", error.to_string()),
        }
    }
    Reading::found(messages, DEVICE)
}

/// The text of a record, `PRIORITY,SEQUENCE,TIME,FLAGS;TEXT`, if the kernel itself wrote it: what
/// programs write into the log has another facility in its priority, and anybody with root could
/// have put it there.
fn message(record: &str) -> Option<String> {
    let (header, text) = record.split_once(';')?;
    let priority: u32 = header.split(',').next()?.parse().ok()?;
    // The facility is above the three bits of the level; the kernel's is 0.
    (priority >> 3 == 0).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_wrote_into_the_log_is_not_the_kernels_word() {
        let kernel = "4,12,0,-;isolcpus: Invalid flag foo";
        assert_eq!(message(kernel).unwrap(), "isolcpus: Invalid flag foo");
        assert_eq!(message("12,12,0,-;isolcpus: Invalid flag foo"), None);
        assert_eq!(message(" SUBSYSTEM=pci"), None);
    }
}
