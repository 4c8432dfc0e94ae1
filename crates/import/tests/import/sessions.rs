//! Sessions of LTTng written field by field: two of one node, calls that both recorded, and the kernel's.

use std::collections::BTreeMap;
use wakepath_import::{Asked, Form, ImportError, Imported, Part, Values};
use wakepath_timeline::What;

const MS: u64 = 1_000_000;
const PROCESS: u32 = 40;
const KERNEL: &[(&str, &str)] = &[(
    "sched_switch",
    "u32 _prev_tid; s32 _prev_prio; s64 _prev_state; u32 _next_tid; s32 _next_prio; string _prev_comm; string _next_comm;",
)];
const PROGRAM: &[(&str, &str)] = &[
    (
        "ros2:rcl_node_init",
        "u64 _node_handle; string _node_name; string _namespace;",
    ),
    ("ros2:rcl_timer_init", "u64 _timer_handle; s64 _period;"),
    (
        "ros2:rclcpp_timer_callback_added",
        "u64 _timer_handle; u64 _callback;",
    ),
    (
        "ros2:rclcpp_timer_link_node",
        "u64 _timer_handle; u64 _node_handle;",
    ),
    (
        "ros2:callback_start",
        "u64 _callback; s32 _is_intra_process;",
    ),
    ("ros2:callback_end", "u64 _callback;"),
];

/// A value of an event's field.
enum Of<'a> {
    U64(u64),
    U32(u32),
    Text(&'a str),
}

/// One trace of a session: its description and its stream.
struct Session {
    domain: &'static str,
    boot: &'static str,
    process: u32,
    events: Vec<(u64, u32, Vec<u8>)>,
}

impl Session {
    fn new(domain: &'static str) -> Self {
        Self {
            domain,
            boot: "11111111-2222-3333-4444-555555555555",
            process: PROCESS,
            events: Vec::new(),
        }
    }

    fn known(&self) -> &'static [(&'static str, &'static str)] {
        match self.domain {
            "kernel" => KERNEL,
            _ => PROGRAM,
        }
    }

    /// An event of a thread of the process.
    fn event(&mut self, at_ns: u64, thread: u32, name: &str, fields: &[Of<'_>]) {
        let number = self.known().iter().position(|(known, _)| *known == name);
        let mut bytes = Vec::new();
        if self.domain == "ust" {
            bytes.extend(self.process.to_le_bytes());
            bytes.extend(thread.to_le_bytes());
        }
        for field in fields {
            match field {
                Of::U64(value) => bytes.extend(value.to_le_bytes()),
                Of::U32(value) => bytes.extend(value.to_le_bytes()),
                Of::Text(text) => bytes.extend([text.as_bytes(), &[0]].concat()),
            }
        }
        let number = u32::try_from(number.unwrap()).unwrap();
        self.events.push((at_ns, number, bytes));
    }

    /// A run of a callback.
    fn run(&mut self, from_ns: u64, to_ns: u64, thread: u32, callback: u64) {
        let start = [Of::U64(callback), Of::U32(0)];
        self.event(from_ns, thread, "ros2:callback_start", &start);
        self.event(to_ns, thread, "ros2:callback_end", &start[..1]);
    }

    fn parts(mut self, folder: &str) -> [Part; 2] {
        self.events.sort_by_key(|(at_ns, ..)| *at_ns);
        let context = match self.domain {
            "ust" => "event.context := struct { u32 _vpid; u32 _vtid; };",
            _ => "",
        };
        let mut metadata = format!(
            "/* CTF 1.8 */
typealias integer {{ size = 32; align = 8; signed = false; }} := u32;
typealias integer {{ size = 64; align = 8; signed = false; }} := u64;
typealias integer {{ size = 32; align = 8; signed = true; }} := s32;
typealias integer {{ size = 64; align = 8; signed = true; }} := s64;
trace {{ major = 1; minor = 8; byte_order = le; packet.header := struct {{ u32 magic; u32 stream_id; }}; }};
env {{ domain = \"{}\"; }};
clock {{ name = \"monotonic\"; uuid = \"{}\"; freq = 1000000000; }};
typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }} := stamp;
stream {{ id = 0; packet.context := struct {{ u64 content_size; u64 packet_size; u32 cpu_id; }};
event.header := struct {{ u32 id; stamp timestamp; }}; {context} }};\n",
            self.domain, self.boot
        );
        for (number, (name, fields)) in self.known().iter().enumerate() {
            metadata += &format!(
                "event {{ name = \"{name}\"; id = {number}; stream_id = 0; fields := struct {{ {fields} }}; }};\n"
            );
        }
        let mut body = Vec::new();
        for (at_ns, number, bytes) in &self.events {
            body.extend(number.to_le_bytes());
            body.extend(at_ns.to_le_bytes());
            body.extend(bytes);
        }
        let bits = (body.len() as u64 + 28) * 8;
        let mut stream = Vec::new();
        stream.extend(0xc1fc_1fc1_u32.to_le_bytes());
        stream.extend(0_u32.to_le_bytes());
        stream.extend(bits.to_le_bytes());
        stream.extend(bits.to_le_bytes());
        stream.extend(0_u32.to_le_bytes());
        stream.extend(body);
        let part = |name: &str, bytes: Vec<u8>| Part {
            path: format!("{folder}/{name}"),
            bytes,
        };
        [
            part("metadata", metadata.into_bytes()),
            part("stream", stream),
        ]
    }
}

/// A node `pilot` with timers of 10 ms and 1 s, callbacks 100 and 200.
fn made(session: &mut Session) {
    let node = [Of::U64(1), Of::Text("pilot"), Of::Text("/")];
    session.event(MS, 41, "ros2:rcl_node_init", &node);
    for (timer, period_ns, callback) in [(10, 10 * MS, 100), (20, 1000 * MS, 200)] {
        let both = |other: u64| [Of::U64(timer), Of::U64(other)];
        for (name, other) in [
            ("ros2:rcl_timer_init", period_ns),
            ("ros2:rclcpp_timer_callback_added", callback),
            ("ros2:rclcpp_timer_link_node", 1),
        ] {
            session.event(2 * MS, 41, name, &both(other));
        }
    }
}

/// The due times `which` of the timer of 10 ms, each served at once.
fn control(session: &mut Session, which: std::ops::Range<u64>, after_ns: u64) {
    for due in which {
        let at_ns = 2 * MS + due * 10 * MS + after_ns;
        session.run(at_ns, at_ns + MS, 41, 100);
    }
}

fn read(sessions: impl IntoIterator<Item = [Part; 2]>) -> Result<Imported, ImportError> {
    let parts: Vec<Part> = sessions.into_iter().flatten().collect();
    let form = Form::of_directory(&parts).unwrap();
    assert_eq!(form.word(), "ros2");
    form.read_directory(&parts, &Asked::default())
}

fn samples(found: &Imported) -> BTreeMap<u64, i64> {
    let Values::Row(row) = &found.threads[0].values else {
        panic!("{found:?}");
    };
    let all = row.samples.iter();
    all.map(|of| (of.cycle, of.latency_ns())).collect()
}

#[test]
fn a_later_session_has_the_names_of_the_one_before() {
    let (mut first, mut second) = (Session::new("ust"), Session::new("ust"));
    made(&mut first);
    control(&mut first, 1..21, 5_000);
    control(&mut second, 31..51, 7_000);
    let found = read([first.parts("a/ust"), second.parts("b/ust")]).unwrap();
    assert_eq!(found.threads.len(), 1);
    assert_eq!(found.threads[0].name, "pilot 10 ms");
    let samples = samples(&found);
    assert_eq!(samples.len(), 40);
    assert_eq!(
        (samples[&0], samples[&19], samples[&49]),
        (5_000, 5_000, 7_000)
    );
}

#[test]
fn a_call_that_two_sessions_recorded_is_one() {
    let (mut first, mut second) = (Session::new("ust"), Session::new("ust"));
    for session in [&mut first, &mut second] {
        made(session);
    }
    control(&mut first, 1..31, 5_000);
    // It records a little later, and from the middle to beyond the end of the other.
    control(&mut second, 20..41, 6_000);
    let samples = samples(&read([first.parts("a/ust"), second.parts("b/ust")]).unwrap());
    assert_eq!(samples.len(), 40);
    assert_eq!((samples[&24], samples[&35]), (5_000, 6_000));
}

#[test]
fn sessions_of_two_runs_of_a_program_are_refused_with_what_to_choose() {
    let run = |process, which| {
        let mut session = Session::new("ust");
        session.process = process;
        made(&mut session);
        control(&mut session, which, 5_000);
        session
    };
    let (first, second) = (run(40, 1..21), run(50, 101..121));
    // Both are as long as their processes ran.
    let later = |mut session: Session| {
        session.events.retain(|(at_ns, ..)| *at_ns > 500 * MS);
        session
    };
    let both = [first.parts("before/ust"), later(second).parts("after/ust")];
    let said = read(both).unwrap_err().to_string();
    assert!(said.contains("import one of them: before, after"), "{said}");
    assert_eq!(said.lines().count(), 1);
    // Nodes that ran at the same time are one measurement, though each session has its own.
    let both = [run(40, 1..21), run(50, 11..31)];
    let [one, other] = both;
    assert!(read([one.parts("a/ust"), other.parts("b/ust")]).is_ok());
}

#[test]
fn sessions_of_another_boot_are_refused_in_one_line() {
    let (mut first, mut second) = (Session::new("ust"), Session::new("ust"));
    second.boot = "99999999-2222-3333-4444-555555555555";
    made(&mut first);
    control(&mut first, 1..21, 5_000);
    control(&mut second, 31..51, 7_000);
    let refused = read([first.parts("a/ust"), second.parts("b/ust")]);
    let said = refused.unwrap_err().to_string();
    assert!(
        said.starts_with("b/ust/metadata: was recorded on another machine"),
        "{said}"
    );
    assert!(said.contains("a/ust/metadata"), "{said}");
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn the_kernels_events_are_between_the_calls() {
    let (mut program, mut kernel) = (Session::new("ust"), Session::new("kernel"));
    made(&mut program);
    control(&mut program, 1..21, 5_000);
    let switch = |kernel: &mut Session, at_ns, from: u32, to: u32| {
        let fields = [
            Of::U32(from),
            Of::U32(20),
            Of::U64(1),
            Of::U32(to),
            Of::U32(20),
            Of::Text("a"),
            Of::Text("b"),
        ];
        kernel.event(at_ns, 0, "sched_switch", &fields);
    };
    switch(&mut kernel, 50 * MS, 41, 0);
    switch(&mut kernel, 51 * MS, 0, 41);
    let lacks = |found: &Imported| {
        let mut all = found.lacks.iter().map(|lack| lack.text());
        all.any(|text| text.contains("record sched_switch"))
    };
    let mut alone = Session::new("ust");
    made(&mut alone);
    control(&mut alone, 1..21, 5_000);
    let alone = read([alone.parts("s/ust")]).unwrap();
    assert!(lacks(&alone) && alone.trace.is_none());
    let found = read([kernel.parts("s/kernel"), program.parts("s/ust")]).unwrap();
    assert!(!lacks(&found));
    let (events, processes) = found.ros2_calls().unwrap();
    assert_eq!(processes, &BTreeMap::from([(41, PROCESS)]));
    let is_switch = |what: &What| matches!(what, What::Switch { .. });
    let switches = events.iter().filter(|event| is_switch(&event.what));
    assert_eq!(switches.count(), 2);
    let times: Vec<u64> = events.iter().map(|event| event.at_ns).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(found.threads[0].number, Some(41));
}

#[test]
fn callbacks_without_a_timer_are_no_task() {
    let mut session = Session::new("ust");
    for at in 0..20 {
        session.run(at * MS, at * MS + 1_000, 41, 300);
    }
    let found = read([session.parts("s/ust")]).unwrap();
    assert!(found.threads.is_empty());
    assert_eq!(found.ros2_calls().unwrap().0.len(), 40);
    let empty = read([Session::new("ust").parts("s/ust")]).unwrap_err();
    assert!(empty.to_string().contains("holds no callback"), "{empty}");
}
