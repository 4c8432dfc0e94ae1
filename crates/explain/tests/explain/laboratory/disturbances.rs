//! What disturbs the loop on purpose, and knows when it did.

use super::{PAGES, spin, touch};
use std::net::UdpSocket;
use std::sync::Mutex;
use std::time::Duration;
use wakepath_rt::{Preparation, clock};
use wakepath_timeline::Policy;

/// The loop that is running, to be disturbed.
pub struct Running {
    pub loop_cpu: u16,
    pub(super) other_cpu: u16,
    pub(super) chunks: Mutex<Vec<(u64, u64)>>,
}

impl Running {
    /// Only waits.
    pub fn wait(&self, time: Duration) -> Vec<(u64, u64)> {
        std::thread::sleep(time);
        Vec::new()
    }

    /// A thread that takes the loop's CPU for a time, several times; returns when it did.
    pub fn hog(&self, policy: Policy, time: Duration, times: usize) -> Vec<(u64, u64)> {
        self.on_the_loop_s_cpu(policy, move || {
            let mut taken = Vec::with_capacity(times + 2);
            for number in 0..times + 2 {
                std::thread::sleep(Duration::from_millis(20));
                let from_ns = clock::monotonic_ns();
                // The first time and the last are short: the first touches its pages for the first time, and
                // the end of the thread takes time too.
                if (1..=times).contains(&number) {
                    spin(time);
                }
                taken.push((from_ns, clock::monotonic_ns()));
            }
            taken
        })
    }

    /// An ordinary thread that keeps the loop's CPU busy, and knows when it ran.
    pub fn neighbour(&self, time: Duration) -> Vec<(u64, u64)> {
        let chunks = self.on_the_loop_s_cpu(Policy::Other { nice: 0 }, move || {
            let mut chunks = Vec::with_capacity(100_000);
            let end_ns = clock::monotonic_ns() + time.as_nanos() as u64;
            let (mut from_ns, mut last_ns) = (clock::monotonic_ns(), clock::monotonic_ns());
            while last_ns < end_ns {
                let now_ns = clock::monotonic_ns();
                // Longer than between any two consecutive readings: it did not run in between.
                if now_ns - last_ns > 20_000 && chunks.len() < chunks.capacity() {
                    chunks.push((from_ns, last_ns));
                    from_ns = now_ns;
                }
                last_ns = now_ns;
            }
            chunks.push((from_ns, last_ns));
            chunks
        });
        *self.chunks.lock().expect("unpoisoned") = chunks;
        Vec::new()
    }

    /// This whole process is stopped and continued by another; returns when that was done.
    pub fn stop_and_continue(&self, time: Duration, times: usize) -> Vec<(u64, u64)> {
        let output = std::process::Command::new("/proc/self/exe")
            .args([
                "--ignored",
                "--exact",
                "laboratory::stops_its_parent",
                "--nocapture",
            ])
            .env("STOP_FOR_US", time.as_micros().to_string())
            .env("STOP_TIMES", times.to_string())
            .output()
            .expect("a helper");
        let text = String::from_utf8(output.stderr).expect("text");
        let line = |line: &str| {
            let (from, to) = line.strip_prefix("stopped ")?.split_once(' ')?;
            Some((from.parse().ok()?, to.parse().ok()?))
        };
        text.lines().filter_map(line).collect()
    }

    /// Threads on the other CPU that give memory back: each time the page tables change, and the kernel
    /// notifies the CPUs that use them. Ordinary programs on that CPU don't keep them from it.
    pub fn unmap_on_the_other_cpu(&self, time: Duration) -> Vec<(u64, u64)> {
        self.on_cpu(self.other_cpu, Policy::Fifo { priority: 1 }, move || {
            let until = std::time::Instant::now() + time;
            while std::time::Instant::now() < until {
                // Large enough to be mapped and unmapped each time, whatever the allocator learnt.
                let mut memory = vec![0_u8; 64 << 20];
                touch(&mut memory[..PAGES * 4096]);
                drop(memory);
            }
            Vec::new()
        })
    }

    /// Datagrams to a socket without a reader, sent on the loop's CPU: they are received there, in SoftIRQs.
    pub fn loopback_storm(&self, time: Duration) -> Vec<(u64, u64)> {
        self.on_the_loop_s_cpu(Policy::Other { nice: 0 }, move || {
            let sink = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            let source = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            source
                .connect(sink.local_addr().expect("an address"))
                .expect("a peer");
            let until = std::time::Instant::now() + time;
            let datagram = [0; 1400];
            while std::time::Instant::now() < until {
                // A full receive buffer drops it, after the SoftIRQ.
                let _ = source.send(&datagram);
            }
            Vec::new()
        })
    }

    fn on_the_loop_s_cpu<T: Send + 'static>(
        &self,
        policy: Policy,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        self.on_cpu(self.loop_cpu, policy, body)
    }

    fn on_cpu<T: Send + 'static>(
        &self,
        cpu: u16,
        policy: Policy,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let builder = std::thread::Builder::new().name("hog".into());
        let thread = builder.spawn(move || {
            let preparation = Preparation {
                policy,
                cpus: Some(vec![cpu]),
                lock_memory: false,
                ..Preparation::default()
            };
            preparation.apply().expect("the policy");
            body()
        });
        thread
            .expect("a thread")
            .join()
            .expect("the disturbance ends")
    }
}
