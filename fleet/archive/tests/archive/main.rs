//! The archive from outside: runs added, queried, hostile, killed in the middle, swept.

mod adding;
mod hostile;
mod killed;
mod retained;
mod scratch;
mod sealed;
