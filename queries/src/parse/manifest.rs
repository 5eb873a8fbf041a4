//! The card-graph manifests in `out/`.
