use super::*;

fn on_a_thread_of_its_own<T: Send>(test: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(test).join().unwrap())
}

fn unlocked() -> Preparation {
    Preparation {
        lock_memory: false,
        ..Preparation::default()
    }
}

#[test]
fn what_is_in_effect_is_what_was_asked_for() {
    on_a_thread_of_its_own(|| {
        let last = *affinity::current().unwrap().last().unwrap();
        let asked = Preparation {
            policy: Policy::Other { nice: 4 },
            cpus: Some(vec![last]),
            timer_slack_ns: Some(1),
            ..unlocked()
        };
        let prepared = asked.apply().unwrap();
        assert_eq!(prepared.effective.policy, asked.policy);
        assert_eq!(prepared.effective.cpus, [last]);
        assert_eq!(prepared.effective.timer_slack_ns, 1);
        assert!(prepared.shortfalls.is_empty());
    });
}

#[test]
fn timer_slack_is_left_alone_when_asked_to() {
    on_a_thread_of_its_own(|| {
        timer_slack::set(50_000).unwrap();
        let prepared = Preparation {
            timer_slack_ns: None,
            ..unlocked()
        }
        .apply()
        .unwrap();
        assert_eq!(prepared.effective.timer_slack_ns, 50_000);
    });
}

#[test]
fn a_cpu_that_is_not_there_is_named() {
    on_a_thread_of_its_own(|| {
        let error = Preparation {
            cpus: Some(vec![1000]),
            ..unlocked()
        }
        .apply()
        .unwrap_err();
        assert!(error.to_string().contains("CPU 1000"), "{error}");
    });
}

#[test]
fn another_policy_in_effect_is_refused() {
    let asked = Preparation {
        policy: Policy::Fifo { priority: 50 },
        ..unlocked()
    };
    let effective = Effective {
        policy: Policy::Fifo { priority: 49 },
        cpus: vec![0],
        memory_locked: false,
        timer_slack_ns: 0,
    };
    let error = asked.compare(&effective, &mut Vec::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "asked for FIFO 50, but in effect is FIFO 49"
    );
}
