//! The workspace of one run: made, looked at before, looked at after.

mod make;
mod remove;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use sha2::{Digest, Sha256};

pub(crate) use make::make;
pub(crate) use remove::remove;

/// What a snapshot calls the place itself.
pub(crate) const ROOT: &str = ".";

/// A larger file is known by what the filesystem says of it: it may be all
/// hole, and need no disk but much patience.
const MAX_DIGEST_BYTES: u64 = 256 << 20;

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A file, by its digest.
    File(String),
    /// A large file, by its number, its size and its last change.
    Large { number: u64, bytes: u64, changed: (i64, i64) },
    /// A directory.
    Directory,
    /// A link, by what it says.
    Link(PathBuf),
    /// Something else: a socket, a pipe, a device.
    Other,
    /// A file or directory that nobody may look into.
    Sealed { is_directory: bool },
}

/// What stands in a workspace, by relative path.
pub(crate) type Snapshot = BTreeMap<String, Entry>;

/// A file or directory that is not as before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Relative to the workspace.
    pub(crate) path: String,
    pub(crate) before: Option<Entry>,
    pub(crate) after: Option<Entry>,
}

/// A directory for what is gone when this program has ended.
pub(crate) fn temporary() -> Result<tempfile::TempDir, String> {
    let made = tempfile::Builder::new().prefix("agent-conformance-").tempdir();
    made.map_err(|error| format!("cannot make a temporary directory: {error}"))
}

/// What stands at any path, with all that is below it; none where nothing does.
pub(crate) fn state(path: &Path) -> Result<Option<Snapshot>, String> {
    match fs::symlink_metadata(path) {
        Ok(_) => look(path).map(Some),
        Err(_) => Ok(None),
    }
}

/// Looks at everything below a directory, and at what stands in its place if
/// it is none any more.
pub(crate) fn look(place: &Path) -> Result<Snapshot, String> {
    let failed = |path: &Path, error| format!("cannot look at `{}`: {error}", path.display());
    let mut snapshot = Snapshot::new();
    let Ok(about) = fs::symlink_metadata(place) else { return Ok(snapshot) };
    let root = entry(place, about.file_type()).map_err(|error| failed(place, error))?;
    let mut open: Vec<(PathBuf, String)> = Vec::new();
    if root == Entry::Directory {
        open.push((place.to_owned(), String::new()));
    }
    snapshot.insert(ROOT.to_owned(), root);
    while let Some((folder, prefix)) = open.pop() {
        let entries = fs::read_dir(&folder).and_then(|all| all.collect::<io::Result<Vec<_>>>());
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) if is_sealed(&error) => {
                let name = prefix.strip_suffix('/').unwrap_or(ROOT).to_owned();
                snapshot.insert(name, Entry::Sealed { is_directory: true });
                continue;
            }
            Err(error) => return Err(failed(&folder, error)),
        };
        for found in entries {
            let (path, name) = (found.path(), format!("{prefix}{}", name(&found.file_name())));
            let entry = found.file_type().and_then(|kind| entry(&path, kind));
            let entry = entry.map_err(|error| failed(&path, error))?;
            if entry == Entry::Directory {
                open.push((path, format!("{name}/")));
            }
            snapshot.insert(name, entry);
        }
    }
    Ok(snapshot)
}

/// A name as text, in which no two names are one.
fn name(name: &OsStr) -> String {
    match name.to_str() {
        Some(name) => name.to_owned(),
        None => name.as_bytes().escape_ascii().to_string(),
    }
}

fn entry(path: &Path, kind: FileType) -> io::Result<Entry> {
    let entry = match () {
        () if kind.is_dir() => Ok(Entry::Directory),
        () if kind.is_symlink() => fs::read_link(path).map(Entry::Link),
        () if kind.is_file() => of_file(path),
        () => Ok(Entry::Other),
    };
    match entry {
        Err(error) if is_sealed(&error) => Ok(Entry::Sealed { is_directory: false }),
        entry => entry,
    }
}

/// Whether an error says something about the file, and not about this program.
fn is_sealed(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    use Errno::{EACCES, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM};
    errno.is_some_and(|it| [EACCES, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM].contains(&it))
}

fn of_file(path: &Path) -> io::Result<Entry> {
    let file = open(path)?;
    let about = file.metadata()?;
    if about.len() > MAX_DIGEST_BYTES {
        let changed = (about.ctime(), about.ctime_nsec());
        return Ok(Entry::Large { number: about.ino(), bytes: about.len(), changed });
    }
    let mut digest = Sha256::new();
    io::copy(&mut file.take(MAX_DIGEST_BYTES), &mut digest)?;
    Ok(Entry::File(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// Opens a file, and nothing else that may have come in its place.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    File::options().read(true).custom_flags(flags.bits()).open(path)
}

/// What is not as before, by path. A directory that is there for its files is no change.
pub(crate) fn differences(before: &Snapshot, after: &Snapshot) -> Vec<Difference> {
    let mut paths: Vec<&String> = before.keys().chain(after.keys()).collect();
    paths.sort_unstable();
    paths.dedup();
    let differences = paths.into_iter().filter_map(|path| {
        let (before, after) = (before.get(path), after.get(path));
        (before != after).then(|| Difference {
            path: path.clone(),
            before: before.cloned(),
            after: after.cloned(),
        })
    });
    let found: Vec<Difference> = differences.collect();
    let folder_of = |path: &str| format!("{path}/");
    let has_inside = |path: &str| {
        let folder = folder_of(path);
        let first = found.partition_point(|it| it.path < folder);
        found.get(first).is_some_and(|it| it.path.starts_with(&folder))
    };
    found
        .iter()
        .filter(|it| {
            let is_folder = [&it.before, &it.after]
                .into_iter()
                .flatten()
                .all(|entry| *entry == Entry::Directory);
            !(is_folder && has_inside(&it.path))
        })
        .cloned()
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_told_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path();
        for (path, text) in [("kept", "1"), ("changed", "1"), ("gone", "1"), ("d/deep", "1")] {
            fs::create_dir_all(place.join(path).parent().unwrap()).unwrap();
            fs::write(place.join(path), text).unwrap();
        }
        let before = look(place).unwrap();
        assert_eq!(differences(&before, &before), []);
        fs::write(place.join("changed"), "2").unwrap();
        fs::remove_file(place.join("gone")).unwrap();
        fs::create_dir_all(place.join("new/inside")).unwrap();
        fs::write(place.join("new/inside/file"), "x").unwrap();
        fs::create_dir(place.join("empty")).unwrap();
        std::os::unix::fs::symlink("kept", place.join("link")).unwrap();
        let found = differences(&before, &look(place).unwrap());
        let paths: Vec<&str> = found.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, ["changed", "empty", "gone", "link", "new/inside/file"]);
    }
}
