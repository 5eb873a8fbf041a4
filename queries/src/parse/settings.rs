//! `kb.toml` to settings with origins and problems.
