//! What the linker of macOS must know of an extension module: Python's own symbols come with the interpreter.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
