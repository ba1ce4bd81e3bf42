//! Text for people that came from elsewhere: in one line, short enough, and
//! without what would move a terminal's cursor.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// The text with control characters spelt out.
pub(crate) fn printable(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().collect() } else { c.to_string() };
    text.chars().map(shown).collect()
}

/// The same, cut to so many characters.
pub(crate) fn short(text: &str, most: usize) -> String {
    let text = printable(text);
    if text.chars().count() <= most {
        return text;
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// The whole text on one line.
pub(crate) fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The last line that says something.
pub(crate) fn last_line(text: &str) -> Option<&str> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty())
}

/// The end of a file, and how many bytes stand before it.
pub(crate) fn tail(mut file: File, most: u64) -> io::Result<(Vec<u8>, u64)> {
    let missing = file.metadata()?.len().saturating_sub(most);
    file.seek(SeekFrom::Start(missing))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok((bytes, missing))
}

/// Rows of cells, the columns aligned; numbers stand to the right.
pub(crate) fn aligned<const COLUMNS: usize>(
    rows: &[[String; COLUMNS]],
    is_number: [bool; COLUMNS],
) -> String {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let line = |row: &[String; COLUMNS]| {
        let cells = row.iter().zip(widths).zip(is_number);
        let cells = cells.map(|((cell, width), is_number)| match is_number {
            true => format!("{cell:>width$}"),
            false => format!("{cell:width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
