//! Rows of text as aligned columns.

/// The rows with each column as wide as its widest cell; the columns in `right` are flush right. A
/// row of one cell is a remark, which doesn't affect the widths.
pub fn aligned(rows: &[Vec<String>], right: &[usize]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows
            .iter()
            .filter(|row| row.len() > 1)
            .filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
            if right.contains(&column) {
                line += &format!("{padding}{cell}  ")
            } else {
                line += &format!("{cell}{padding}  ")
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [
            vec!["a".into(), "1".into()],
            vec!["long".into(), "100".into()],
        ];
        assert_eq!(aligned(&rows, &[1]), "a       1\nlong  100\n");
    }

    #[test]
    fn a_remark_widens_no_column() {
        let rows = [vec!["a".into(), "1".into()], vec!["a remark".into()]];
        assert_eq!(aligned(&rows, &[]), "a  1\na remark\n");
    }
}
