//! Nodes that were made before the recording, of which only calls and memory are seen.

use super::*;
use wakepath_ros2::FunctionOf;

#[test]
fn topics_in_memory_make_a_chain_and_functions_that_were_found_are_names() {
    let mut recorder = Recorder::default();
    let mut live = Live::default();
    for due in 1..=20 {
        let at = due * 10 * MS;
        for event in [
            call(at, 11, "callback_start", &[100, 0, 7001, 1, 2, 3], &[]),
            call(at + 10, 11, "rmw_publish", &[31, at], &["/pose"]),
            call(at + 100, 11, "callback_end", &[100], &[]),
            call(at + 200, 11, "rmw_take", &[41, at, 1], &["/pose"]),
            call(
                at + 300,
                11,
                "callback_start",
                &[400, 0, 7002, 4, 5, 6],
                &[],
            ),
            call(at + 500, 11, "callback_end", &[400], &[]),
        ] {
            recorder.event(&event, |_| Some(PROCESS));
            live.event(&event, |_| Some(PROCESS));
        }
    }
    let begun = live.take_begun();
    let words: Vec<[u64; 4]> = begun
        .iter()
        .map(|of| of.words)
        .map(|of| [of.caller, of.first, of.pointed, of.invoker])
        .collect();
    assert_eq!(words, [[7001, 1, 2, 3], [7002, 4, 5, 6]]);
    let function = FunctionOf {
        callback: begun[0].callback,
        at_ns: begun[0].at_ns,
        name: "flight::modes::Pilot::step".into(),
    };
    let mut seen = recorder.finish();
    seen.functions(&[function]);
    let names: Vec<String> = seen.callbacks.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["Pilot::step of process 7", "/pose"]);
    let chain: Chain = "/pose:/pose".parse().unwrap();
    let found = chain.find(&seen, None, 0, 0);
    assert_eq!((found.begun, found.ended), (20, 20));
}
