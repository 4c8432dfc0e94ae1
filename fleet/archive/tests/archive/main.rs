//! The archive from outside: runs added, asked for, hostile, killed in mid-way, swept.

mod adding;
mod hostile;
mod killed;
mod retained;
mod scratch;
mod sealed;
