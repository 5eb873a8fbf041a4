//! An element whose text is dropped, and where it ends: at its end tag or, where that may be left out,
//! at what ends it in a browser. Without that, one hidden item would swallow the list.

use super::elements::{Role, role};

/// A dropped element that is open.
pub(super) struct Skip {
    name: Vec<u8>,
    /// Open elements of its name.
    same: u32,
    /// Lists and tables that are open in it, whose items and cells are not its siblings.
    inner: u32,
}

/// What a tag is to a dropped element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// A part of it.
    Inside,
    /// Its own end tag.
    End,
    /// Not a part of it any more: the element has ended before.
    After,
}

impl Skip {
    pub(super) fn new(name: &[u8]) -> Self {
        Skip {
            name: name.to_vec(),
            same: 1,
            inner: 0,
        }
    }

    pub(super) fn start(&mut self, name: &[u8]) -> Tag {
        let next = role(name);
        if self.inner == 0 {
            let ends = match role(&self.name) {
                Role::Block if self.name == b"p" => {
                    !matches!(next, Role::Inline | Role::Break | Role::Widget | Role::Drop)
                        && next != Role::Annotation
                }
                Role::Item => next == Role::Item,
                Role::Cell => matches!(next, Role::Cell | Role::Row) || is_row_group(name),
                Role::Row => next == Role::Row || is_row_group(name),
                Role::Annotation => next == Role::Annotation || name == b"rb",
                _ => false,
            };
            if ends {
                return Tag::After;
            }
        }
        if self.name == name {
            self.same += 1;
        } else if matches!(next, Role::List | Role::Table) {
            self.inner += 1;
        }
        Tag::Inside
    }

    pub(super) fn end(&mut self, name: &[u8]) -> Tag {
        if self.name == name {
            self.same -= 1;
            return if self.same == 0 {
                Tag::End
            } else {
                Tag::Inside
            };
        }
        let next = role(name);
        if self.inner > 0 {
            self.inner -= u32::from(matches!(next, Role::List | Role::Table));
            return Tag::Inside;
        }
        let ends = match role(&self.name) {
            Role::Block if self.name == b"p" => matches!(
                next,
                Role::Block | Role::List | Role::Item | Role::Cell | Role::Row | Role::Table
            ),
            Role::Item => next == Role::List || name == b"select",
            Role::Cell => matches!(next, Role::Row | Role::Table) || is_row_group(name),
            Role::Row => next == Role::Table || is_row_group(name),
            Role::Annotation => name == b"ruby",
            _ => false,
        };
        if ends { Tag::After } else { Tag::Inside }
    }
}

fn is_row_group(name: &[u8]) -> bool {
    matches!(name, b"tbody" | b"thead" | b"tfoot")
}
