//! The checks of a machine, one by one and on whole machines.

mod every_check;
mod machines;
