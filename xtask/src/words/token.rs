//! Words of a passage.

/// One word as the rules see it: lower case, code as `` `x` ``, a placeholder as `{}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its line, from 1.
    pub line: usize,
    /// The word.
    pub word: String,
    /// Whether a sentence or a part of one begins here.
    pub begins: bool,
    /// Whether it ends a question.
    pub asks: bool,
}

/// Splits the text into words; `line` is the one it begins in. Stops follow the rules of prose, so
/// that `a.toml` is one word.
pub fn tokens(text: &str, line: usize) -> Vec<Token> {
    let mut found = Vec::new();
    let mut begins = true;
    for (below, row) in text.split('\n').enumerate() {
        for piece in row.split_whitespace() {
            let is_edge = |c: char| !c.is_alphanumeric() && !"`{}".contains(c);
            let opens = piece.starts_with('|');
            let word = piece.trim_matches(is_edge).to_lowercase().replace('’', "'");
            begins |= opens;
            if !word.is_empty() {
                found.push(Token {
                    line: line + below,
                    word,
                    begins,
                    asks: piece.contains('?'),
                });
            }
            let closed = piece.trim_end_matches(['"', '*', '_', ')']);
            if !word_is_empty(piece) {
                begins = closed.ends_with(['.', ':', ';', '?', '!']);
            }
            begins |= piece.ends_with('|');
        }
    }
    found
}

fn word_is_empty(piece: &str) -> bool {
    !piece.contains(|c: char| c.is_alphanumeric() || "`{}".contains(c))
}
