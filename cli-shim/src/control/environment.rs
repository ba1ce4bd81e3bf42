//! `cli-shim env`: shell code that puts the shims first, and keeps them first.

use std::collections::BTreeMap;
use std::env::VarError;

use super::cli::{EnvArgs, Shell};
use super::shell_files::Files;
use super::{install, quote};

pub(super) fn run(args: &EnvArgs) -> Result<i32, String> {
    let (_session, place) = install::open(&args.dir)?;
    let files = Files::of(place);
    files.write()?;
    if args.json {
        let text = serde_json::to_string(&variables(&files)?).expect("texts always serialise");
        return super::print(format!("{text}\n").as_bytes());
    }
    let code = match args.shell.unwrap_or_else(usual_shell) {
        Shell::Sh | Shell::Bash | Shell::Zsh => posix(&files),
        Shell::Fish => fish(&files),
    };
    super::print(code.as_bytes())
}

/// The shell of the user, as far as it is known here.
fn usual_shell() -> Shell {
    let shell = std::env::var("SHELL").unwrap_or_default();
    if shell.rsplit('/').next() == Some("fish") { Shell::Fish } else { Shell::Sh }
}

/// What is exported, and where the value that was there before is kept.
fn hooks(files: &Files) -> [(&'static str, String); 3] {
    [
        ("BASH_ENV", quote::expanded(&files.path("bash"))),
        ("ENV", quote::expanded(&files.path("env"))),
        ("ZDOTDIR", files.path("zsh")),
    ]
}

/// What the code for a POSIX shell would have exported in this environment.
///
/// # Errors
/// A variable that goes on in it is not UTF-8.
fn variables(files: &Files) -> Result<BTreeMap<String, String>, String> {
    let given = |name: &str| match std::env::var(name) {
        Ok(value) => Ok(Some(value).filter(|it| !it.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(format!("{name} is not UTF-8")),
    };
    let before = |first: String, rest: Option<String>| match rest {
        Some(rest) if rest == first || rest.starts_with(&format!("{first}:")) => rest,
        Some(rest) => format!("{first}:{rest}"),
        None => first,
    };
    let data = given("XDG_DATA_DIRS")?.unwrap_or_else(|| "/usr/local/share:/usr/share".to_owned());
    let mut variables = BTreeMap::from([
        ("PATH".to_owned(), before(files.directories().join(":"), given("PATH")?)),
        ("XDG_DATA_DIRS".to_owned(), before(files.path("data"), Some(data))),
    ]);
    for (name, value) in hooks(files) {
        if let Some(kept) = given(name)?.filter(|it| *it != value) {
            variables.insert(files.kept(name), kept);
        }
        variables.insert(name.to_owned(), value);
    }
    Ok(variables)
}

fn posix(files: &Files) -> String {
    let mut code = files.first();
    for (name, value) in hooks(files) {
        let (value, kept) = (quote::sh(&value), files.kept(name));
        code += &format!(
            "[ \"${{{name}-}}\" = {value} ] || {{ export {kept}=\"${{{name}-}}\"; export {name}={value}; }}\n"
        );
    }
    let data = quote::sh(&files.path("data"));
    code += &format!(
        "case \"${{XDG_DATA_DIRS-}}\" in
{data} | {data}:*) ;;
*) export XDG_DATA_DIRS={data}:\"${{XDG_DATA_DIRS:-/usr/local/share:/usr/share}}\" ;;
esac
"
    );
    code
}

fn fish(files: &Files) -> String {
    let mut code = String::new();
    for (name, value) in hooks(files) {
        let (value, kept) = (quote::fish(&value), files.kept(name));
        code += &format!(
            "if test \"${name}\" != {value}; set -gx {kept} \"${name}\"; set -gx {name} {value}; end\n"
        );
    }
    let data = quote::fish(&files.path("data"));
    code += &format!(
        "test -n \"$XDG_DATA_DIRS\"; or set -gx XDG_DATA_DIRS /usr/local/share:/usr/share
if test (string split : -- \"$XDG_DATA_DIRS\")[1] != {data}; set -gx XDG_DATA_DIRS {data}:\"$XDG_DATA_DIRS\"; end
source {}
",
        quote::fish(&files.path(super::shell_files::FISH))
    );
    code
}
