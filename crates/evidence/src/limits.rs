//! Limits of a valid seal's proof, printed with every verification.

/// A line each.
pub const NOT_PROVEN: [&str; 4] = [
    "that the figures are true: the key's holder can sign any file",
    "when it was measured: the times are the board's own clock's",
    "that it is the only run: one that was left out leaves no trace",
    "that the key never left the board: your trust file says whose it is",
];
