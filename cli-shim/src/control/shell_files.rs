//! Start-up files that put the shims first on PATH whatever came before them.
//!
//! Each reads what the user would have had read in its place, then looks
//! whether the shims are first. The folder is `shell` in the session:
//!
//! ```text
//! bash           BASH_ENV; after the profile, in a login shell
//! env            ENV; interactive POSIX shells
//! zsh/.z*        ZDOTDIR
//! data/fish/…    XDG_DATA_DIRS; watches PATH, so that it wins over config.fish
//! bin/sh         on PATH; gives a login shell, which reads HOME alone, home/.profile
//! home/.profile  gives HOME back before it reads the one of the user
//! ```

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use fixtures::session::{SHELL_FILES, canary};

use super::quote;

/// Where fish looks for the files of other programs.
pub(super) const FISH: &str = "data/fish/vendor_conf.d/cli-shim.fish";

/// Of several such files fish reads the first alone, which therefore knows of the others.
const FISH_CODE: &str = "\
# Written by `cli-shim env`.
function __cli_shim_first --on-variable PATH
    set -l first
    for data in (string split : -- \"$XDG_DATA_DIRS\")
        if test -e $data/fish/vendor_conf.d/cli-shim.fish
            set -l session (string replace -r '/shell/data$' '' -- $data)
            set -a first $session/bin $session/shell/bin
        end
    end
    set -l many (count $first)
    if test $many -gt 0; and test (string join : -- $PATH[1..$many]) != (string join : -- $first)
        set -l rest
        for directory in $PATH
            contains -- $directory $first; or set -a rest $directory
        end
        set -gx PATH $first $rest
    end
end
__cli_shim_first
";

/// The files of one session.
#[derive(Debug)]
pub(super) struct Files {
    /// The session: absolute, and without a colon.
    place: String,
}

impl Files {
    pub(super) fn of(place: String) -> Files {
        Files { place }
    }

    /// One of the files.
    pub(super) fn path(&self, name: &str) -> String {
        format!("{}/{SHELL_FILES}/{name}", self.place)
    }

    /// The variable that keeps what another one was before; of this session
    /// alone, so that sessions on top of each other read each other's files.
    pub(super) fn kept(&self, name: &str) -> String {
        // FNV-1a
        let hash = self.place.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("CLI_SHIM_{name}_{hash:016x}")
    }

    /// The directories that are to be first: shims, then `sh`.
    pub(super) fn directories(&self) -> [String; 2] {
        [format!("{}/bin", self.place), self.path("bin")]
    }

    /// Code for sh, bash and zsh that puts the shims first.
    pub(super) fn first(&self) -> String {
        let directories = quote::sh(&self.directories().join(":"));
        format!(
            "case \"${{PATH-}}\" in
{directories} | {directories}:*) ;;
*) PATH={directories}${{PATH:+:$PATH}} ;;
esac
export PATH
"
        )
    }

    /// Writes what is not there already.
    pub(super) fn write(&self) -> Result<(), String> {
        let files = [
            ("bash".to_owned(), self.expanded_hook("BASH_ENV")),
            ("env".to_owned(), self.expanded_hook("ENV")),
            ("bin/sh".to_owned(), self.sh()),
            ("home/.profile".to_owned(), self.profile()),
            (FISH.to_owned(), FISH_CODE.to_owned()),
        ];
        let zsh = ["zshenv", "zprofile", "zshrc", "zlogin", "zlogout"];
        let zsh = zsh.map(|name| (format!("zsh/.{name}"), self.zsh(name)));
        for (name, text) in files.into_iter().chain(zsh) {
            let is_program = name == "bin/sh";
            self.write_one(Path::new(SHELL_FILES), Path::new(&name), &text, is_program)
                .map_err(|error| format!("cannot write `{}`: {error}", self.path(&name)))?;
        }
        Ok(())
    }

    fn write_one(&self, root: &Path, name: &Path, text: &str, is_program: bool) -> io::Result<()> {
        let session = Path::new(&self.place);
        let file = session.join(root).join(name);
        if std::fs::read(&file).is_ok_and(|found| found == text.as_bytes()) {
            return Ok(());
        }
        let folders: Vec<PathBuf> =
            root.join(name).ancestors().skip(1).map(Path::to_owned).collect();
        for folder in folders.iter().rev().filter(|folder| *folder != Path::new("")) {
            let folder = session.join(folder);
            match DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => canary::belong(&folder, session)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        let random = fixtures::random_hex::<4>()?;
        let draft = session.join(root).join(format!(".{random}"));
        let mut options = OpenOptions::new();
        let mut opened = options.write(true).create_new(true).mode(0o600).open(&draft)?;
        let written = opened.write_all(text.as_bytes()).and_then(|()| {
            drop(opened);
            canary::belong(&draft, &session.join("session.json"))?;
            if is_program {
                std::fs::set_permissions(&draft, PermissionsExt::from_mode(0o755))?;
            }
            std::fs::rename(&draft, &file)
        });
        if written.is_err() {
            // The error is told; what cannot be removed is a hidden file.
            let _ = std::fs::remove_file(&draft);
        }
        written
    }

    /// Reads the file that `name` named before, expanded as the shell does it.
    fn expanded_hook(&self, name: &str) -> String {
        let kept = self.kept(name);
        format!(
            "# Written by `cli-shim env`, for {name}.
if [ -n \"${{{kept}-}}\" ]; then
  eval \"_cli_shim_file=\\\"${kept}\\\"\"
  if [ -r \"$_cli_shim_file\" ]; then . \"$_cli_shim_file\"; fi
  unset _cli_shim_file
fi
{}",
            self.first()
        )
    }

    fn sh(&self) -> String {
        let home = quote::sh(&self.path("home"));
        format!(
            "#!/bin/sh
# Written by `cli-shim env`. A login shell reads /etc/profile and $HOME/.profile,
# and nothing that a variable names: this gives it a .profile that puts the shims
# first after both, and HOME back.
_cli_shim_value=
for _cli_shim_word do
  if [ -n \"$_cli_shim_value\" ]; then _cli_shim_value=; continue; fi
  case $_cli_shim_word in
  - | --) break ;;
  --login | -l* | -[!-]*l*)
    if [ -n \"${{HOME+set}}\" ]; then export CLI_SHIM_HOME=\"$HOME\"; else unset CLI_SHIM_HOME; fi
    export HOME={home}
    break
    ;;
  [-+]*[oO]) _cli_shim_value=next ;;
  [-+]*) ;;
  *) break ;;
  esac
done
exec /bin/sh \"$@\"
"
        )
    }

    fn profile(&self) -> String {
        format!(
            "# Written by `cli-shim env`.
if [ -n \"${{CLI_SHIM_HOME+set}}\" ]; then HOME=$CLI_SHIM_HOME; else unset HOME; fi
unset CLI_SHIM_HOME
if [ -n \"${{HOME-}}\" ] && [ -r \"$HOME/.profile\" ]; then . \"$HOME/.profile\"; fi
{}",
            self.first()
        )
    }

    fn zsh(&self, name: &str) -> String {
        let (kept, ours) = (self.kept("ZDOTDIR"), quote::sh(&self.path("zsh")));
        // The files of the user may move the directory, for those that follow.
        let now = format!("_{kept}");
        let begin = match name {
            "zshenv" => format!("{now}=\"${{{kept}:-$HOME}}\"\n"),
            _ => String::new(),
        };
        format!(
            "# Written by `cli-shim env`.
{begin}ZDOTDIR=\"${now}\"
if [[ -r \"$ZDOTDIR/.{name}\" ]]; then . \"$ZDOTDIR/.{name}\"; fi
{now}=\"${{ZDOTDIR:-$HOME}}\"
export ZDOTDIR={ours}
{}",
            self.first()
        )
    }
}
