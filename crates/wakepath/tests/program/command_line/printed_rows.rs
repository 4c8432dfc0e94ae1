//! The commands that sources print, and how each is typed.

/// How a command is typed.
#[derive(Debug, Clone, Copy)]
pub enum Typed {
    /// Here: it ends with one of these codes, and its output holds this text.
    Here(&'static [i32], &'static str),
    /// By tests of this module or of this name, which measure or change something.
    By(&'static str),
    /// It is no advice but the name of a verb or an option.
    Name,
    /// By no test, for this reason.
    Not(&'static str),
}
use Typed::{By, Here, Name, Not};

/// A command in the sources.
#[derive(Debug)]
pub struct Row {
    /// As the source has it, with its blanks.
    pub printed: &'static str,
    /// With its blanks filled; empty if it has none.
    pub filled: &'static str,
    /// How it is typed.
    pub typed: Typed,
}

const fn row(printed: &'static str, filled: &'static str, typed: Typed) -> Row {
    Row {
        printed,
        filled,
        typed,
    }
}

/// All of them.
pub const ROWS: &[Row] = &[
    row("wakepath bound", "", Name),
    row("wakepath bound --sections", "", Name),
    row(
        "wakepath bound RUN",
        "wakepath bound 'my run' --all",
        Here(&[0, 2, 3], "largest"),
    ),
    row(
        "wakepath bound RUN --details",
        "wakepath bound 'my run' --details",
        Here(&[0, 2, 3], "largest"),
    ),
    row(
        "wakepath bound RUN --exceed 1e-5",
        "wakepath bound 'my run' --exceed 1e-5",
        Here(&[0, 2, 3], "largest"),
    ),
    row(
        "wakepath check",
        "",
        By("what_the_first_pages_show_works_as_shown_and_fits_one_screen"),
    ),
    row(
        "wakepath check --rate 1kHz",
        "",
        By("what_a_failed_check_and_rate_suggest_measures_and_explains"),
    ),
    row(
        "wakepath check --rate {}",
        "wakepath check --rate 500Hz",
        By("what_a_failed_check_and_rate_suggest_measures_and_explains"),
    ),
    row(
        "wakepath check --trace",
        "",
        By("what_a_failed_check_and_rate_suggest_measures_and_explains"),
    ),
    row("wakepath compare", "", Name),
    row(
        "wakepath doctor",
        "",
        Here(&[0, 2], "wakepath doctor --all"),
    ),
    row("wakepath doctor --all", "", Here(&[0, 2], "K1")),
    row(
        "wakepath doctor --explain ID",
        "wakepath doctor --explain K1",
        Here(&[0, 2], "K1"),
    ),
    row(
        "wakepath doctor --rate {hz}Hz{cpu}",
        "wakepath doctor --rate 1000Hz --cpu CPU",
        Here(&[0, 2], "wakepath doctor --all"),
    ),
    row(
        "wakepath doctor --scenario {}",
        "wakepath doctor --scenario 'my loop.toml'",
        Here(&[0, 2], "wakepath doctor --all"),
    ),
    row(
        "wakepath doctor{subject}",
        "wakepath doctor --rate 1kHz --cpu CPU",
        Here(&[0, 2], "wakepath doctor --all"),
    ),
    row(
        "wakepath exec --policy 'FIFO 80' --cpu CPU -- COMMAND",
        "wakepath exec --policy 'FIFO 80' --cpu CPU -- echo done",
        By("exec"),
    ),
    row(
        "wakepath exec --policy 'FIFO 80' -- COMMAND",
        "wakepath exec --policy 'FIFO 80' -- echo done",
        By("exec"),
    ),
    row("wakepath experiment", "", Name),
    row("wakepath experiment page", "", Name),
    row("wakepath experiment run", "", Name),
    row("wakepath explain", "", Name),
    row(
        "wakepath explain RUN",
        "",
        By("what_a_failed_check_and_rate_suggest_measures_and_explains"),
    ),
    row("wakepath export --format csv", "", Here(&[0], "due")),
    row(
        "wakepath fly RUN",
        "wakepath fly 'my run' --all",
        Here(&[0, 2, 3], "no command"),
    ),
    row("wakepath help --all", "", Here(&[0], "lab")),
    row(
        "wakepath run SCENARIO",
        "wakepath run quick",
        By("what_the_first_pages_show_works_as_shown_and_fits_one_screen"),
    ),
    row("wakepath import --help", "", Here(&[0], "cyclictest")),
    row("wakepath lab experiments", "", Name),
    row("wakepath lab hunt", "", Name),
    row(
        "wakepath lab hunt {options} --directory {directory} --repeat",
        "wakepath lab hunt --kernel debian:stock --directory hunt --repeat finding-1.txt",
        By("a_killed_hunt_leaves_its_corpus_and_nothing_else_and_resumes"),
    ),
    row("wakepath lab run", "", Name),
    row(
        "wakepath lab run SCENARIO --trace",
        "",
        Not("needs an emulator and a kernel; the tests of the laboratory type it"),
    ),
    row("wakepath lab sections", "", Name),
    row(
        "wakepath lab window RUN",
        "",
        Not("needs a run in virtual time"),
    ),
    row("wakepath machine", "", Here(&[0], "Kernel")),
    row(
        "wakepath rate {}",
        "wakepath rate --from 1kHz",
        By("what_a_failed_check_and_rate_suggest_measures_and_explains"),
    ),
    row(
        "wakepath record -- {word}",
        "wakepath record -- ./my-loop",
        By("own_loop"),
    ),
    row(
        "wakepath record -- {}",
        "wakepath record -- ./my-loop",
        By("own_loop"),
    ),
    row(
        "wakepath recover RUN",
        "wakepath recover 'kept/cut short'",
        Here(&[0], "next: wakepath show 'kept/cut short'"),
    ),
    row("wakepath report", "", Here(&[0], "report")),
    row(
        "wakepath report RUN",
        "wakepath report 'my run'",
        Here(&[0], "report"),
    ),
    row("wakepath run", "", Name),
    row(
        "wakepath run --resume --directory {}",
        "wakepath run --resume --directory rounds",
        By("unattended"),
    ),
    row(
        "wakepath run SCENARIO --for TIME",
        "wakepath run quick --for 1h",
        By("unattended"),
    ),
    row(
        "wakepath run cache-delay",
        "",
        Not("takes minutes, and a processor with cache allocation"),
    ),
    row(
        "wakepath run scenario.toml",
        "wakepath run 'my loop.toml'",
        By("what_the_first_pages_show_works_as_shown_and_fits_one_screen"),
    ),
    row(
        "wakepath run {word}",
        "wakepath run 'my loop.toml'",
        By("what_the_first_pages_show_works_as_shown_and_fits_one_screen"),
    ),
    row("wakepath runs", "", Here(&[0], "check-20260101T120000Z")),
    row("wakepath scenario", "", Name),
    row("wakepath scenario list", "", Here(&[0], "aura-100hz")),
    row("wakepath schedulability", "", Name),
    row("wakepath schedulability --scenario", "", Name),
    row("wakepath schedulability sweep", "", Name),
    row("wakepath schedulability sweep --points", "", Name),
    row(
        "wakepath schedulability tasks.toml --overheads {run}",
        "wakepath schedulability tasks.toml --overheads 'my run'",
        By("schedulability_of_runs"),
    ),
    row(
        "wakepath seal RUN",
        "wakepath seal 'my run' --key key",
        By("seals"),
    ),
    row("wakepath show", "", Here(&[0, 2, 3], "verdict")),
    row(
        "wakepath show RUN",
        "wakepath show 'my run' --details",
        Here(&[0, 2, 3], "verdict"),
    ),
    row(
        "wakepath tiers --drive LINE --read LINE",
        "wakepath tiers --drive gpiochip0:17 --read gpiochip0:27",
        Not("needs two connected GPIO lines"),
    ),
    row(
        "wakepath tiers RUN",
        "wakepath tiers 'my run' --all",
        Here(&[0, 2, 3], "Tier"),
    ),
    row("wakepath try", "", Name),
    row(
        "wakepath try {fix} --thread={thread} -- PROGRAM",
        "wakepath try slack --thread=true -- true",
        By("a_fix_that_explain_suggests_can_be_tried_on_a_program"),
    ),
    row(
        "wakepath try {fix} -- PROGRAM",
        "wakepath try slack -- true",
        By("a_fix_that_explain_suggests_can_be_tried_on_a_program"),
    ),
    row("wakepath tune apply", "", By("tunings")),
    row("wakepath tune apply --dry-run", "", Here(&[0], "cost: ")),
    row(
        "wakepath tune boot",
        "",
        Not("changes the boot loader of this machine"),
    ),
    row(
        "wakepath tune boot --remove",
        "",
        Not("changes the boot loader of this machine"),
    ),
    row(
        "wakepath tune plan",
        "",
        Here(&[0, 2], "wakepath tune apply"),
    ),
    row("wakepath tune revert", "", By("tunings")),
    row("wakepath tune status", "", Here(&[0], "appl")),
    row(
        "wakepath tune trial{subject}{policy}{limits}",
        "wakepath tune trial --rate 1kHz --policy 'FIFO 80' --latency 90us",
        By("what_a_failed_check_and_rate_suggest_measures_and_explains"),
    ),
    row(
        "wakepath verify RUN",
        "wakepath verify 'my run' --trust boards.trust --board pi5",
        By("seals"),
    ),
    row("wakepath watch", "", Name),
    row(
        "wakepath watch -- ros2 launch …",
        "wakepath watch -- ros2 launch robot robot.launch.py",
        Not("needs ROS 2"),
    ),
    row(
        "wakepath watch -- {word}",
        "wakepath watch -- sleep 1",
        By("watching"),
    ),
    row(
        "wakepath watch -- {}",
        "wakepath watch -- sleep 1",
        By("watching"),
    ),
    row(
        "wakepath watch --latency 200us -- PROGRAM",
        "wakepath watch --latency 200us -- sleep 1",
        By("watching"),
    ),
    row(
        "wakepath watch --pid {pid}",
        "wakepath watch --pid 1",
        By("watching"),
    ),
    row(
        "wakepath watch --ros2 -- PROGRAM",
        "wakepath watch --ros2 -- sleep 1",
        By("ros2"),
    ),
    row(
        "wakepath watch --stacks -- PROGRAM",
        "wakepath watch --stacks -- sleep 1",
        By("stacks"),
    ),
];
