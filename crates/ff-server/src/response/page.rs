//! The size limit of pages over HTTP, in addition to the limit in rows.

use std::io;

use ff_core::limits::PAGE_BYTES;
use serde::Serialize;

/// Removes the last rows of a page that exceeds the size limit, and returns whether it removed any. The first row always stays.
pub(crate) fn cut<T: Serialize>(rows: &mut Vec<T>) -> bool {
    let mut size = Size(0);
    let fitting = rows.iter().take_while(|row| serde_json::to_writer(&mut size, row).is_ok() && size.0 <= PAGE_BYTES);
    let fitting = fitting.count().max(1);
    let is_cut = fitting < rows.len();
    rows.truncate(fitting);
    is_cut
}

/// A writer that counts the bytes written to it.
struct Size(usize);

impl io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_where_its_rows_are_too_large() {
        let mut rows = vec!["x".repeat(PAGE_BYTES / 4); 10];
        assert!(cut(&mut rows));
        assert_eq!(rows.len(), 3, "with its quotes a fourth is too much");
        let mut small = vec!["x"; 1_000];
        assert!(!cut(&mut small) && small.len() == 1_000);
        let mut huge = vec!["x".repeat(2 * PAGE_BYTES); 2];
        assert!(
            cut(&mut huge) && huge.len() == 1,
            "a page has at least one row, or a listing would not come to its end"
        );
        assert!(!cut::<u8>(&mut Vec::new()));
    }
}
