#[allow(dead_code, missing_docs)]
mod render;

fn main() {}
