//! A workspace before its run: the template, and the task's own files.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fixtures::document::task::Task;

/// Makes the workspace of a task at `place`; `base` is where the document is.
pub(crate) fn make(task: &Task, base: &Path, place: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot make `{}`: {error}", place.display());
    fs::create_dir(place).map_err(failed)?;
    let place = place.canonicalize().map_err(failed)?;
    if let Some(template) = &task.workspace {
        let template = base.join(template);
        copy(&template, &place)
            .map_err(|reason| format!("cannot copy `{}`: {reason}", template.display()))?;
    }
    for (path, text) in &task.files {
        write(&place, Path::new(path), text)
            .map_err(|reason| format!("cannot write `{path}` in the workspace: {reason}"))?;
    }
    Ok(())
}

fn copy(template: &Path, place: &Path) -> Result<(), String> {
    let whole = template.canonicalize().map_err(|error| error.to_string())?;
    if place.starts_with(&whole) {
        return Err(format!(
            "runs take place in it, at `{}`: choose another place with TMPDIR or `--out`",
            place.display()
        ));
    }
    let mut open = vec![(template.to_owned(), place.to_owned())];
    while let Some((from, to)) = open.pop() {
        let failed = |error: io::Error| format!("`{}`: {error}", from.display());
        for entry in fs::read_dir(&from).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (source, place) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.file_type().map_err(failed)?;
            let copied = match () {
                () if kind.is_dir() => {
                    open.push((source.clone(), place.clone()));
                    fs::create_dir(&place)
                }
                () if kind.is_symlink() => {
                    fs::read_link(&source).and_then(|to| std::os::unix::fs::symlink(to, &place))
                }
                () if kind.is_file() => fs::copy(&source, &place).map(drop),
                () => Err(io::Error::other("it is neither file, directory nor link")),
            };
            copied.map_err(|error| format!("`{}`: {error}", source.display()))?;
        }
    }
    Ok(())
}

/// Writes a file below `place`, which no link of the template leads out of.
fn write(place: &Path, path: &Path, text: &str) -> Result<(), String> {
    let mut folder = place.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        folder = inside(place, &folder.join(part))?;
    }
    let path = folder.join(path.file_name().unwrap_or_default());
    let made = || {
        if fs::symlink_metadata(&path).is_ok_and(|about| !about.is_dir()) {
            fs::remove_file(&path)?;
        }
        let mut file = fs::File::options().write(true).create_new(true).open(&path)?;
        file.write_all(text.as_bytes())
    };
    made().map_err(|error| error.to_string())
}

/// The real directory at a path, which is made where nothing is.
fn inside(place: &Path, folder: &Path) -> Result<PathBuf, String> {
    if fs::symlink_metadata(folder).is_err() {
        fs::create_dir(folder).map_err(|error| error.to_string())?;
    }
    let real = folder.canonicalize().map_err(|error| error.to_string())?;
    match real.starts_with(place) {
        true => Ok(real),
        false => Err(format!(
            "the template has a link on the way that leads out, to `{}`",
            real.display()
        )),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Makes `path` in a workspace whose template was prepared, beside a file `outside/kept`.
    fn made(path: &str, prepare: impl Fn(&Path)) -> (Result<(), String>, String) {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        fs::create_dir(place.join("outside")).unwrap();
        fs::create_dir(place.join("workspace")).unwrap();
        fs::write(place.join("outside/kept"), "kept").unwrap();
        prepare(&place.join("workspace"));
        let written = write(&place.join("workspace"), Path::new(path), "new");
        if written.is_ok() {
            assert_eq!(fs::read_to_string(place.join("workspace").join(path)).unwrap(), "new");
        }
        assert_eq!(fs::read_dir(place.join("outside")).unwrap().count(), 1);
        (written, fs::read_to_string(place.join("outside/kept")).unwrap())
    }

    #[test]
    fn a_task_file_does_not_follow_a_link_of_the_template() {
        for target in ["../outside/kept", "nothing"] {
            let written = made("a", |workspace| symlink(target, workspace.join("a")).unwrap());
            assert_eq!(written, (Ok(()), "kept".to_owned()), "{target}");
        }
        let (written, kept) =
            made("d/deep/kept", |workspace| symlink("../outside", workspace.join("d")).unwrap());
        assert!(written.unwrap_err().contains("leads out"));
        assert_eq!(kept, "kept");
    }

    #[test]
    fn a_task_file_replaces_what_the_template_has() {
        let (written, _) = made("d/a", |workspace| {
            fs::create_dir(workspace.join("real")).unwrap();
            symlink("real", workspace.join("d")).unwrap();
            fs::write(workspace.join("real/a"), "old").unwrap();
            let mut mode = fs::metadata(workspace.join("real/a")).unwrap().permissions();
            mode.set_readonly(true);
            fs::set_permissions(workspace.join("real/a"), mode).unwrap();
        });
        assert_eq!(written, Ok(()));
    }
}
