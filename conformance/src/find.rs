//! Where programs are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// This program itself, to be started again.
pub(crate) fn this() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("cannot tell where this program is: {error}"))
}

/// Finds one of the toolkit's own programs: beside this one, else on PATH.
pub(crate) fn own(name: &str) -> Result<PathBuf, String> {
    let beside = std::env::current_exe().ok().map(|this| this.with_file_name(name));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = beside.filter(|it| is_program(it)).or_else(|| on_path(name.as_ref(), &path));
    // What is kept of it must hold from any directory.
    let found = found.and_then(|it| std::path::absolute(it).ok());
    found.ok_or_else(|| {
        format!(
            "`{name}` is neither beside this program nor on PATH: put it there, or build it with `cargo build -p {name}`"
        )
    })
}

/// The first program of that name on a PATH.
pub(crate) fn on_path(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    candidates(name, path).find(|it| is_program(it))
}

/// The files that a name may mean; a name with a slash is a file already.
pub(crate) fn candidates<'p>(
    name: &'p OsStr,
    path: &'p OsStr,
) -> impl Iterator<Item = PathBuf> + 'p {
    let is_file =
        Path::new(name).components().count() > 1 || name.as_encoded_bytes().contains(&b'/');
    let whole = is_file.then(|| PathBuf::from(name));
    let folders = std::env::split_paths(path).filter(move |_| !is_file && !name.is_empty());
    whole.into_iter().chain(folders.map(move |folder| match folder.as_os_str().is_empty() {
        true => Path::new(".").join(name),
        false => folder.join(name),
    }))
}

/// Whether this is a file that can be executed, also as far as its filesystem goes.
pub(crate) fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}
