//! Words of the verbs for programs that were not written for wakepath: `watch` and `exec`.

use super::Live;
use clap::Args;
use std::path::PathBuf;
use wakepath_console::run_order::WatchOrder;

/// Watch a program that was not written for wakepath, without changing it: which of its threads are
/// periodic and how exactly, their wake-up latency from the timer's expiry, run time, preemptions,
/// policy in effect, and why late activations were late. Requires root or access to tracefs.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 watched, 1 error, 2 ended by --stop-above, 3 nothing woke up.\n\nExamples:\n  \
                        wakepath watch -p 1234 --for 60s\n  \
                        wakepath watch --comm px4 --for 60s --latency 200us\n  \
                        wakepath watch --cgroup robot.service --for 60s\n  \
                        wakepath watch --comm px4 --stop-above 500us\n  \
                        wakepath watch --for 20s -- ./controller --fast\n  \
                        wakepath watch -- wakepath exec --policy 'FIFO 80' --cpu 1 -- ./controller\n  \
                        wakepath watch --cycle px:begin,px:end --section px:read,px:done -- ./pilot"
)]
#[command(group = clap::ArgGroup::new("what").required(true))]
#[derive(Default)]
pub struct Watch {
    /// Watch the process with this number, with all its threads and children (repeatable).
    #[arg(short = 'p', long = "pid", value_name = "PID", group = "what", value_parser = super::process)]
    pub pid: Vec<u32>,
    /// Watch all processes and all threads of this name.
    #[arg(long, value_name = "NAME", group = "what")]
    pub comm: Option<std::ffi::OsString>,
    /// Watch a control group: its path, systemd unit or container ID.
    #[arg(
        long,
        value_name = "GROUP",
        group = "what",
        long_help = "Watch all processes in this control group and in those below it: by its path, such as `/robot`, \
        by the systemd unit or by the container's ID"
    )]
    pub cgroup: Option<String>,
    /// Start this program, after `--`, and watch it with all it starts.
    #[arg(last = true, value_name = "COMMAND", group = "what")]
    pub command: Vec<std::ffi::OsString>,
    /// Watch for this long, such as `60s` [default: until the program ends].
    #[arg(
        long = "for",
        value_name = "TIME",
        long_help = "Watch for this long, such as `60s`, and end what was started then [default: until the program and \
        all that it started have ended, or Ctrl-C]"
    )]
    pub duration: Option<String>,
    /// CPUs to trace, such as `1` or `2-3` [default: those its threads can use].
    #[arg(hide_short_help = true, short, long, value_name = "CPUS")]
    pub cpu: Option<String>,
    /// Policy that the program is meant to have; a periodic thread with another one is invalid.
    #[arg(hide_short_help = true, long, value_name = "POLICY")]
    pub policy: Option<String>,
    /// Latency above which an activation is late, such as `200us` [default: the 99.9th percentile of
    /// each thread].
    #[arg(
        long,
        value_name = "TIME",
        long_help = "Latency above which an activation is late, such as `200us` [default: the 99.9th percentile of each \
        thread]. Also that of a message of ROS 2, from its publication to the subscription's callback [default: none]"
    )]
    pub latency: Option<String>,
    /// Time in which a cycle must end [default: its period].
    #[arg(
        long,
        value_name = "TIME",
        long_help = "Time from its due time in which a cycle must end, such as `2ms`; one that ends later is late \
        [default: its period]"
    )]
    pub deadline: Option<String>,
    /// Stop at the first latency above this, such as `200us`, and explain it.
    #[arg(
        long,
        value_name = "TIME",
        long_help = "End at the first latency of a periodic thread, or of a callback of ROS 2 (since \
        its timer was due, or its message was published), above this time, \
        such as `200us`, keep the trace and explain it: exit code 2. The recorder then takes its turn with \
        all ordinary programs, and the recording ends a few tenths of a second after that latency, or later while \
        many of them keep the CPUs busy. Also the limit of --latency, if that is not given"
    )]
    pub stop_above: Option<String>,
    /// Where a cycle begins and ends: two USDT probes of the program's own, such as `pilot:begin,pilot:end` [default:
    /// from a wake-up to the last sleep before the next].
    #[arg(
        hide_short_help = true,
        long,
        value_name = "BEGIN,END",
        long_help = "Where a cycle of the program begins and ends: two USDT probes (<sys/sdt.h>) that its author put \
        into it, as PROVIDER:NAME, or FILE:PROVIDER:NAME if they are in a library or the command starts another \
        program. Without END it lasts until its thread sleeps for the last time before the next begin. A name that \
        is not there is answered with those that are. [default: from a wake-up to the last sleep before the next]"
    )]
    pub cycle: Option<String>,
    /// A section of the cycle, between two USDT probes (repeatable, at most 16).
    #[arg(hide_short_help = true, long, value_name = "BEGIN,END")]
    pub section: Vec<String>,
    /// Record the functions in which threads wait, with file and line; a wait takes some 6 µs more.
    #[arg(hide_short_help = true, long)]
    pub stacks: bool,
    /// Record the callbacks of ROS 2 by node, topic and timer [default: if libtracetools.so is found].
    #[arg(
        hide_short_help = true,
        long,
        value_name = "LIBRARY",
        num_args = 0..=1,
        require_equals = true,
        long_help = "Record the callbacks of ROS 2 by node, topic and timer: where libtracetools.so, which every \
        installation has, is called. It is looked for in the watched processes, or, for a program that is started, in \
        LD_LIBRARY_PATH and AMENT_PREFIX_PATH; name it as --ros2=LIBRARY if it is elsewhere. Needs no rebuild and no \
        tracing session. Names are known of nodes that are made while they are watched: start them under `wakepath \
        watch -- ros2 launch …`. [default: if libtracetools.so is found]"
    )]
    pub ros2: Option<Option<PathBuf>>,
    /// A chain of messages, from a topic to a topic or node, such as `/image:/motor` (repeatable).
    #[arg(hide_short_help = true, long, value_name = "FROM:TO")]
    pub chain: Vec<String>,
    /// Latency above which the end of a chain counts as late, such as `40ms` [default, for threads: the period of the
    /// first].
    #[arg(hide_short_help = true, long, value_name = "TIME")]
    pub limit: Option<String>,
    /// Print everything, of each thread.
    #[arg(
        short,
        long,
        conflicts_with = "json",
        long_help = "Print everything: all figures, remarks, causes and worst activations of each thread"
    )]
    pub all: bool,
    /// With --all: number of the worst activations of each thread.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "COUNT",
        default_value_t = 3
    )]
    pub worst: usize,
    /// Run directory; must be empty or not exist [default: wakepath-runs/watch-NAME-TIME].
    #[arg(short = 'o', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// As root, allow a directory that another user owns or can write to.
    #[arg(hide_short_help = true, long)]
    pub trust_directory: bool,
    /// How to show it.
    #[command(flatten)]
    pub live: Live,
    /// The order, if a larger measurement gave it.
    #[arg(skip)]
    pub order: Option<WatchOrder>,
}

impl Watch {
    /// Of a watch that is ordered: its run is recorded, and nothing is shown.
    pub fn of_a_part(order: WatchOrder) -> Self {
        Self {
            command: order.program.clone(),
            duration: Some(order.duration.clone()),
            directory: Some(order.directory.clone()),
            live: Live {
                json: true,
                no_tui: true,
                metrics: None,
            },
            worst: 1,
            order: Some(order),
            ..Self::default()
        }
    }
}

/// Start a program on the right CPUs under the right policy: both set, read back and said on
/// standard error, with what the program can't inherit. Then this process becomes the program.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: those of the program; 127 if it does not exist, 126 if it can't be executed, 1 \
                        if its policy or CPUs can't be set.\n\nExamples:\n  \
                        wakepath exec --policy 'FIFO 80' --cpu 1 -- ./controller --fast\n  \
                        wakepath exec --policy 'DEADLINE 400us/4ms/4ms' --reset-on-fork -- ./loop\n  \
                        wakepath exec --policy 'OTHER nice -10' --cpu 2-3 --quiet -- ./planner"
)]
pub struct Exec {
    /// Policy of the program: 'FIFO 80', 'RR 50', 'OTHER nice -5', 'BATCH nice 0', IDLE,
    /// 'DEADLINE 400us/4ms/4ms' (runtime, deadline, period).
    #[arg(short, long, value_name = "POLICY")]
    pub policy: String,
    /// CPUs it can run on, such as `1` or `2-3,6` [default: those this process can use].
    #[arg(short, long, value_name = "CPUS")]
    pub cpu: Option<String>,
    /// Start its other threads and processes as OTHER nice 0 instead of under its policy.
    #[arg(long)]
    pub reset_on_fork: bool,
    /// The program and its arguments, after `--`.
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    pub command: Vec<std::ffi::OsString>,
}
