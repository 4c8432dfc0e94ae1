//! Boards of a fleet: which there are, and what is done on them by the system's OpenSSH. No daemon
//! runs on a board, and no secret passes here: keys and agents are OpenSSH's own business. It
//! judges no run and holds no archive.

pub mod inventory;
mod selection;

pub use inventory::{Board, Inventory, InventoryError};
pub use selection::{Selection, SelectionError};
