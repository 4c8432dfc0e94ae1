//! The bound on wake-up latency that processes ask for by holding `/dev/cpu_dma_latency` open,
//! and which processes those are. A tool that holds it hides an idle cost the loop will pay.

use serde::{Deserialize, Serialize};
use wakepath_timeline::one_line;

use crate::{Reading, Root};

const DEVICE: &str = "/dev/cpu_dma_latency";

/// Value of the device without any request, µs (`PM_QOS_CPU_LATENCY_DEFAULT_VALUE` in the kernel's
/// `pm_qos.h`).
pub const NO_LATENCY_REQUEST_US: i32 = 2_000_000_000;

/// A search stops after this many open files: on a busy server it would disturb the loop.
const MOST_FILES: usize = 20_000;

/// The request in effect.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LatencyRequest {
    /// The strictest requested bound, µs; [`NO_LATENCY_REQUEST_US`] if there is none.
    pub bound_us: Reading<i32>,
    /// Processes with a request. Only searched for if there is a request.
    pub holders: Reading<LatencyHolders>,
}

/// The processes that hold the device open.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LatencyHolders {
    /// Process number and command name.
    pub processes: Vec<(u32, String)>,
    /// Processes whose files this user can't see; a holder might be among them.
    pub hidden: u32,
    /// Whether the search was cut short on a machine with very many open files.
    pub cut_short: bool,
}

impl LatencyRequest {
    pub(super) fn read(root: &Root) -> Self {
        // Exactly four bytes: the device answers every read again.
        let bound_us = match root.first_bytes(DEVICE, 4) {
            Reading::Known { value, path } => match <[u8; 4]>::try_from(value.as_slice()) {
                Ok(bytes) => Reading::found(i32::from_ne_bytes(bytes), path),
                Err(_) => Reading::unreadable(path, "", "expected four bytes"),
            },
            other => other.without_value(),
        };
        let nobody = bound_us.known() == Some(&NO_LATENCY_REQUEST_US);
        let holders = match &bound_us {
            Reading::Known { .. } if nobody => Reading::Skipped {
                path: "/proc".to_owned(),
                why: "no bound requested".to_owned(),
            },
            Reading::Absent { path } => Reading::Absent { path: path.clone() },
            _ => Reading::found(search(root), "/proc"),
        };
        Self { bound_us, holders }
    }
}

fn search(root: &Root) -> LatencyHolders {
    let mut found = LatencyHolders::default();
    let mut files = 0;
    for process in root.numbered("/proc", "") {
        let folder = format!("/proc/{process}/fd");
        let descriptors = match root.names(&folder) {
            Reading::Known { value, .. } => value,
            Reading::Denied { .. } => {
                found.hidden += 1;
                continue;
            }
            // It has ended by now.
            _ => continue,
        };
        files += descriptors.len();
        if files > MOST_FILES {
            found.cut_short = true;
            break;
        }
        let holds = descriptors.iter().any(|descriptor| {
            root.link(&format!("{folder}/{descriptor}"))
                .is_some_and(|to| to.as_os_str() == DEVICE)
        });
        if holds {
            let name = root.text(&format!("/proc/{process}/comm"));
            // A process names itself, line ends included.
            let name = name.known().map(|name| one_line(name));
            found.processes.push((process, name.unwrap_or_default()));
        }
    }
    found
}
