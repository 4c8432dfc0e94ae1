//! A real Spark cluster: one master and two workers on loopback.
//!
//! Runs with `WAKEPATH_SPARK` set to a directory with `bin/spark-submit`, which a long test sets,
//! because a JVM takes a minute.

use crate::fleet::Fleet;
use std::env;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use wakepath_fleet_made_up::MadeUp;
use wakepath_fleet_query::{Answered, Cluster, Engine, NAMED, Text, ask, named};

wakepath_test_program::tests![
    every_named_question_has_the_same_bytes_on_a_cluster,
    an_executor_killed_in_the_middle_changes_no_byte,
    what_a_cluster_can_not_answer_is_one_line,
];

struct Spark {
    home: PathBuf,
    processes: Vec<Child>,
    master: String,
}

impl Spark {
    /// Reports the test as not run if Spark isn't installed.
    fn start(scratch: &Path) -> Self {
        let Some(home) = env::var_os("WAKEPATH_SPARK").map(PathBuf::from) else {
            wakepath_test_program::not_run("WAKEPATH_SPARK names no Spark; `./test --deep` does");
        };
        if !Command::new("java")
            .arg("-version")
            .output()
            .is_ok_and(|java| java.status.success())
        {
            wakepath_test_program::not_run("there is no java");
        }
        let port = free_port();
        let mut spark = Self {
            home,
            processes: Vec::new(),
            master: format!("spark://127.0.0.1:{port}"),
        };
        let port = port.to_string();
        spark.class(
            scratch,
            "master.Master",
            &["--host", "127.0.0.1", "--port", &port, "--webui-port", "0"],
        );
        for _ in 0..2 {
            let master = spark.master.clone();
            let worker = [
                "--host",
                "127.0.0.1",
                "--cores",
                "1",
                "--memory",
                "1G",
                "--webui-port",
                "0",
                &master,
            ];
            spark.class(scratch, "worker.Worker", &worker);
        }
        spark
    }

    fn class(&mut self, scratch: &Path, class: &str, arguments: &[&str]) {
        let child = Command::new(self.home.join("bin/spark-class"))
            .arg(format!("org.apache.spark.deploy.{class}"))
            .args(arguments)
            .env("SPARK_LOCAL_IP", "127.0.0.1")
            .env("SPARK_WORKER_DIR", scratch.join("spark-work"))
            .env("SPARK_NO_DAEMONIZE", "1")
            .current_dir(scratch)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.processes.push(child);
    }

    fn engine(&self, settings: &[&str]) -> Engine {
        let mut all = vec![
            "spark.driver.host=127.0.0.1".to_owned(),
            "spark.driver.bindAddress=127.0.0.1".to_owned(),
            "spark.ui.enabled=false".to_owned(),
            "spark.executor.memory=512m".to_owned(),
            "spark.sql.shuffle.partitions=4".to_owned(),
        ];
        all.extend(settings.iter().map(|setting| (*setting).to_owned()));
        Engine::Spark(Cluster {
            master: self.master.clone(),
            submit: self.home.join("bin/spark-submit"),
            settings: all,
        })
    }
}

impl Drop for Spark {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

fn both(fleet: &Fleet, sql: &str, engine: &Engine) -> [Answered; 2] {
    let text = Text::new(sql).unwrap();
    let tables = fleet.tables(&text);
    [&Engine::Embedded, engine].map(|engine| ask(&tables, &text, engine).unwrap())
}

fn every_named_question_has_the_same_bytes_on_a_cluster() {
    let fleet = Fleet::new();
    let spark = Spark::start(fleet.path());
    let engine = spark.engine(&[]);
    let own = "SELECT board, kernel, AVG(CAST(p999_ns AS DOUBLE)) AS mean, COUNT(*) > 2 AS several \
               FROM conditions JOIN runs USING (run) GROUP BY board, kernel ORDER BY board, kernel";
    for sql in NAMED.iter().map(|named| named.sql).chain([own]) {
        let [here, there] = both(&fleet, sql, &engine);
        assert!(!here.answer.rows.is_empty(), "{sql}");
        assert_eq!(here.answer.to_csv(), there.answer.to_csv(), "{sql}");
        assert_eq!(here.answer.to_json(), there.answer.to_json(), "{sql}");
        assert_eq!(here.checked, there.checked);
    }
}

/// The executors of this test's own cluster: they work below its directory.
fn executors(scratch: &Path) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(process) = entry.file_name().to_string_lossy().parse::<u32>() else {
            continue;
        };
        let place = std::fs::read_link(format!("/proc/{process}/cwd")).unwrap_or_default();
        let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let is_executor = String::from_utf8_lossy(&line).contains("CoarseGrainedExecutorBackend");
        if is_executor && place.starts_with(scratch) {
            found.push(process);
        }
    }
    found
}

fn an_executor_killed_in_the_middle_changes_no_byte() {
    let mut fleet = Fleet::new();
    fleet.add(
        "c",
        MadeUp {
            cycles: 400_000,
            ..MadeUp::number(77)
        },
    );
    let spark = Spark::start(fleet.path());
    let engine = spark.engine(&[]);
    let text = Text::new(named("sample-quantiles").unwrap().sql).unwrap();
    let tables = fleet.tables(&text);
    let here = ask(&tables, &text, &Engine::Embedded).unwrap();
    let (there, killed) = std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&tables, &text, &engine));
        let began = Instant::now();
        let mut killed = 0;
        // The first one found, after it has begun its work.
        while killed == 0 && began.elapsed() < Duration::from_secs(240) && !asked.is_finished() {
            if let Some(&executor) = executors(fleet.path()).first() {
                std::thread::sleep(Duration::from_millis(1500));
                let done = Command::new("kill")
                    .args(["-9", &executor.to_string()])
                    .status();
                killed += u32::from(done.is_ok_and(|done| done.success()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        (asked.join().unwrap(), killed)
    });
    assert_eq!(killed, 1, "no executor was there to be killed");
    assert_eq!(here.answer.to_csv(), there.unwrap().answer.to_csv());
}

fn what_a_cluster_can_not_answer_is_one_line() {
    let fleet = Fleet::new();
    let spark = Spark::start(fleet.path());
    let text = Text::new("SELECT nothing FROM runs").unwrap();
    let said = ask(&fleet.tables(&text), &text, &spark.engine(&[]))
        .unwrap_err()
        .to_string();
    assert!(
        said.starts_with("Spark says: ") && !said.contains('\n'),
        "{said}"
    );
    assert!(said.contains("nothing"), "{said}");
}
