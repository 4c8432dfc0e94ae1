//! Prints what this machine is, and how long it took to find out. With a folder, the machine
//! recorded there.

use std::time::Instant;

use wakepath_machine::{Facts, Root};

fn main() {
    let root = std::env::args_os().nth(1).map_or_else(Root::host, Root::at);
    let start = Instant::now();
    let facts = Facts::read(&root);
    let took = start.elapsed();
    for line in facts.summary() {
        println!("{:14} {}", line.topic, line.text);
    }
    println!("{:14} {took:?}", "Read in");
}
