//! An archive in a bucket, served by moto.
//!
//! Several processes append at once and some are killed; it is read, swept and altered. Also a
//! server that would let two processes overwrite each other.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use wakepath_fleet_made_up::MadeUp;
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    runs_in_a_bucket_are_added_once_checked_shown_and_swept,
    controllers_at_once_lose_nothing_in_a_bucket,
    an_upload_cut_short_by_a_kill_is_invisible_and_done_again,
    a_server_that_writes_over_what_is_there_is_refused,
    a_bucket_that_can_not_be_reached_or_named_is_one_line,
];

const ARCHIVE: &str = "s3://fleet/night";

/// The short stage leaves out buckets, which need a client of HTTP and TLS.
fn built_with_buckets() {
    if !cfg!(feature = "buckets") {
        not_run("archives in buckets: built without them; the stage fleet-questions has them");
    }
}

/// A server of buckets on loopback, with one that is empty.
struct Served {
    process: Child,
    port: u16,
    scratch: tempfile::TempDir,
}

impl Served {
    fn start() -> Self {
        built_with_buckets();
        let moto = std::env::var_os("WAKEPATH_MOTO").map(PathBuf::from);
        let moto = moto.filter(|moto| moto.is_file());
        let moto = moto.unwrap_or_else(|| not_run("moto_server: not installed (WAKEPATH_MOTO)"));
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let process = Command::new(moto)
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let served = Self {
            process,
            port,
            scratch: tempfile::tempdir().unwrap(),
        };
        let end = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < end, "moto_server does not begin");
            std::thread::sleep(Duration::from_millis(50));
        }
        let said = served.asked("PUT", "/fleet", b"");
        assert!(said.starts_with("HTTP/1.1 200"), "{said}");
        served
    }

    /// The server's own answer, past the client under test.
    fn asked(&self, method: &str, path: &str, body: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Authorization: AWS4-HMAC-SHA256 Credential=a/20261101/us-east-1/s3/aws4_request, \
             SignedHeaders=host, Signature=0\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut said = Vec::new();
        stream.read_to_end(&mut said).unwrap();
        String::from_utf8_lossy(&said).into_owned()
    }

    /// The keys in the bucket.
    fn keys(&self) -> Vec<String> {
        let said = self.asked("GET", "/fleet?list-type=2", b"");
        let keys = said.split("<Key>").skip(1);
        keys.filter_map(|rest| Some(rest.split_once("</Key>")?.0.to_owned()))
            .collect()
    }

    fn path(&self) -> &Path {
        self.scratch.path()
    }

    fn fleet(&self, words: &[&str]) -> Command {
        fleet_at(self.port, self.path(), words)
    }

    fn said(&self, words: &[&str], code: i32) -> String {
        told(self.fleet(words).output().unwrap(), words, code)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn fleet_at(port: u16, place: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wakepath-fleet"));
    let (verb, rest) = words.split_first().unwrap();
    command.args([verb, "--archive", ARCHIVE]).args(rest);
    command
        .current_dir(place)
        .env("XDG_CACHE_HOME", place.join("cache"));
    for (name, value) in [
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "very-secret"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ALLOW_HTTP", "true"),
    ] {
        command.env(name, value);
    }
    command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}"));
    command
}

fn told(output: Output, words: &[&str], code: i32) -> String {
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(code), "{words:?}: {text:?}");
    let text = text.join("");
    assert!(!text.contains("very-secret"), "{text}");
    text
}

fn made_up(place: &Path, number: u64) -> String {
    let run = MadeUp::number(number);
    run.write(&place.join(&run.run_id));
    run.run_id
}

fn runs_in_a_bucket_are_added_once_checked_shown_and_swept() {
    let served = Served::start();
    let empty = served.said(&["check"], 1);
    assert!(
        empty.contains("s3://fleet/night: is not an archive"),
        "{empty}"
    );
    let [first, second] = [1, 2].map(|number| made_up(served.path(), number));
    let add = ["add", "--board", "pi5-07", &first, &second];
    let added = served.said(&add, 0);
    assert_eq!(added.matches(": added").count(), 2, "{added}");
    let again = served.said(&add, 0);
    assert_eq!(again.matches(": was there").count(), 2, "{again}");
    let whole = "2 runs: all there and as they were\n";
    assert_eq!(served.said(&["check"], 0), whole);
    served.said(&["site"], 0);
    let page = std::fs::read_to_string(served.path().join("fleet-site/index.html")).unwrap();
    assert!(page.contains("2 runs on 1 board under 1 kernel"), "{page}");

    // An object altered in the bucket is detected, even though the cache has a good copy.
    let record = served.asked("GET", &format!("/fleet/night/runs/{first}.json"), b"");
    let digest = record.split("\"histograms\":\"").nth(1).unwrap();
    let (prefix, digest) = (&digest[..2], &digest[..64]);
    let object = format!("/fleet/night/objects/{prefix}/{digest}");
    served.asked("PUT", &object, b"other");
    let altered = served.said(&["check"], 1);
    assert!(
        altered.contains(&format!("{digest} was altered")),
        "{altered}"
    );
    served.asked("DELETE", &object, b"");
    let missing = served.said(&["check"], 1);
    assert!(
        missing.contains(&format!("{digest} is missing")),
        "{missing}"
    );
    // A stranger's file among the objects.
    served.asked("PUT", "/fleet/night/objects/ab/not-ours", b"x");
    let odd = served.said(&["gc", "--dry-run"], 1);
    assert!(odd.contains("is not an object of an archive"), "{odd}");
    served.asked("DELETE", "/fleet/night/objects/ab/not-ours", b"");

    let sweep = ["gc", "--samples-before", "2027-01-01"];
    let swept = served.said(&sweep, 0);
    assert!(swept.contains("2 objects, "), "{swept}");
    assert!(
        !served.keys().iter().any(|key| key.contains("holds/")),
        "{:?}",
        served.keys()
    );
}

fn controllers_at_once_lose_nothing_in_a_bucket() {
    let served = Served::start();
    let runs: Vec<String> = (0..6).map(|n| made_up(served.path(), n)).collect();
    let controllers: Vec<Child> = (0..4)
        .map(|first| {
            // Each adds all, starting at a different one, so that they collide.
            let mut words = vec!["add", "--board", "pi5-07"];
            words.extend((0..6).map(|i| &*runs[(i + first) % 6]));
            let mut command = served.fleet(&words);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let mut added = 0;
    for controller in controllers {
        let text = told(controller.wait_with_output().unwrap(), &["add"], 0);
        added += text.matches(": added").count();
    }
    assert_eq!(added, 6, "each by one");
    let whole = "6 runs: all there and as they were\n";
    assert_eq!(served.said(&["check"], 0), whole);
    // Record, manifest, samples and histograms of each.
    assert_eq!(served.keys().len(), 24, "{:?}", served.keys());

    // Another run of a name that is there.
    let other = served.path().join("other");
    MadeUp {
        slower_by_ns: 1,
        ..MadeUp::number(1)
    }
    .write(&other);
    let refused = served.said(&["add", "--board", "pi5-07", "other"], 1);
    assert!(refused.contains("with other samples or facts"), "{refused}");
}

fn an_upload_cut_short_by_a_kill_is_invisible_and_done_again() {
    let served = Served::start();
    let run = made_up(served.path(), 1);
    // In five parts.
    let mut state = 1_u64;
    let more: Vec<u8> = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    })
    .take(40 << 20)
    .collect();
    std::fs::write(served.path().join(&run).join("trace.bin"), more).unwrap();
    let words = ["add", "--board", "pi5-07", &run];
    let mut unfinished = 0;
    for wait in [120, 240, 360, 480, 600, 720] {
        let mut controller = served
            .fleet(&words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        controller.kill().unwrap();
        controller.wait().unwrap();
        let keys = served.keys();
        let is_visible = keys.iter().any(|key| key.contains("/runs/"));
        unfinished += usize::from(!is_visible);
        if is_visible {
            served.said(&["check"], 0);
        }
    }
    assert!(unfinished > 0, "no kill came before the end");
    served.said(&words, 0);
    let whole = "1 run: all there and as they were\n";
    assert_eq!(served.said(&["check"], 0), whole);
    let objects = served
        .keys()
        .iter()
        .filter(|key| key.contains("/objects/"))
        .count();
    assert_eq!(objects, 4, "manifest, samples, events, histograms");
}

fn a_server_that_writes_over_what_is_there_is_refused() {
    let served = Served::start();
    let run = made_up(served.path(), 1);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (front, back) = (listener.local_addr().unwrap().port(), served.port);
    // A way to the server on which the condition is lost.
    std::thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let far = TcpStream::connect(("127.0.0.1", back)).unwrap();
            let ways = [
                (near.try_clone().unwrap(), far.try_clone().unwrap()),
                (far, near),
            ];
            for (mut from, mut to) in ways {
                std::thread::spawn(move || {
                    let mut some = [0; 1 << 16];
                    while let Ok(count @ 1..) = from.read(&mut some) {
                        let name = b"if-none-match";
                        let found = some[..count]
                            .windows(name.len())
                            .position(|part| part.eq_ignore_ascii_case(name));
                        if let Some(at) = found {
                            some[at] = b'x';
                        }
                        if to.write_all(&some[..count]).is_err() {
                            break;
                        }
                    }
                    let _ = to.shutdown(std::net::Shutdown::Both);
                });
            }
        }
    });
    let words = ["add", "--board", "pi5-07", &run];
    let output = fleet_at(front, served.path(), &words).output().unwrap();
    let said = told(output, &words, 1);
    assert!(said.contains("(If-None-Match)"), "{said}");
    assert!(!served.keys().iter().any(|key| key.contains("/runs/")));
}

fn a_bucket_that_can_not_be_reached_or_named_is_one_line() {
    built_with_buckets();
    let scratch = tempfile::tempdir().unwrap();
    let with = |archive: &str, endpoint: &str, allow: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wakepath-fleet"));
        command.args(["check", "--archive", archive]);
        command.env("XDG_CACHE_HOME", scratch.path());
        command
            .env("AWS_ACCESS_KEY_ID", "a")
            .env("AWS_SECRET_ACCESS_KEY", "very-secret");
        command
            .env("AWS_ENDPOINT_URL", endpoint)
            .env("AWS_ALLOW_HTTP", allow);
        let said = told(command.output().unwrap(), &[archive], 1);
        assert_eq!(said.matches('\n').count(), 1, "{said}");
        said
    };
    let without = with("s3://fleet", "http://127.0.0.1:1", "");
    assert!(without.contains("set AWS_ALLOW_HTTP=true"), "{without}");
    let odd = with("s3:///x", "https://127.0.0.1:1", "");
    assert!(odd.contains("s3://BUCKET/PREFIX"), "{odd}");
}
