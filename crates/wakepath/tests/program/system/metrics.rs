//! The state of a run in progress as OpenMetrics: read strictly, collected by a real Prometheus, and
//! undisturbed by hostile clients.

use crate::started::{Place, Running, Start, cpus, loop_cpu, not_run, tasks_of, wait_until};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

wakepath_test_program::tests![
    a_run_is_served_strictly_while_hostile_clients_press_and_off_the_measured_cpu,
    a_real_prometheus_collects_a_run,
    an_address_that_cannot_be_served_is_refused_before_anything_is_measured,
];

fn started(duration: &str) -> Running {
    let scenario = format!(
        "rate = \"250 Hz\"\nduration = \"{duration}\"\nwarm-up = \"100 ms\"\n\
         policies = [\"OTHER\", \"OTHER nice 5\"]\ncpu = {}\nphases = [{{ name = \"idle\" }}]\n\
         criterion = {{ miss-fraction = \"90 %\" }}\n",
        loop_cpu()
    );
    Start::scenario(&scenario).with(&["--metrics", "0"]).start()
}

/// The address that it prints for its metrics.
fn address(running: &Running) -> SocketAddr {
    let mut found = None;
    wait_until("the address", || {
        let said = running.complaints();
        let at = said
            .lines()
            .find_map(|line| line.strip_prefix("metrics: http://"));
        let at = at.and_then(|rest| rest.strip_suffix("/metrics"));
        found = at.and_then(|at| at.parse().ok());
        found.is_some()
    });
    found.unwrap()
}

/// The body of an answer; `None` where nobody answers any more.
fn asked(address: SocketAddr, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    Some(body.to_owned())
}

/// Samples by name and labels, after the rules of OpenMetrics 1.0 that a text can break.
fn strictly(text: &str) -> BTreeMap<String, f64> {
    assert!(text.ends_with("# EOF\n"), "{text}");
    let mut families = BTreeSet::new();
    let (mut family, mut kind) = (String::new(), String::new());
    let mut samples = BTreeMap::new();
    for line in text.lines() {
        assert!(!line.is_empty() && line.trim() == line, "{line:?}");
        if line == "# EOF" {
            family = "# EOF".into();
            continue;
        }
        assert_ne!(family, "# EOF", "{line:?} after the end");
        if let Some(rest) = line.strip_prefix("# ") {
            let words: Vec<&str> = rest.splitn(3, ' ').collect();
            match words[..] {
                ["TYPE", name, of] => {
                    assert!(families.insert(name.to_owned()), "{name} twice");
                    (family, kind) = (name.into(), of.into());
                }
                ["UNIT", name, unit] => {
                    assert_eq!(name, family);
                    assert!(name.ends_with(&format!("_{unit}")), "{line:?}");
                }
                ["HELP", name, help] => assert!(name == family && !help.is_empty()),
                _ => panic!("{line:?}"),
            }
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line:?}"));
        let (bare, labels) = match name.split_once('{') {
            Some((bare, labels)) => (bare, labels.strip_suffix('}').unwrap()),
            None => (name, ""),
        };
        let suffix = bare
            .strip_prefix(&family)
            .unwrap_or_else(|| panic!("{line:?} in {family}"));
        let allowed: &[&str] = match &*kind {
            "counter" => &["_total"],
            "histogram" => &["_bucket", "_count", "_sum"],
            "info" => &["_info"],
            "gauge" => &[""],
            other => panic!("{other}"),
        };
        assert!(allowed.contains(&suffix), "{line:?} of a {kind}");
        assert!(kind != "counter" || value >= 0.0, "{line:?}");
        let mut names = BTreeSet::new();
        for label in labels.split("\",").filter(|label| !label.is_empty()) {
            let (label, _) = label
                .split_once("=\"")
                .unwrap_or_else(|| panic!("{line:?}"));
            assert!(
                label.chars().all(|c| c.is_ascii_lowercase() || c == '_'),
                "{line:?}"
            );
            assert!(names.insert(label), "{label} twice in {line:?}");
        }
        assert!(
            samples.insert(name.to_owned(), value).is_none(),
            "{line:?} twice"
        );
    }
    assert_eq!(family, "# EOF");
    // Buckets add up.
    for (name, value) in &samples {
        if let Some(rest) = name.strip_prefix("wakepath_live_wake_up_latency_seconds_count") {
            let own = rest.trim_end_matches('}');
            let prefix = format!("wakepath_live_wake_up_latency_seconds_bucket{own},le=\"");
            let edge = |name: &str| {
                let edge = name.strip_prefix(&prefix)?.strip_suffix("\"}")?;
                Some(if edge == "+Inf" {
                    f64::INFINITY
                } else {
                    edge.parse().unwrap()
                })
            };
            let mut buckets: Vec<(f64, f64)> = samples
                .iter()
                .filter_map(|(name, count)| Some((edge(name)?, *count)))
                .collect();
            buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert!(
                buckets.windows(2).all(|two| two[0].1 <= two[1].1),
                "{buckets:?}"
            );
            assert_eq!(buckets.last().unwrap(), &(f64::INFINITY, *value));
        }
    }
    samples
}

fn cycles(samples: &BTreeMap<String, f64>) -> f64 {
    let name = "wakepath_live_cycles_total{policy=\"OTHER nice 0\",phase=\"idle\"}";
    samples.get(name).copied().unwrap_or(0.0)
}

fn a_run_is_served_strictly_while_hostile_clients_press_and_off_the_measured_cpu() {
    let running = started("4 s");
    let address = address(&running);
    // Some say nothing, one never ends, one takes nothing of what it is answered.
    let silent: Vec<_> = (0..40)
        .filter_map(|_| TcpStream::connect(address).ok())
        .collect();
    let greedy = TcpStream::connect(address).unwrap();
    let _ = (&greedy).write_all(b"GET /metrics HTTP/1.1\r\n\r\n");
    let endless = TcpStream::connect(address).unwrap();
    let _ = (&endless).write_all(&[b'x'; 5000]);
    let mut served = Vec::new();
    let mut threads = Vec::new();
    while let Some(text) = asked(address, "/metrics") {
        let samples = strictly(&text);
        if cycles(&samples) > 0.0 {
            threads = tasks_of(running.main());
        }
        served.push(samples);
        std::thread::sleep(Duration::from_millis(100));
    }
    drop((silent, greedy, endless));
    let finished = running.finish();
    finished.assert_code(0);
    let counts: Vec<f64> = served.iter().map(cycles).collect();
    assert!(counts.windows(2).all(|two| two[0] <= two[1]), "{counts:?}");
    let written = finished.run().manifest.thread(0, 0).unwrap().recorded as f64;
    let last = counts.last().copied().unwrap_or(0.0);
    assert!(last > 0.0 && last <= written, "{last} of {written}");
    let remaining = "wakepath_live_remaining_seconds";
    assert!(
        served
            .iter()
            .any(|of| of.get(remaining).is_some_and(|&left| left > 0.0))
    );
    let serving = threads.iter().find(|task| task.name == "metrics");
    let serving = serving.unwrap_or_else(|| panic!("{threads:?}"));
    assert_eq!((serving.policy, serving.nice), (0, 0), "{serving:?}");
    if cpus().len() > 1 {
        assert_ne!(
            serving.cpus,
            loop_cpu().to_string(),
            "it may run on the measured CPU"
        );
        let list: wakepath_timeline::CpuSet = serving.cpus.parse().unwrap();
        assert!(!list.contains(loop_cpu()), "{serving:?}");
    }
}

fn an_address_that_cannot_be_served_is_refused_before_anything_is_measured() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().port().to_string();
    for (address, part) in [
        (":9464", "give a port of this machine, such as 9464"),
        ("prometheus", "give a port"),
        (
            "203.0.113.7:9464",
            "this machine does not have that address",
        ),
        (&*taken, "another port is free"),
    ] {
        let finished = Start::command(&["check", "--quick", "--metrics", address]).finish();
        finished.assert_code(1);
        let said = &finished.complaints;
        assert_eq!(
            said.lines()
                .filter(|line| !line.starts_with("note: "))
                .count(),
            1,
            "{said}"
        );
        assert!(said.contains(part), "{part}: {said}");
        assert!(!finished.place.path().join("wakepath-runs").exists());
    }
}

/// A Prometheus of its own; it ends with the value.
struct Prometheus {
    child: Child,
    address: SocketAddr,
}

impl Prometheus {
    fn collecting(place: &Place, target: SocketAddr) -> Option<Self> {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let terms = format!(
            "global: {{ scrape_interval: 300ms, scrape_timeout: 300ms }}\n\
             scrape_configs: [{{ job_name: wakepath, static_configs: [{{ targets: ['{target}'] }}] }}]\n"
        );
        std::fs::write(place.path().join("prometheus.yml"), terms).unwrap();
        let child = Command::new("prometheus")
            .args([
                "--config.file=prometheus.yml",
                "--storage.tsdb.path=collected",
            ])
            .arg(format!("--web.listen-address={address}"))
            .current_dir(place.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let child = child.ok()?;
        Some(Self { child, address })
    }

    fn asked(&self, query: &str) -> Option<serde_json::Value> {
        let mut escaped = String::new();
        for byte in query.bytes() {
            escaped += &format!("%{byte:02x}");
        }
        let mut stream = TcpStream::connect(self.address).ok()?;
        // HTTP/1.0: an answer in one piece.
        let request = format!("GET /api/v1/query?query={escaped} HTTP/1.0\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        let answer: serde_json::Value = serde_json::from_str(body).ok()?;
        answer["data"]["result"].get(0).cloned()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // One that has ended needs no kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn a_real_prometheus_collects_a_run() {
    let what = "collecting a run";
    let found = Command::new("prometheus").arg("--version").output();
    if found.is_err() {
        not_run(what, "there is no prometheus here");
    }
    let running = started("16 s");
    let target = address(&running);
    let place = Place::new();
    let Some(prometheus) = Prometheus::collecting(&place, target) else {
        not_run(what, "prometheus can't be started");
    };
    let mut median = None;
    wait_until("a collected median", || {
        let query =
            "histogram_quantile(0.5, wakepath_live_wake_up_latency_seconds_bucket{phase=\"idle\"})";
        let value = prometheus.asked(query);
        median = value.and_then(|of| of["value"][1].as_str()?.parse::<f64>().ok());
        median.is_some_and(|median| median > 0.0)
    });
    // A bucket's inside: a latency between none and the largest edge.
    assert!(median.unwrap() < 1.0, "{median:?}");
    let up = prometheus.asked("up{job=\"wakepath\"}").unwrap();
    assert_eq!(up["value"][1], "1", "{up}");
    let info = prometheus.asked("wakepath_live_run_info").unwrap();
    let measured = info["metric"]["measured"].as_str().unwrap();
    assert!(measured.contains("test"), "{info}");
    let counted = "wakepath_live_cycles_total{policy=\"OTHER nice 0\"} > 0";
    assert!(prometheus.asked(counted).is_some());
    running.signal(rustix::process::Signal::INT);
    running.finish().assert_code(3);
}
