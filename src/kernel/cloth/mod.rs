//! Laws of thin sheets.

pub mod wrinkles;
