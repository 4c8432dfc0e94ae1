//! Words of the verbs that sign a run and look at a signature.

use clap::Args;
use std::path::PathBuf;

/// Seal a run: sign a list of its files with their SHA-256, so that anybody can check that nothing was
/// changed, left out or added since.
#[derive(Debug, Args)]
#[command(
    after_help = "The seal is seal.dsse.json in the run's directory: an in-toto statement in a DSSE \
                        envelope.\n\nExit codes: 0 sealed, 1 error, and nothing is written.\n\nExamples:\n  \
                        ssh-keygen -t ed25519 -N '' -f board-key\n  \
                        wakepath seal --key board-key --board pi5-1\n  \
                        wakepath seal RUN --key ~/.ssh/id_ed25519.pub        ssh-agent signs"
)]
pub struct Seal {
    /// The run: its directory, its number such as `@1` in `wakepath runs`, or a part of its name [default: the
    /// latest].
    pub run: Option<PathBuf>,
    /// Ed25519 key of OpenSSH without a passphrase; or a public key (Ed25519, ECDSA on P-256), for
    /// which ssh-agent
    /// signs, if available with a TPM or token.
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The key's certificate, as `ssh-keygen -s` makes it.
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// The board that this run is from [default: this machine's host name].
    #[arg(long, value_name = "NAME")]
    pub board: Option<String>,
    /// The job that the run was ordered for, as wakepath-fleet names it.
    #[arg(long, value_name = "NAME", requires = "scenario_sha256")]
    pub job: Option<String>,
    /// SHA-256 of the scenario that was ordered with it.
    #[arg(long, value_name = "DIGEST", requires = "job")]
    pub scenario_sha256: Option<String>,
    /// As root, allow a directory that another user owns or can write to.
    #[arg(long)]
    pub trust_directory: bool,
}

/// Check a run's seal: whether its files are still those that were sealed, by a key that you trust for
/// that board.
#[derive(Debug, Args)]
#[command(
    after_help = "A trust file has the form of OpenSSH's allowed signers, a line for each key:\n  \
                        pi5-1 ssh-ed25519 AAAA...\n  \
                        pi5-* valid-before=\"20271231Z\" ssh-ed25519 AAAA...\n  \
                        * cert-authority ssh-ed25519 AAAA...\n\nExit codes: 0 verified, 1 error (no seal, no \
                        trust file), 2 not verified.\n\nExample:\n  \
                        wakepath verify RUN --trust boards.trust --board pi5-1"
)]
pub struct Verify {
    /// The run: its directory, its number such as `@1` in `wakepath runs`, or a part of its name [default: the
    /// latest].
    pub run: Option<PathBuf>,
    /// Trust file: whose keys you trust, for which boards, from when until when.
    #[arg(long, value_name = "FILE")]
    pub trust: PathBuf,
    /// The board that this run should be from; a run of another board is not verified.
    #[arg(long, value_name = "NAME")]
    pub board: Option<String>,
    /// Judge keys as of this time, such as 20261124Z [default: now].
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}
