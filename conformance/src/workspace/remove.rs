//! What an agent left in its folder, however it is sealed and however deep.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Removes a directory and everything below it. No process may be left that
/// could put something else in the place of what is looked at.
pub(crate) fn remove(place: &Path) -> io::Result<()> {
    match fs::symlink_metadata(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(about) if !about.is_dir() => fs::remove_file(place),
        Ok(_) => level(place),
    }
}

/// Takes down a tree from its top: what is in a directory moves up, so that no
/// path gets long, and no directory needs another one to be open.
fn level(place: &Path) -> io::Result<()> {
    unseal(place);
    let mut moved = 0_u64;
    loop {
        let entries = entries(place)?;
        if entries.is_empty() {
            return fs::remove_dir(place);
        }
        for (path, is_directory) in entries {
            if !is_directory {
                fs::remove_file(&path)?;
                continue;
            }
            unseal(&path);
            for (inner, is_directory) in self::entries(&path)? {
                if !is_directory {
                    fs::remove_file(inner)?;
                    continue;
                }
                // To be moved, a directory must be writable itself.
                unseal(&inner);
                let free = loop {
                    moved += 1;
                    let free = place.join(format!("moved-{moved}"));
                    if fs::symlink_metadata(&free).is_err() {
                        break free;
                    }
                };
                fs::rename(inner, free)?;
            }
            fs::remove_dir(&path)?;
        }
    }
}

/// What is in a directory, which is closed by then, and what of it are directories.
fn entries(folder: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let entries = fs::read_dir(folder)?;
    entries.map(|entry| entry.and_then(|it| Ok((it.path(), it.file_type()?.is_dir())))).collect()
}

fn unseal(folder: &Path) {
    // Where it cannot be, what follows says why.
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_tree_goes() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place");
        for name in ["a/b/c", "moved-1/moved-2/moved-1", "d"] {
            fs::create_dir_all(place.join(name)).unwrap();
            fs::write(place.join(name).join("file"), "x").unwrap();
            fs::set_permissions(place.join(name), fs::Permissions::from_mode(0o000)).unwrap();
        }
        std::os::unix::fs::symlink("..", place.join("a/link")).unwrap();
        fs::set_permissions(place.join("a"), fs::Permissions::from_mode(0o500)).unwrap();
        level(&place).unwrap();
        assert!(!place.exists() && folder.path().exists());
        assert!(remove(&place).is_ok());
    }
}
