//! Properties (empty for now).
