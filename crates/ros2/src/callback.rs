//! A callback by what it belongs to, and one run of it.

use serde::{Deserialize, Serialize};
use std::fmt;
use wakepath_timeline::{duration, shortened};

/// Between the name of an action and those of its services and topics.
pub(crate) const ACTION: &str = "/_action/";

/// A callback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    /// Number of its process.
    pub process: u32,
    /// Its address there.
    pub handle: u64,
    /// Its node with its namespace, if it was seen being made.
    pub node: Option<String>,
    /// What calls it.
    pub kind: Kind,
    /// The function, if its symbol was found in memory, or a tracing session had rclcpp look it up.
    pub symbol: Option<String>,
}

/// What calls a callback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A timer.
    Timer {
        /// Its period, in nanoseconds.
        period_ns: u64,
        /// When it was made, in nanoseconds on `CLOCK_MONOTONIC`.
        made_ns: u64,
    },
    /// Messages of a topic.
    Subscription {
        /// The topic.
        topic: String,
        /// Messages that wait for it at most; 0 for all (KEEP_ALL).
        depth: u64,
    },
    /// Requests to a service.
    Service {
        /// The service.
        service: String,
    },
    /// Work that an executor takes and handles without a callback that marks its beginning and end.
    Handled {
        /// Its kind.
        taken: Taken,
        /// The service, or the topic of an action.
        name: String,
    },
    /// A part of the cycle of ros2_control's manager, or a controller's update within it.
    Control {
        /// `read`, `update` or `write`.
        part: String,
        /// Whether it is of a controller that was made before the recording, whose name is unknown.
        #[serde(default)]
        is_unnamed: bool,
    },
    /// It was made before the recording began.
    Unknown,
}

/// Work that an executor takes and that no callback of rclcpp marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Taken {
    /// A request to an action's server.
    Request,
    /// The answer to a client of a service or an action.
    Answer,
    /// A message to an action's client.
    Message,
}

impl fmt::Display for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(node) = &self.node {
            write!(f, "{node}: ")?;
        }
        match &self.kind {
            Kind::Control { part, .. } if self.node.is_none() => write!(f, "ros2_control: {part}"),
            Kind::Unknown => match &self.symbol {
                Some(symbol) => write!(f, "{} of process {}", in_short(symbol), self.process),
                None => write!(f, "callback {:#x} of process {}", self.handle, self.process),
            },
            kind => kind.fmt(f),
        }
    }
}

/// A function with its class, without the namespaces; cut if that is long.
fn in_short(symbol: &str) -> String {
    const MOST_CHARACTERS: usize = 60;
    let has_arguments = symbol.contains(['(', '<']);
    let mut parts = symbol.rmatch_indices("::").map(|(at, _)| at + 2);
    let from = parts.nth(1).filter(|_| !has_arguments).unwrap_or(0);
    shortened(&symbol[from..], MOST_CHARACTERS)
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timer { period_ns, .. } => {
                write!(f, "timer {}", duration::length(*period_ns))
            }
            Self::Subscription { topic, .. } => f.write_str(topic),
            Self::Service { service } => write!(f, "service {service}"),
            Self::Handled { taken, name } => match name.split_once(ACTION) {
                Some((action, part)) => {
                    let part = match part {
                        "send_goal" => "goal",
                        "cancel_goal" => "cancel",
                        "get_result" => "result",
                        other => other,
                    };
                    match taken {
                        Taken::Request => write!(f, "action {action}, {part} request"),
                        Taken::Answer => write!(f, "action {action}, answer to {part} request"),
                        Taken::Message => write!(f, "action {action}, {part}"),
                    }
                }
                None => match taken {
                    Taken::Request => write!(f, "request to {name}"),
                    Taken::Answer => write!(f, "answer of {name}"),
                    Taken::Message => f.write_str(name),
                },
            },
            Self::Control { part, .. } => f.write_str(part),
            Self::Unknown => f.write_str("unknown callback"),
        }
    }
}

/// One run of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Which, of those of [`crate::Seen`].
    pub callback: usize,
    /// The thread that ran it.
    pub thread: u32,
    /// The CPU on which it began.
    pub cpu: u16,
    /// When it began, in nanoseconds on `CLOCK_MONOTONIC`.
    pub from_ns: u64,
    /// When it ended.
    pub to_ns: u64,
    /// The message that it was called with: when the sender's middleware dated it, in nanoseconds on that one's clock,
    /// or a number below 0 for one that stayed within its process.
    pub message: Option<i64>,
    /// How long it was on a CPU, in nanoseconds, and how often it was preempted; unknown without the kernel's switches.
    pub on_cpu: Option<(u64, u32)>,
}

impl Run {
    /// How long it took.
    pub fn length_ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }

    /// The part of it between two instants.
    pub fn within(&self, from_ns: u64, to_ns: u64) -> u64 {
        let from_ns = from_ns.max(self.from_ns);
        to_ns.min(self.to_ns).saturating_sub(from_ns)
    }
}
