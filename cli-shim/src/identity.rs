//! Which command this is, and which session it belongs to: told by where the
//! program lies, never by its arguments, its directory or its environment.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name under which this is the control program.
const CONTROL: &str = "cli-shim";

/// What this program is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The control program.
    Control,
    /// The stand-in `session/bin/name`.
    Shim {
        /// The name of the mocked command.
        name: String,
        /// Its session.
        session: PathBuf,
    },
}

/// What the running program is, by its location.
pub(crate) fn of_this_program() -> Result<Identity, String> {
    let location = location()?;
    let (Some(name), Some(folder)) = (location.file_name(), location.parent()) else {
        return Err(format!("cli-shim: `{}` names no program", location.display()));
    };
    let session = folder.parent().filter(|_| folder.file_name() == Some(OsStr::new("bin")));
    let session = session.filter(|session| name != CONTROL || holds_a_session(session));
    match (name.to_str(), session) {
        (Some(CONTROL), None) => Ok(Identity::Control),
        (Some(name), Some(session)) => {
            Ok(Identity::Shim { name: name.to_owned(), session: session.to_owned() })
        }
        _ => Err(format!(
            "{}: no session: `{}` does not lie in the `bin` of one",
            name.to_string_lossy(),
            location.display()
        )),
    }
}

/// Somebody may keep the control program in a `bin` of their own.
fn holds_a_session(directory: &Path) -> bool {
    directory.join("session.json").exists()
}

/// Where the running program lies.
fn location() -> Result<PathBuf, String> {
    let image = Path::new("/proc/self/exe");
    let location = match image.read_link() {
        Ok(location) => location,
        // Without /proc, what the kernel was told, from the directory of entry.
        Err(_) => {
            let told = OsStr::from_bytes(rustix::param::linux_execfn().to_bytes());
            return std::path::absolute(told)
                .map_err(|error| format!("cli-shim: cannot tell where this program is: {error}"));
        }
    };
    let same = |path: &Path| path.metadata().map(|about| (about.dev(), about.ino())).ok();
    if same(&location).is_none_or(|there| same(image) != Some(there)) {
        let name = location.file_name().unwrap_or_default().to_string_lossy();
        let name = name.trim_end_matches(" (deleted)");
        return Err(format!(
            "{name}: `{}` was removed or replaced while it was running",
            location.display()
        ));
    }
    Ok(location)
}
