use super::*;
use wakepath_explain::{Bands, Totals, Usual};

/// A thread with causes of these times, each with a fix of its own.
fn lost(thread: &str, urgency: u8, causes_ns: &[u64]) -> ConditionExplanation {
    let totals = Totals::new(0, 0, 0, Bands::new(&mut []));
    let names = ("watched", "robot", thread);
    let alike = causes_ns
        .iter()
        .enumerate()
        .map(|(number, &ns)| AlikeFigures {
            kind: "thread".into(),
            cause: format!("{thread} was preempted by {number}"),
            causes: 1,
            names: 1,
            cycles: 1,
            late_cycles: 1,
            total_ns: ns,
            late_ns: ns,
            worst_ns: ns,
            late_worst_ns: ns,
            remedy: Some(format!("fix {number}")),
        });
    ConditionExplanation {
        urgency,
        is_periodic: true,
        cycles: 1_000,
        late: 20,
        late_ns: causes_ns.iter().sum(),
        late_explained_ns: causes_ns.iter().sum(),
        alike: alike.collect(),
        ..ConditionExplanation::new(
            names,
            "percentile of those that ran",
            Usual::default(),
            &totals,
            None,
            |_| 0,
        )
    }
}

fn explanation(conditions: Vec<ConditionExplanation>) -> Explanation {
    Explanation {
        version: Explanation::VERSION,
        events: 1,
        events_lost: 0,
        switches_untold: 0,
        untold_switch_ins: Default::default(),
        own_by_name: false,
        not_in_trace: Vec::new(),
        conditions: wakepath_explain::by_weight(conditions),
    }
}

#[test]
fn in_short_causes_are_shown_until_most_of_the_lost_time_is_accounted_for() {
    // Of 100: one cause would show 49, and four show 83.
    let all = [49, 12, 11, 11, 5, 4, 3, 2, 1, 1, 1];
    let of = explanation(vec![lost("control", 80, &all)]);
    for (room, shown) in [(1, 4), (4, 4), (6, 5)] {
        let text = late_in_short(&of, room);
        let causes = text.lines().filter(|line| line.contains(" %  control was"));
        assert_eq!(causes.count(), shown, "{text}");
        assert!(text.lines().count() <= 15, "{text}");
    }
    // One shows 82, and another that took much is shown too.
    let two = explanation(vec![lost("control", 80, &[82, 12, 6])]);
    let text = late_in_short(&two, 1);
    assert_eq!(text.matches(" %  control was").count(), 2, "{text}");
    // Many small causes fill what a screen has for them.
    let small = explanation(vec![lost("control", 80, &[5; 20])]);
    let text = late_in_short(&small, 1);
    assert_eq!(text.matches(" %  control was").count(), MOST_CAUSES);
    assert!(text.lines().count() <= 15, "{text}");
}

#[test]
fn the_loop_that_matters_leads_whatever_ordinary_threads_lost() {
    let of = explanation(vec![
        lost("telemetry", 0, &[900_000]),
        lost("control", 80, &[30_000]),
    ]);
    for text in [
        late_in_short(&of, 6),
        late_text(&of, 0),
        explanation_in_short(&of, None),
        explanation_text(&of, 0),
    ] {
        let place = |name: &str| text.find(&format!("{name}\n  ")).unwrap();
        let is_led = place("control") < text.find("telemetry").unwrap();
        assert!(is_led, "{text}");
    }
}

#[test]
fn a_title_says_what_differs() {
    let titles = |names: &[[&str; 3]]| -> Vec<String> {
        let conditions = names
            .iter()
            .map(|[policy, phase, thread]| ConditionExplanation {
                condition: (*policy).into(),
                phase: (*phase).into(),
                ..lost(thread, 80, &[])
            });
        let explanation = explanation(conditions.collect());
        let all = explanation.conditions.iter();
        all.map(|of| title(&explanation, of)).collect()
    };
    assert_eq!(titles(&[["ctl", "watched", "ctl"]]), ["ctl"]);
    assert_eq!(
        titles(&[["FIFO 80", "idle", "loop"], ["FIFO 80", "load", "loop"]]),
        ["FIFO 80, idle", "FIFO 80, load"]
    );
    assert_eq!(
        titles(&[["FIFO 80", "idle", "axis"], ["RR 80", "idle", "axis"]]),
        ["FIFO 80, axis", "RR 80, axis"]
    );
}
