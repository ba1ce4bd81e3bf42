//! The ways in which an agent starts a command.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::quote;
use crate::host;

/// Where programs are looked for when PATH does not have them.
const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

const PYTHON: &str = "import subprocess, sys
try: sys.exit(subprocess.run(sys.argv[1:]).returncode)
except FileNotFoundError as error: print(error, file=sys.stderr); sys.exit(127)";

const NODE: &str = "const child = require('child_process').spawn(\
process.argv[1], process.argv.slice(2), {stdio: 'inherit'});
child.on('error', error => { console.error(error.message); process.exit(127); });
child.on('exit', code => process.exit(code ?? 1));";

/// One way.
#[derive(Debug)]
pub(super) struct Route {
    /// As it is typed, printed and recorded.
    pub(super) label: String,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// `execvp`.
    Exec,
    /// A program whose last argument is a line for a shell.
    Line(&'static [&'static str]),
    /// A program that is followed by the command and its argument.
    Words(&'static [&'static str]),
    /// The program that PATH would lead to without the shims.
    HostPath,
    /// A command line of the user, where `{}` is the canary's.
    Given(String),
}

/// Why a route leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// The program that would start the command is not installed.
    Starter,
    /// There is no such command.
    Command,
}

/// Every route, those of the user last.
pub(super) fn all(given: &[String]) -> Vec<Route> {
    let fixed = [
        ("exec", Way::Exec),
        ("sh -c", Way::Line(&["sh", "-c"])),
        ("bash -c", Way::Line(&["bash", "-c"])),
        ("bash -lc", Way::Line(&["bash", "-lc"])),
        ("sh -lc", Way::Line(&["sh", "-lc"])),
        ("zsh -lc", Way::Line(&["zsh", "-lc"])),
        ("fish -lc", Way::Line(&["fish", "-lc"])),
        ("env -i", Way::Words(&["env", "-i"])),
        ("command -p", Way::Words(&["sh", "-c", "command -p \"$@\"", "sh"])),
        ("python subprocess", Way::Words(&["python3", "-c", PYTHON])),
        ("node spawn", Way::Words(&["node", "-e", NODE, "--"])),
        ("absolute path", Way::HostPath),
    ];
    let fixed = fixed.into_iter().map(|(label, way)| Route { label: label.to_owned(), way });
    let given = given.iter().enumerate().map(|(index, line)| {
        let label = match index {
            0 => "shell-command".to_owned(),
            _ => format!("shell-command {}", index + 1),
        };
        Route { label, way: Way::Given(line.clone()) }
    });
    fixed.chain(given).collect()
}

impl Route {
    /// What starts the command `name` with one argument in this way.
    pub(super) fn command(
        &self,
        name: &str,
        argument: &str,
        bin: &Path,
    ) -> Result<Command, Missing> {
        let starter = |words: &[&str]| {
            let program = on_host(words[0], bin).ok_or(Missing::Starter)?;
            let mut command = Command::new(program);
            command.args(&words[1..]);
            Ok(command)
        };
        // Neither an executable's name nor the argument needs quotes.
        let line = format!("{name} {argument}");
        let mut command = match &self.way {
            Way::Exec => Command::new(name),
            Way::HostPath => Command::new(on_host(name, bin).ok_or(Missing::Command)?),
            Way::Words(words) => {
                let mut command = starter(words)?;
                command.arg(name);
                command
            }
            Way::Line(words) => {
                let mut command = starter(words)?;
                command.arg(line);
                return Ok(command);
            }
            Way::Given(template) => {
                let word = quote::sh(&line);
                let whole = match template.contains("{}") {
                    true => template.replace("{}", &word),
                    false => format!("{template} {word}"),
                };
                let mut command = starter(&["sh", "-c"])?;
                command.arg(whole);
                return Ok(command);
            }
        };
        command.arg(argument);
        Ok(command)
    }
}

/// The program of that name that is none of the shims.
fn on_host(name: &str, bin: &Path) -> Option<PathBuf> {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":");
    path.push(USUAL);
    host::find(name, &path, host::identity(bin)?)
}
