//! The graders beside `expect`.
use crate::results::{Graded, Record};
use std::path::Path;
pub(crate) fn judge(_record: &Record, _base: &Path) -> Vec<Graded> {
    Vec::new()
}
pub(crate) fn judge_again(_record: &mut Record, _allows: bool) {}
