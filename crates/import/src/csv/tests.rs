use super::*;

fn read_one(text: &str, asked: &Asked<'_>) -> (Imported, crate::Row) {
    let found = read(text, asked).unwrap();
    let Values::Row(row) = found.threads[0].values.clone() else {
        panic!("{found:?}");
    };
    (found, row)
}

fn loggers(lines: usize) -> String {
    let mut text = "t_ref_s,t_wake_s,t_done_s,torque\n".to_owned();
    for k in (0..lines).filter(|k| *k != 7) {
        let due = 100.0 + 0.004 * k as f64;
        text += &format!("{due:.6},{:.6},{:.6},0.1\n", due + 0.000_05, due + 0.001);
    }
    text
}

#[test]
fn a_loggers_columns_are_found_by_what_the_user_calls_them() {
    let asked = Asked {
        columns: &["due=t_ref_s", "start=t_wake_s", "end=t_done_s"],
        ..Asked::default()
    };
    let (found, row) = read_one(&loggers(20), &asked);
    assert_eq!(
        (row.due.start_ns, row.due.period_ns),
        (100_000_000_000, 4_000_000)
    );
    assert_eq!(row.samples.len(), 19);
    // The line that is not there is a skipped period.
    assert_eq!((row.samples[6].cycle, row.samples[7].cycle), (6, 8));
    let last = row.samples[18];
    assert_eq!(
        (last.cycle, last.latency_ns(), last.response_ns()),
        (19, 50_000, 1_000_000)
    );
    assert!(found.lacks.contains(&Lack::LostLines) && found.lacks.contains(&Lack::WarmUp));
    assert!(!found.lacks.contains(&Lack::EndOfWork), "{:?}", found.lacks);
}

#[test]
fn what_is_judged_may_begin_and_end_where_no_cycle_ran() {
    let head = "cycle,due_us,latency_us,warm_up,first_judged_cycle,end_cycle\n";
    let text = format!("{head}0,1000,1,1,3,9\n5,6000,1,0,3,9\n");
    let (found, row) = read_one(&text, &Asked::default());
    assert_eq!(row.judged, Some(3..9));
    assert!(!found.lacks.contains(&Lack::AfterLastLine));
    let older = "cycle,due_us,latency_us,warm_up\n0,1000,1,1\n5,6000,1,0\n";
    let (found, row) = read_one(older, &Asked::default());
    assert_eq!(row.judged, None);
    assert!(found.lacks.contains(&Lack::AfterLastLine));
    for second in ["5,6000,1,0,4,9", "5,6000,1,0,3,5", "9,10000,1,0,3,9"] {
        let text = format!("{head}0,1000,1,1,3,9\n{second}\n");
        let refused = read(&text, &Asked::default()).unwrap_err().to_string();
        assert!(refused.starts_with("3: first_judged_cycle"), "{refused}");
    }
}

#[test]
fn a_comma_is_a_point_where_it_separates_nothing() {
    let text = "\u{feff}due_µs;start_µs\n0,0;10,5\n1000,0;1011,25\n";
    let asked = Asked {
        period_ns: Some(1_000_000),
        ..Asked::default()
    };
    let (_, row) = read_one(text, &asked);
    let late: Vec<i64> = row.samples.iter().map(Sample::latency_ns).collect();
    assert_eq!(late, [10_500, 11_250]);
    let english = "due_us,start_us\n0,0,10,5\n";
    assert!(read(english, &asked).unwrap_err().why.contains("4 cells"));
}

#[test]
fn a_latency_beyond_a_period_skips_the_due_times_that_it_passed() {
    let asked = Asked {
        period_ns: Some(1_000_000),
        ..Asked::default()
    };
    for text in [
        "latency_us\n11\n2600\n9\n10\n",
        "cycle,latency_us\n0,11\n1,2600\n2,9\n3,10\n",
        // Numbers of due times stay what they are.
        "cycle,latency_us\n0,11\n1,2600\n4,9\n5,10\n",
    ] {
        let (found, row) = read_one(text, &asked);
        let cycles: Vec<u64> = row.samples.iter().map(|sample| sample.cycle).collect();
        assert_eq!(cycles, [0, 1, 4, 5], "{text}");
        assert!(found.lacks.contains(&Lack::DueTimes), "{text}");
    }
}

#[test]
fn a_broken_line_is_named() {
    let refused = |text: &str| read(text, &Asked::default()).unwrap_err().to_string();
    let text = "due_us,start_us\n1000,1010\n2000,x\n";
    assert_eq!(refused(text), "3: \"x\" in column start is not a time");
    assert!(refused("due_us,start_us\n1000\n").starts_with("2: 1 cell, but the first line has 2"));
    assert!(refused("due_us,start_us\n").contains("no cycle"));
    assert!(refused("").contains("no line"));
    assert!(refused("start_us\n1\n").contains("not `due`"));
    assert!(refused("latency_us\n1\n").contains("--period"));
    assert!(refused("due_us,end_us\n1,2\n").contains("neither `start`"));
    let back = "due_us,start_us\n3000,3010\n2000,2010\n";
    assert!(refused(back).starts_with("3: "), "{}", refused(back));
    let early = "due_us,start_us,end_us\n3000,3010,3000\n";
    assert_eq!(refused(early), "2: its work ends before it begins");
}
