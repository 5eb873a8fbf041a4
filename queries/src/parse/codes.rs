//! The diagnostic codes that parsing emits.

pub(crate) use crate::diagnostic::registry::*;
