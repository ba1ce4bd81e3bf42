//! Links the programs at a fixed address: without relocations to apply they
//! start faster, and their data stays shared with the page cache.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // The peers of the benchmark are linked in the same way.
        println!("cargo:rustc-link-arg-bins=-no-pie");
        println!("cargo:rustc-link-arg-examples=-no-pie");
    }
}
