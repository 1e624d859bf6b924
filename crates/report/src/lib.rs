//! `report`.
