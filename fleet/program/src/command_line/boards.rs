//! Arguments of the verbs that do something on boards.

use clap::Args;
use std::num::NonZero;
use std::path::PathBuf;

/// Which boards.
#[derive(Debug, Args)]
pub struct Boards {
    /// Inventory of the fleet.
    #[arg(long, value_name = "FILE", default_value = "fleet.toml")]
    pub inventory: PathBuf,
    /// Boards: tag=WORD, tag!=WORD, name=NAME with `*`, or all; joined by commas.
    #[arg(long, value_name = "TERMS")]
    pub on: Vec<String>,
}

/// How boards are reached.
#[derive(Debug, Clone, Args)]
pub struct Reached {
    /// OpenSSH configuration instead of the user's own.
    #[arg(long, value_name = "FILE")]
    pub ssh_config: Option<PathBuf>,
    /// Number of boards to work on at a time.
    #[arg(long, value_name = "COUNT", default_value = "16")]
    pub at_once: NonZero<usize>,
    /// Seconds of silence after which a board counts as unreachable.
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    pub patience: NonZero<u64>,
}

/// Put the right program on boards.
#[derive(Debug, Args)]
#[command(
    after_help = "A board that is measuring is left alone.\n\nExit codes: 0 on all boards, 1 error on \
                        some.\n\nExamples:\n  \
                        wakepath-fleet push --on tag=pi5 --program wakepath-aarch64\n  \
                        wakepath-fleet push --on all --program wakepath-aarch64 --program wakepath-x86_64"
)]
pub struct Push {
    /// Which boards.
    #[command(flatten)]
    pub boards: Boards,
    /// Static program of a release, of any architecture: each board gets the one for its own.
    #[arg(long = "program", value_name = "FILE", required = true)]
    pub programs: Vec<PathBuf>,
    /// How they are reached.
    #[command(flatten)]
    pub reached: Reached,
}

/// Begin a scenario on boards. It continues there even if this program or the link fails.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 begun on all boards, 1 error or not begun on some.\n\nExamples:\n  \
                        wakepath-fleet run pi5-250hz --on 'tag=pi5'\n  \
                        wakepath-fleet run my-loop.toml --on tag=rt,tag!=old --job monday"
)]
pub struct Run {
    /// Scenario: a file, or a built-in name; on restricted accounts, a name in the board's allowed/.
    pub scenario: String,
    /// Which boards.
    #[command(flatten)]
    pub boards: Boards,
    /// Name of the job; an existing one resumes on the other boards [default:
    /// scenario and time].
    #[arg(long, value_name = "NAME")]
    pub job: Option<String>,
    /// Duration of the scenario, for a name that only boards know; `scenario check` shows it.
    #[arg(long, value_name = "SECONDS")]
    pub takes: Option<u64>,
    /// Directory of jobs and runs on this machine.
    #[arg(long, value_name = "DIR", default_value = "wakepath-fleet")]
    pub directory: PathBuf,
    /// How they are reached.
    #[command(flatten)]
    pub reached: Reached,
}

/// Do what the inventory's schedules require now, and end: begin jobs that are due, fetch ended
/// runs, and add them to the archive. A timer calls it repeatedly.
#[derive(Debug, Args)]
#[command(
    after_help = "A job is begun once, and fetched and added once, however often this is called or killed. It says \
                        what is new, and else nothing.\n\nExit codes: 0 all done that is due, 1 error, or not begun, fetched \
                        or added somewhere.\n\nExamples:\n  \
                        */5 * * * *  cd /srv/fleet && wakepath-fleet schedule     # crontab -e\n  \
                        wakepath-fleet schedule --show"
)]
pub struct Schedule {
    /// Inventory of the fleet, with its schedules.
    #[arg(long, value_name = "FILE", default_value = "fleet.toml")]
    pub inventory: PathBuf,
    /// Directory of jobs and runs on this machine.
    #[arg(long, value_name = "DIR", default_value = "wakepath-fleet")]
    pub directory: PathBuf,
    /// Do nothing; show when each is next, the state of its latest job, and missed times.
    #[arg(long)]
    pub show: bool,
    /// Print that as JSON.
    #[arg(long, requires = "show")]
    pub json: bool,
    /// Remove fetched runs from the boards.
    #[arg(long)]
    pub remove: bool,
    /// The largest run that is taken, MiB.
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub most_mib: u64,
    /// How they are reached.
    #[command(flatten)]
    pub reached: Reached,
}

/// Show a job's state: a line for each board, with the reason if it did not pass.
#[derive(Debug, Args)]
#[command(
    after_help = "A board is not asked before its run should have ended: even a login disturbs.\n\n\
                        Exit codes: 0 all passed, 1 some invalid or lost, 2 some failed, 3 some undecided or under \
                        way.\n\nExamples:\n  wakepath-fleet status\n  wakepath-fleet status monday --json"
)]
pub struct Status {
    /// Job [default: the latest].
    pub job: Option<String>,
    /// Inventory of the fleet.
    #[arg(long, value_name = "FILE", default_value = "fleet.toml")]
    pub inventory: PathBuf,
    /// Directory of jobs and runs on this machine.
    #[arg(long, value_name = "DIR", default_value = "wakepath-fleet")]
    pub directory: PathBuf,
    /// Ask boards that should be measuring too.
    #[arg(long)]
    pub ask: bool,
    /// Ask no board: show only what is known here.
    #[arg(long, conflicts_with = "ask")]
    pub offline: bool,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
    /// How they are reached.
    #[command(flatten)]
    pub reached: Reached,
}

/// Fetch ended runs, with every file's digest compared. Resumes a transfer that was cut off.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: those of `status`.\n\nExamples:\n  \
                        wakepath-fleet fetch --wait --trust boards.trust\n  \
                        wakepath-fleet fetch monday --remove")]
pub struct Fetch {
    /// Job [default: the latest].
    pub job: Option<String>,
    /// Inventory of the fleet.
    #[arg(long, value_name = "FILE", default_value = "fleet.toml")]
    pub inventory: PathBuf,
    /// Directory of jobs and runs on this machine.
    #[arg(long, value_name = "DIR", default_value = "wakepath-fleet")]
    pub directory: PathBuf,
    /// Wait until every run has ended, or should have.
    #[arg(long)]
    pub wait: bool,
    /// Accept a run only with a seal that this file trusts; see `wakepath verify`.
    #[arg(long, value_name = "FILE")]
    pub trust: Option<PathBuf>,
    /// Remove fetched runs from the boards.
    #[arg(long)]
    pub remove: bool,
    /// The largest run that is taken, MiB.
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    pub most_mib: u64,
    /// Print the outcomes as JSON.
    #[arg(long)]
    pub json: bool,
    /// How they are reached.
    #[command(flatten)]
    pub reached: Reached,
}

/// Plan, apply and take back changes to boards for the loop: `wakepath tune` on each, as root there.
#[derive(Debug, Args)]
#[command(
    after_help = "The board's account is root, or may use sudo without a password. A board that is measuring \
                        is left alone.\n\nExit codes: 0 done on all boards, 1 error on some, 3 the kernel refused some \
                        changes.\n\nExamples:\n  \
                        wakepath-fleet tune --on tag=pi5 -- plan --rate 1kHz --cpu 3\n  \
                        wakepath-fleet tune --on tag=pi5 -- apply --yes --rate 1kHz --cpu 3\n  \
                        wakepath-fleet tune --on tag=pi5 -- revert"
)]
pub struct Tune {
    /// Which boards.
    #[command(flatten)]
    pub boards: Boards,
    /// Words of `wakepath tune`.
    #[arg(last = true, required = true, value_name = "WORDS")]
    pub words: Vec<String>,
    /// How they are reached.
    #[command(flatten)]
    pub reached: Reached,
}

/// Boot another kernel once. A board that does not come back with it falls back to its usual one.
#[derive(Debug, Args)]
#[command(
    after_help = "The entry is for one boot: GRUB's grub-reboot, systemd-boot's set-oneshot, the Raspberry Pi's \
                        tryboot. `wakepath tune boot` on the board prepares one. A board that does not come back and has \
                        a place is switched off and on by labgrid-client.\n\nExit codes: 0 all boards run the kernel, 1 some \
                        do not.\n\nExamples:\n  \
                        wakepath-fleet reboot --on tag=pi5 --entry wakepath-trial --kernel 6.12.34-rt"
)]
pub struct Reboot {
    /// Which boards.
    #[command(flatten)]
    pub boards: Boards,
    /// Entry of the boot loader, by its own name; none boots as usual.
    #[arg(long, value_name = "ENTRY")]
    pub entry: Option<String>,
    /// Text that `uname -r` must contain afterwards.
    #[arg(long, value_name = "TEXT")]
    pub kernel: String,
    /// The boot loader: auto, grub, systemd-boot or tryboot.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = ["auto", "grub", "systemd-boot", "tryboot"])]
    pub loader: String,
    /// Time limit of a boot in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "300")]
    pub wait: NonZero<u64>,
    /// How they are reached.
    #[command(flatten)]
    pub reached: Reached,
}

/// Print the line of ~/.ssh/authorized_keys that restricts a board's account to the script.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 printed, 1 error.\n\nExamples:\n  \
                        wakepath-fleet authorize controller.pub --directory /home/wakepath/.wakepath-fleet")]
pub struct Authorize {
    /// Public key of the controller.
    pub key: PathBuf,
    /// wakepath's directory on the board, absolute.
    #[arg(long, value_name = "DIR")]
    pub directory: String,
}
