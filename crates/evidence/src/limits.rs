//! What a good seal does not prove, in the words that stand beside every verification.

/// A line each.
pub const NOT_PROVEN: [&str; 4] = [
    "that the figures are true: whoever holds the key can sign any file",
    "when it was measured: the times are the board's own clock's",
    "that it is the only run: one that was left out leaves no trace",
    "that the key never left the board: your trust file says whose it is",
];
