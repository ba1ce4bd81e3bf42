//! The workspace of one run: made, looked at before, looked at after.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fixtures::document::task::Task;
use sha2::{Digest, Sha256};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A file, by its digest.
    File(String),
    /// A directory.
    Directory,
    /// A link, by what it says.
    Link(PathBuf),
    /// Something else: a socket, a pipe, a device.
    Other,
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

/// Makes the workspace of a task at `place`; `base` is where the document is.
pub(crate) fn make(task: &Task, base: &Path, place: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot make `{}`: {error}", place.display());
    fs::create_dir(place).map_err(failed)?;
    if let Some(template) = &task.workspace {
        let template = base.join(template);
        copy(&template, place)
            .map_err(|error| format!("cannot copy `{}`: {error}", template.display()))?;
    }
    for (path, text) in &task.files {
        let path = place.join(path);
        let written =
            path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        written.map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, place) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            fs::create_dir(&place)?;
            copy(&source, &place)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &place)?;
        } else {
            fs::copy(&source, &place)?;
        }
    }
    Ok(())
}

/// What stands at any path, with all that is below it; none where nothing does.
pub(crate) fn state(path: &Path) -> Option<Snapshot> {
    let kind = fs::symlink_metadata(path).ok()?.file_type();
    if kind.is_dir() {
        return look(path).ok();
    }
    let entry = match kind.is_file() {
        true => Entry::File(digest(path).ok()?),
        false if kind.is_symlink() => Entry::Link(fs::read_link(path).ok()?),
        false => Entry::Other,
    };
    Some(Snapshot::from([(String::new(), entry)]))
}

/// Looks at everything below a directory.
pub(crate) fn look(place: &Path) -> Result<Snapshot, String> {
    let mut snapshot = Snapshot::new();
    look_below(place, "", &mut snapshot)
        .map_err(|error| format!("cannot look at `{}`: {error}", place.display()))?;
    Ok(snapshot)
}

fn look_below(folder: &Path, prefix: &str, found: &mut Snapshot) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let (path, kind) = (entry.path(), entry.file_type()?);
        let what = if kind.is_dir() {
            look_below(&path, &format!("{name}/"), found)?;
            Entry::Directory
        } else if kind.is_symlink() {
            Entry::Link(fs::read_link(&path)?)
        } else if kind.is_file() {
            Entry::File(digest(&path)?)
        } else {
            Entry::Other
        };
        found.insert(name, what);
    }
    Ok(())
}

fn digest(path: &Path) -> io::Result<String> {
    let mut digest = Sha256::new();
    io::copy(&mut fs::File::open(path)?, &mut digest)?;
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
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
    let has_inside = |path: &str| found.iter().any(|it| it.path.starts_with(&folder_of(path)));
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
