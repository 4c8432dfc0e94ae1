mod laboratory;
use laboratory::*;
use std::time::Duration;
#[test]
fn dump() {
    let Some(l) = Laboratory::new() else { return };
    let m = l.measure(wakepath_timeline::Policy::Fifo { priority: 80 }, Work::Spin(Duration::from_micros(50)), |r| r.wait(Duration::from_millis(20)));
    m.dump(2000);
}
