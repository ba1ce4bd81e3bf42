//! `agent-conformance`
mod scripted;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    std::process::exit(scripted::run(args[1].as_ref(), args[2].as_ref()));
}
