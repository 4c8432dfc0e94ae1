//! The program as its users start it. `system` measures time and wants `--test-threads=1`; `lab`
//! takes minutes of a CPU and is ignored but in its own stage.

mod command_line;
mod lab;
mod own_controller;
mod started;
mod system;
