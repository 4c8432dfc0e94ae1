//! A minimal Debian, made of the files of this machine's packages as dpkg lists them.
//!
//! It has its own database. Each script runs in a fresh copy of it, as root, without network and
//! without this machine's files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use wakepath_test_program::not_run;

/// Non-essential packages: those that a test needs and that are installed here.
const BESIDE: [&str; 8] = [
    "mount",
    "passwd",
    "libcap2-bin",
    "busybox-static",
    "python3-venv",
    "rpm",
    "qemu-user-static",
    "util-linux",
];

/// Start of every script.
const PRELUDE: &str = r#"
set -eu
export PYTHONDONTWRITEBYTECODE=1
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
cd /
wrong() { echo "WRONG: $*"; exit 1; }
# Everything on the disk but what is temporary.
state() {
    find / -xdev \( -path /tmp -o -path /proc -o -path /dev -o -path /media -o -path /var/cache \
        -o -path /var/log -o -path '/var/lib/dpkg/*' -o -path '/var/lib/rpm*' -o -name '*-' -path '/etc/*' \) -prune -o \
        -printf '%p %y %m %u %g %l\n' | sort
}
remember() { state > /tmp/before; cp /etc/passwd /tmp/passwd; }
unchanged() {
    state > /tmp/after
    diff /tmp/before /tmp/after || wrong "something is left or gone"
    cmp /etc/passwd /tmp/passwd
}
# refused WORDS COMMAND...: ends with 1 and says one line with these words.
refused() {
    words=$1
    shift
    code=0
    "$@" > /tmp/said 2>&1 || code=$?
    [ "$code" -eq 1 ] || { cat /tmp/said; wrong "ended with $code: $*"; }
    grep -q -- "$words" /tmp/said || { cat /tmp/said; wrong "not said: $words"; }
    [ "$(wc -l < /tmp/said)" -eq 1 ] || { cat /tmp/said; wrong "more than a line"; }
}
# Whether programs find the library for C by its name, wherever that was put, and what its package is there for.
has_library() {
    [ -s "$1/libwakepath.a" ] && [ -s "$1/cmake/wakepath/wakepathConfig.cmake" ] || wrong "nothing to link with in $1"
    grep -q '^Libs: -L${libdir} -lwakepath$' "$1/pkgconfig/wakepath.pc" || wrong 'what pkg-config reads'
    ldconfig -p | grep -q "libwakepath.so.1 .*$1/libwakepath.so.1\$" || wrong "not in the linker's list"
    [ ! -e /usr/bin/python3 ] || (cd / && python3 -c 'import ctypes; assert ctypes.CDLL("libwakepath.so.1").wakepath_version')
}
# Somebody who is not root. By a shell, because setpriv itself still has root's capabilities.
visitor() { setpriv --reuid 1000 --regid 1000 --clear-groups sh -c 'HOME=/home/visitor exec "$@"' sh "$@"; }
install="sh /media/release/install.sh --from /media/release"
next="sh /media/next/install.sh --from /media/next"
"#;

/// The artefacts under test, and those of the next version.
pub fn artefacts(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(directory) => PathBuf::from(directory),
        None => not_run("no artefacts: `cargo xtask test --only packages` makes them"),
    }
}

/// The version under test, from the installer's name for the archive.
pub fn version() -> String {
    let script = std::fs::read_to_string(artefacts("WAKEPATH_ARTEFACTS").join("install.sh"));
    let script = script.expect("there is an installer");
    let version = script
        .lines()
        .find_map(|line| line.strip_prefix("VERSION="));
    version.expect("the installer has a version").to_owned()
}

/// Runs a script in a fresh clean root, expects success, and returns its output.
pub fn succeeds(script: &str) -> String {
    let output = run(script);
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{}:\n{said}", output.status);
    said
}

fn run(script: &str) -> Output {
    let (release, next) = (
        artefacts("WAKEPATH_ARTEFACTS"),
        artefacts("WAKEPATH_ARTEFACTS_NEXT"),
    );
    let base = base();
    // The upper layer is in memory: nothing of a test outlives it.
    let enter = r#"
        mount -t tmpfs -o size=2g,mode=0755 tmpfs "$1/room"
        mkdir "$1/room/upper" "$1/room/work" "$1/room/root"
        mount -t overlay -o "lowerdir=$1/base,upperdir=$1/room/upper,workdir=$1/room/work" overlay "$1/room/root"
        cd "$1/room/root"
        mount -t proc proc proc
        mount -t tmpfs -o mode=1777 tmpfs tmp
        for from in release next; do
            mkdir -p "media/$from"
            mount --bind "$2" "media/$from"
            mount -o remount,bind,ro "media/$from"
            shift
        done
        exec chroot . /bin/sh -c "$2"
    "#;
    Command::new("unshare")
        .args(["--mount", "--net", "--ipc", "--uts", "--pid"])
        .args(["--fork", "--kill-child", "sh", "-euc", enter, "sh"])
        .args([base, &release, &next])
        .arg(format!("{PRELUDE}\n{script}"))
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null())
        .output()
        .expect("unshare starts")
}

/// The clean root, made once; each test gets a copy.
fn base() -> &'static Path {
    static BASE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match BASE.get_or_init(make) {
        Ok(base) => base,
        Err(why) => not_run(why),
    }
}

fn make() -> Result<PathBuf, String> {
    if !rustix::process::geteuid().is_root() {
        return Err("a clean root is entered as root alone".into());
    }
    let has = |program: &str| Path::new("/usr/bin").join(program).is_file();
    if !has("dpkg-query") || !has("unshare") {
        return Err("no packages of Debian here to make a clean root of".into());
    }
    let room = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clean-root");
    let _ = std::fs::remove_dir_all(&room);
    let base = room.join("base");
    for directory in [
        "room",
        "base/var/lib/dpkg/info",
        "base/var/lib/dpkg/updates",
    ] {
        let made = std::fs::create_dir_all(room.join(directory));
        made.map_err(|error| format!("{}: {error}", room.display()))?;
    }
    let packages: Vec<String> = Installed::read()?.closure().into_iter().collect();
    // Without documentation and translations, which nothing needs to run; /bin and its like are links
    // since Debian 12.
    let fill = r#"
        base=$1; shift
        for at in bin sbin lib lib32 lib64 libx32; do
            [ ! -L "/$at" ] || { mkdir -p "$base/usr/$at"; ln -s "usr/$at" "$base/$at"; }
        done
        dpkg-query -L "$@" | grep '^/' | grep -Ev '^/(\.|usr/share/(doc|man|locale|info)/.*)$' | sort -u |
            while read -r path; do if [ -e "$path" ] || [ -L "$path" ]; then echo "$path"; fi; done |
            tar --create --no-recursion --files-from=- 2>/dev/null | tar --extract --directory="$base" --keep-directory-symlink
        dpkg-query -s "$@" > "$base/var/lib/dpkg/status"
        touch "$base/var/lib/dpkg/available"
        for package in "$@"; do cp -a /var/lib/dpkg/info/"$package"[.:]* "$base/var/lib/dpkg/info/"; done
        dpkg --print-architecture > "$base/var/lib/dpkg/arch"
        for of in passwd group; do cp "/usr/share/base-passwd/$of.master" "$base/etc/$of"; done
        mkdir -p "$base/proc" "$base/tmp" "$base/media" "$base/root" "$base/etc/alternatives" "$base/opt" \
            "$base/home" "$base/usr/share/man/man1" "$base/usr/local/bin" "$base/usr/local/share/man"
        mkdir -p "$base/dev" && mknod -m 666 "$base/dev/null" c 1 3 && mknod -m 666 "$base/dev/zero" c 1 5
        [ -e "$base/usr/bin/awk" ] || ln -s mawk "$base/usr/bin/awk"
        chroot "$base" pwconv
        chroot "$base" grpconv
        chroot "$base" ldconfig
        chroot "$base" useradd --create-home --shell /bin/sh --uid 1000 visitor
    "#;
    let output = Command::new("sh")
        .args(["-euc", fill, "sh"])
        .arg(&base)
        .args(&packages)
        .output()
        .map_err(|error| format!("sh: {error}"))?;
    if output.status.success() {
        Ok(room)
    } else {
        Err(format!(
            "no clean root: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ))
    }
}

/// Reports the test as not run if the clean root lacks a program.
pub fn need(program: &str) {
    let base = base().join("base");
    let there = ["usr/bin", "usr/sbin", "bin", "sbin"];
    if !there.iter().any(|at| base.join(at).join(program).exists()) {
        not_run(format!("the clean root has no {program}"));
    }
}

/// The packages installed here, according to dpkg.
struct Installed {
    /// Each package's dependencies, as alternatives.
    depends: BTreeMap<String, Vec<Vec<String>>>,
    /// Virtual package names and the packages that provide them.
    provided: BTreeMap<String, String>,
    essential: BTreeSet<String>,
}

impl Installed {
    fn read() -> Result<Self, String> {
        let format = "${Package}\t${Essential}\t${Provides}\t${Pre-Depends}, ${Depends}\n";
        let output = Command::new("dpkg-query")
            .args(["--show", "--showformat", format])
            .output()
            .map_err(|error| format!("dpkg-query: {error}"))?;
        let mut installed = Self {
            depends: BTreeMap::new(),
            provided: BTreeMap::new(),
            essential: BTreeSet::new(),
        };
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [name, essential, provides, depends] = fields[..] else {
                continue;
            };
            for other in names(provides, ',') {
                installed.provided.insert(other, name.to_owned());
            }
            if essential == "yes" {
                installed.essential.insert(name.to_owned());
            }
            let depends = depends.split(',').map(|of| names(of, '|'));
            installed.depends.insert(name.to_owned(), depends.collect());
        }
        Ok(installed)
    }

    /// The essential and additional packages, with all their dependencies.
    fn closure(&self) -> BTreeSet<String> {
        let mut left: Vec<String> = self.essential.iter().cloned().collect();
        left.extend(BESIDE.map(Into::into));
        let mut closure = BTreeSet::new();
        while let Some(name) = left.pop() {
            let name = if self.depends.contains_key(&name) {
                name
            } else {
                match self.provided.get(&name) {
                    Some(stands_for) => stands_for.clone(),
                    None => continue,
                }
            };
            if closure.insert(name.clone()) {
                let known = |one: &&String| {
                    self.depends.contains_key(*one) || self.provided.contains_key(*one)
                };
                let one_of_each = self.depends[&name].iter();
                left.extend(one_of_each.filter_map(|of| of.iter().find(known)).cloned());
            }
        }
        closure
    }
}

/// `a (>= 1), b:any` as a and b.
fn names(list: &str, separator: char) -> Vec<String> {
    let name = |one: &str| {
        let one = one.trim().split([' ', ':', '(']).next().unwrap_or("");
        one.to_owned()
    };
    let names = list.split(separator).map(name);
    names.filter(|name| !name.is_empty()).collect()
}
