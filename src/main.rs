//! The program `kb`.

#[allow(dead_code)]
mod render;

fn main() {}
