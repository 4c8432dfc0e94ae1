//! Boards as network namespaces with an sshd each, in a world that ends with the test. See world.sh.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;
use wakepath_fleet_made_up::MadeUp;
use wakepath_test_program::not_run;

/// User numbers of the boards' accounts: no user of this machine's, as a rule.
const FIRST_USER: u32 = 61_000;

/// Properties of a board.
#[derive(Default, Clone, Copy)]
pub struct Like {
    /// Commands of a shell, as root in the board's mount namespace, before its sshd.
    pub before: &'static str,
    /// Behaviour of its runs; see stand_in.c.
    pub behaviour: &'static str,
}

/// A world.
pub struct World {
    process: Child,
    pub place: TempDir,
    pub count: u32,
    pub sshd: PathBuf,
}

impl World {
    /// Boards `board1`, `board2` … of these kinds.
    pub fn new(kinds: &[Like]) -> Self {
        if !is_root() {
            not_run("needs root: network namespaces with an sshd each");
        }
        let sshd = sshd();
        for program in [
            "ip",
            "unshare",
            "nsenter",
            "ssh",
            "ssh-keygen",
            "flock",
            "setsid",
        ] {
            if found(program).is_none() {
                not_run(format!("{program}: not installed"));
            }
        }
        let place = tempfile::tempdir().expect("a directory");
        let here = place.path();
        open_to_all(here);
        for name in ["host", "controller"] {
            let file = here.join(name);
            let arguments = ["-q", "-t", "ed25519", "-N", "", "-f"];
            let made = Command::new("ssh-keygen")
                .args(arguments)
                .arg(&file)
                .status();
            assert!(made.expect("ssh-keygen").success());
        }
        let mut passwd =
            "root:x:0:0::/root:/bin/sh\nsshd:x:60999:60999::/run/sshd:/usr/sbin/nologin\n"
                .to_owned();
        let mut config = String::new();
        let mut inventory = String::new();
        for (kind, number) in kinds.iter().zip(1..) {
            passwd += &board(here, kind, number);
            config +=
                &format!("Host board{number}\n  HostName 10.77.{number}.2\n  User board{number}\n");
            inventory += &format!(
                "[[boards]]\nname = \"board{number}\"\naddress = \"board{number}\"\ntags = [\"{}\"]\n",
                if number % 2 == 1 { "odd" } else { "even" }
            );
        }
        let shown = here.display();
        config += &format!(
            "Host *\n  IdentityFile {shown}/controller\n  IdentitiesOnly yes\n  UserKnownHostsFile {shown}/known\n  \
             StrictHostKeyChecking accept-new\n  LogLevel ERROR\n"
        );
        fs::write(here.join("passwd"), passwd).unwrap();
        fs::write(here.join("ssh_config"), config).unwrap();
        fs::write(here.join("fleet.toml"), inventory).unwrap();
        fs::write(here.join("world.sh"), include_str!("world.sh")).unwrap();
        let count = u32::try_from(kinds.len()).unwrap();
        let mut process = Command::new("unshare")
            .args([
                "--mount",
                "--net",
                "--pid",
                "--fork",
                "--kill-child",
                "--mount-proc",
                "sh",
            ])
            .arg(here.join("world.sh"))
            .arg(here)
            .arg(count.to_string())
            .arg(&sshd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("unshare");
        let mut line = String::new();
        let mut from = BufReader::new(process.stdout.as_mut().expect("a pipe"));
        from.read_line(&mut line).unwrap();
        if line.trim() != "ready" {
            let output = process.wait_with_output().expect("its end");
            let said = String::from_utf8_lossy(&output.stderr)
                .trim()
                .replace('\n', "; ");
            not_run(format!("no network namespaces here: {said}"));
        }
        let world = Self {
            process,
            place,
            count,
            sshd,
        };
        world.await_boards();
        world
    }

    /// A path in the world's directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// A command in the world: on the controller's side of the links.
    pub fn command(&self, program: &str) -> Command {
        // unshare's child is the world's first process.
        let children = format!("/proc/{0}/task/{0}/children", self.process.id());
        let first = fs::read_to_string(children).expect("the world");
        let mut command = Command::new("nsenter");
        // Its root too: the tests can run in a changed one.
        command.args([
            "--mount",
            "--net",
            "--pid",
            "--root",
            "--target",
            first.trim(),
        ]);
        command.arg(format!("--wdns={}", self.place.path().display()));
        command.arg("--").arg(program);
        command
    }

    /// `wakepath-fleet` as the controller calls it.
    pub fn fleet(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_wakepath-fleet"));
        let (verb, rest) = arguments.split_first().expect("a verb");
        command.arg(verb);
        if *verb != "boards" {
            command.args(["--ssh-config", "ssh_config", "--patience", "8"]);
        }
        command.args(rest);
        command
    }

    /// Its end: exit code, standard output, standard error.
    pub fn told(&self, arguments: &[&str]) -> (i32, String, String) {
        ended(self.fleet(arguments).output().expect("wakepath-fleet"))
    }

    /// Runs a line of shell in the world.
    pub fn shell(&self, line: &str) -> String {
        let output = self.command("sh").args(["-c", line]).output().expect("sh");
        let (code, out, err) = ended(output);
        assert_eq!(code, 0, "{line}: {out}{err}");
        out
    }

    /// The home of a board's account.
    pub fn home(&self, number: u32) -> PathBuf {
        self.path(&format!("home{number}"))
    }

    /// Puts a real wakepath where a board's fake looks for it.
    pub fn lay(&self, program: &std::ffi::OsStr, number: u32) {
        let one = self.path("wakepath");
        if !one.exists() {
            fs::copy(program, &one).expect("a copy");
            open_to_all(&one);
        }
        std::os::unix::fs::symlink(one, self.home(number).join("wakepath")).expect("a link");
    }

    fn await_boards(&self) {
        for number in 1..=self.count {
            let line = format!(
                "for try in $(seq 200); do ssh -F ssh_config board{number} true 2>/dev/null && exit 0; sleep 0.1; done; \
                 cat board{number}.log; exit 1"
            );
            self.shell(&line);
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A board's account, home and sshd.
fn board(here: &Path, kind: &Like, number: u32) -> String {
    let user = FIRST_USER + number;
    let home = here.join(format!("home{number}"));
    fs::create_dir_all(home.join("fixture")).unwrap();
    // Runs that end as their names suggest, because outcomes come from the files.
    for (name, cycles, slower_by_ns) in [
        ("code-0", MadeUp::PASSES, 0),
        ("code-2", MadeUp::PASSES, 200_000),
        ("code-3", 100, 0),
    ] {
        let run = home.join("fixture").join(name);
        let made_up = MadeUp {
            cycles,
            slower_by_ns,
            ..MadeUp::number(number.into())
        };
        made_up.write(&run);
        for name in ["", "manifest.json", "samples.parquet"] {
            open_to_all(&run.join(name));
        }
    }
    fs::write(home.join("behaviour"), kind.behaviour).unwrap();
    for name in ["", "fixture", "behaviour"] {
        chown(home.join(name), Some(user), Some(user)).unwrap();
        open_to_all(&home.join(name));
    }
    let key = fs::read_to_string(here.join("controller.pub")).unwrap();
    fs::write(here.join(format!("keys{number}")), key).unwrap();
    open_to_all(&here.join(format!("keys{number}")));
    let shown = here.display();
    let config = format!(
        "ListenAddress 10.77.{number}.2\nHostKey {shown}/host\nAuthorizedKeysFile {shown}/keys{number}\nStrictModes no\n\
         UsePAM no\nPasswordAuthentication no\nPidFile none\nMaxStartups 100\nPrintMotd no\n"
    );
    fs::write(here.join(format!("sshd{number}")), config).unwrap();
    let home = home.display();
    let script = format!(
        "home={home} user={user} world={shown}\n{}\nexec \"$1\" -D -e -f {shown}/sshd{number}\n",
        kind.before
    );
    fs::write(here.join(format!("board{number}.sh")), script).unwrap();
    format!("board{number}:x:{user}:{user}::{home}:/bin/sh\n")
}

/// A static program in place of wakepath.
pub fn stand_in() -> &'static Path {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let directory =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stand-in-{}", std::process::id()));
        fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
        let program = directory.join("stand-in");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fleet/stand_in.c");
        let mut compiler = Command::new("cc");
        compiler
            .args(["-static", "-O1", "-o"])
            .arg(&program)
            .arg(source);
        match compiler.output() {
            Ok(output) if output.status.success() => Ok(program),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Err(format!("cc: {error}")),
        }
    });
    match built {
        Ok(program) => program,
        Err(why) => not_run(format!("no static program can be made: {why}")),
    }
}

pub fn ended(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Path of the program, which sshd needs as an absolute one.
fn sshd() -> PathBuf {
    let given = std::env::var_os("WAKEPATH_SSHD").map(PathBuf::from);
    given
        .or_else(|| found("sshd"))
        .unwrap_or_else(|| not_run("sshd: not installed (openssh-server)"))
}

fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let mut places = std::env::split_paths(&path)
        .chain(more)
        .map(|place| place.join(program));
    places.find(|place| place.is_file())
}

fn is_root() -> bool {
    let own = fs::metadata("/proc/self").map(|data| std::os::unix::fs::MetadataExt::uid(&data));
    own.is_ok_and(|user| user == 0)
}

pub fn open_to_all(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
