//! `serve`, over a socket like a browser: pages, a run's report, and refusals.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use wakepath_fleet_made_up::MadeUp;
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    pages_are_served_here_and_nothing_else_is,
    a_run_leads_to_its_report,
    readers_that_are_slow_or_hostile_keep_no_other_out_for_long,
];

/// A server that ends with the test.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn new(scratch: &Path, more: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_wakepath-fleet"))
            .args(["serve", "--address", "127.0.0.1:0"])
            .args(more)
            .current_dir(scratch)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(process.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap();
        let address = address.trim_end_matches('/').to_owned();
        Self { process, address }
    }

    /// Status and body.
    fn asked(&self, head: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).and_then(|word| word.parse().ok());
        (status.unwrap_or_else(|| panic!("{answer}")), answer)
    }

    fn get(&self, path: &str) -> (u16, String) {
        let host = &self.address;
        self.asked(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// An archive with one run of one board.
fn archive(scratch: &Path) {
    let run = MadeUp::number(1);
    run.write(&scratch.join(&run.run_id));
    let added = Command::new(env!("CARGO_BIN_EXE_wakepath-fleet"))
        .args(["add", "--board", "pi5-07", &run.run_id])
        .current_dir(scratch)
        .output()
        .unwrap();
    assert!(added.status.success(), "{added:?}");
}

fn pages_are_served_here_and_nothing_else_is() {
    let scratch = tempfile::tempdir().unwrap();
    archive(scratch.path());
    let server = Server::new(scratch.path(), &["--program", "nowhere/wakepath"]);
    for path in ["/", "/index.html", "/?again"] {
        let (status, page) = server.get(path);
        assert_eq!(status, 200, "{page}");
        assert!(page.contains("1 run on 1 board under 1 kernel"), "{page}");
    }
    let (status, board) = server.get("/board/pi5-07.html");
    assert_eq!(status, 200);
    assert!(board.contains("../report/2026-00000001.html"), "{board}");
    for path in [
        "/board/pi5-08.html",
        "/board/../../etc/passwd.html",
        "/report/%2e%2e.html",
        "/report/2026-00000002.html",
        "//etc/passwd",
        "/fleet-archive/runs/2026-00000001.json",
        "/board/.html",
    ] {
        assert_eq!(server.get(path).0, 404, "{path}");
    }
    // The page gives the reason why there is no report.
    let (status, said) = server.get("/report/2026-00000001.html");
    assert_eq!(status, 500);
    assert!(said.contains("nowhere/wakepath: No such file"), "{said}");
    let posted = server.asked("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(posted.0, 405);
    // Another domain that resolves to this server.
    let rebound = server.asked("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert_eq!(rebound.0, 403);
    assert!(!rebound.1.contains("pi5-07"), "{}", rebound.1);
    assert_eq!(server.asked("nonsense\r\n\r\n").0, 400);
    let head = server.asked("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(head.0 == 200 && head.1.ends_with("\r\n\r\n"), "{}", head.1);
}

fn readers_that_are_slow_or_hostile_keep_no_other_out_for_long() {
    let scratch = tempfile::tempdir().unwrap();
    archive(scratch.path());
    let mut server = Server::new(scratch.path(), &["--program", "nowhere/wakepath"]);
    // As many clients as are served at once, each sending an endless header slowly.
    let slow: Vec<TcpStream> = (0..32)
        .map(|_| TcpStream::connect(&server.address).unwrap())
        .collect();
    let began = Instant::now();
    let end = Duration::from_secs(30);
    let mut refused = 0;
    let host = server.address.clone();
    let page = loop {
        for mut stream in &slow {
            let _ = stream.write_all(b"G");
        }
        let mut stream = TcpStream::connect(&server.address).unwrap();
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let mut answer = String::new();
        let asked = stream.write_all(request.as_bytes());
        let read = asked.and_then(|()| stream.read_to_string(&mut answer));
        if read.is_ok() && answer.starts_with("HTTP/1.1 200") {
            break answer;
        }
        refused += 1;
        assert!(began.elapsed() < end, "they keep the others out");
        std::thread::sleep(Duration::from_millis(300));
    };
    assert!(refused > 0, "they were not in the way");
    assert!(page.contains("1 run on 1 board"), "{page}");
    // Heads without end, and readers that leave: nobody answers, nothing ends.
    for _ in 0..100 {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        let _ = stream.write_all(&[b'x'; 20 << 10]);
    }
    for bytes in [
        &b"\xff\xfe\r\n\r\n"[..],
        b"GET\0 / HTTP/1.1\r\n\r\n",
        b"\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        let _ = stream.write_all(bytes);
    }
    drop(slow);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(server.get("/board/pi5-07.html").0, 200);
    assert!(server.process.try_wait().unwrap().is_none());
}

fn a_run_leads_to_its_report() {
    let Some(wakepath) = std::env::var_os("WAKEPATH_BINARY") else {
        not_run("WAKEPATH_BINARY names no released program");
    };
    let wakepath = wakepath.to_str().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    archive(scratch.path());
    let server = Server::new(scratch.path(), &["--program", wakepath]);
    let (status, page) = server.get("/report/2026-00000001.html");
    assert_eq!(status, 200, "{page}");
    // The report has the run's worst cycles, and its policy.
    assert!(page.contains("id=\"causes-0\"") && page.contains("FIFO 80"));
    let written = Command::new(env!("CARGO_BIN_EXE_wakepath-fleet"))
        .args(["site", "--reports", "1", "--program", wakepath])
        .current_dir(scratch.path())
        .output()
        .unwrap();
    assert!(written.status.success(), "{written:?}");
    let site = scratch.path().join("fleet-site");
    let report = std::fs::read_to_string(site.join("report/2026-00000001.html")).unwrap();
    assert!(report.contains("id=\"causes-0\""));
    let board = std::fs::read_to_string(site.join("board/pi5-07.html")).unwrap();
    assert!(board.contains("<a href=\"../report/2026-00000001.html\">"));
}
