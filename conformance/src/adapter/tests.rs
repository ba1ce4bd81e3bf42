#![allow(clippy::unwrap_used)]

use super::{Adapter, BUILT_IN};

const SMALL: &str = r#"
name = "x"
title = "X"
door = "native"
[detect]
program = "x"
[run]
arguments = ["{prompt}"]
"#;

#[test]
fn every_adapter_that_is_built_in_is_one_and_has_the_name_of_its_file() {
    for (name, _) in BUILT_IN {
        assert_eq!(Adapter::find(name).unwrap().name, *name);
    }
}

#[test]
fn what_an_adapter_gets_wrong_is_told_with_its_place() {
    Adapter::parse(SMALL, "x.toml").unwrap();
    let with =
        |from: &str, to: &str| Adapter::parse(&SMALL.replace(from, to), "x.toml").unwrap_err();
    for (from, to, told) in [
        ("[run]", "[run]\nargumnts = []", "`x.toml:8:1`: unknown field `argumnts`"),
        ("native", "front", "`x.toml:4:8`: unknown variant `front`"),
        (
            "{prompt}",
            "{promt}",
            "nothing fills in `{promt}`: what can be filled in here is {prompt}",
        ),
        ("{prompt}", "{", "`{` has a single `{`: write `{{` for a brace"),
        (
            "arguments",
            "answer = \"events\"\narguments",
            "wants `events`, the dialect of the stream",
        ),
        ("[run]", "[ignore]\npaths = [\"a{\"]\n[run]", "`ignore.paths`: "),
        ("name = \"x\"", "", "missing field `name`"),
    ] {
        let reason = with(from, to);
        assert!(reason.contains(told), "{reason}");
    }
}

#[test]
fn a_name_that_nobody_has_is_told_with_the_nearest_one() {
    let reason = |name: &str| Adapter::find(name).unwrap_err();
    assert!(reason("claude-cod").contains("did you mean `claude-code`?"));
    assert!(reason("nobody").contains("`agent-conformance agents` lists them"));
    assert!(reason("./none.toml").contains("cannot read the adapter `./none.toml`"));
}
