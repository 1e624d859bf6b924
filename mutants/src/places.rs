//! Where in a syntax tree the mutants are.

use crate::mutant::{At, Mutant};
use crate::region::{Form, Regions};
use proc_macro2::Span;
use std::collections::{HashMap, HashSet};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Member};

pub struct Places<'a, 'r> {
    /// By kind and beginning.
    wanted: HashMap<(&'a str, At), Vec<&'a Mutant>>,
    regions: &'r mut Regions<'a>,
    placed: HashSet<u32>,
}

impl<'a, 'r> Places<'a, 'r> {
    /// Adds the places of `mutants` to `regions`; gives back the numbers of those that it found.
    pub fn find(tree: &syn::File, mutants: &[&'a Mutant], regions: &'r mut Regions<'a>) -> HashSet<u32> {
        let mut wanted: HashMap<_, Vec<_>> = HashMap::new();
        for mutant in mutants {
            wanted.entry((mutant.genre.as_str(), mutant.span.start)).or_default().push(*mutant);
        }
        let mut places = Self { wanted, regions, placed: HashSet::new() };
        places.visit_file(tree);
        places.placed
    }

    /// The mutants of a kind that begin here, each given once.
    fn at(&mut self, genre: &'static str, span: Span) -> Vec<&'a Mutant> {
        let start = span.start();
        let found = self
            .wanted
            .remove(&(genre, At { line: start.line, column: start.column + 1 }))
            .unwrap_or_default();
        self.placed.extend(found.iter().map(|m| m.id));
        found
    }

    fn body(&mut self, block: &Block) {
        let Some(first) = block.stmts.first() else { return };
        let values: Vec<_> =
            self.at("FnValue", first.span()).iter().map(|m| (m.id, m.replacement.clone())).collect();
        if !values.is_empty() {
            let start = self.regions.range(first.span()).start;
            self.regions.add(start..start, Form::Body { values });
        }
    }
}

impl<'ast> Visit<'ast> for Places<'_, '_> {
    fn visit_item_fn(&mut self, f: &'ast syn::ItemFn) {
        self.body(&f.block);
        visit::visit_item_fn(self, f);
    }

    fn visit_impl_item_fn(&mut self, f: &'ast syn::ImplItemFn) {
        self.body(&f.block);
        visit::visit_impl_item_fn(self, f);
    }

    fn visit_trait_item_fn(&mut self, f: &'ast syn::TraitItemFn) {
        f.default.iter().for_each(|block| self.body(block));
        visit::visit_trait_item_fn(self, f);
    }

    fn visit_expr_binary(&mut self, e: &'ast syn::ExprBinary) {
        let others: Vec<_> =
            self.at("BinaryOperator", e.op.span()).iter().map(|m| (m.id, m.replacement.clone())).collect();
        if !others.is_empty() {
            let (left, right) = (self.regions.range(e.left.span()), self.regions.range(e.right.span()));
            let op = self.regions.text(e.op.span()).to_owned();
            self.regions.add(left.start..right.end, Form::Binary { left, right, op, others });
        }
        visit::visit_expr_binary(self, e);
    }

    fn visit_expr_unary(&mut self, e: &'ast syn::ExprUnary) {
        for mutant in self.at("UnaryOperator", e.op.span()) {
            let operand = self.regions.range(e.expr.span());
            let start = self.regions.range(e.op.span()).start;
            self.regions.add(start..operand.end, Form::Unary { operand, id: mutant.id });
        }
        visit::visit_expr_unary(self, e);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        for mutant in self.at("MatchArm", arm.span()) {
            let end = self.regions.range(arm.pat.span()).end;
            self.regions.add(end..end, Form::Arm { id: mutant.id });
        }
        if let Some((_, guard)) = &arm.guard {
            let of = self.at("MatchArmGuard", guard.span());
            let with = |value: &str| of.iter().find(|m| m.replacement == value).map(|m| m.id);
            if !of.is_empty() {
                let form = Form::Guard { always: with("true"), never: with("false") };
                self.regions.add(self.regions.range(guard.span()), form);
            }
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_struct(&mut self, e: &'ast syn::ExprStruct) {
        if let Some(rest) = &e.rest {
            for field in &e.fields {
                self.field(field, &e.path, rest);
            }
        }
        visit::visit_expr_struct(self, e);
    }
}

impl Places<'_, '_> {
    fn field(&mut self, field: &syn::FieldValue, of: &syn::Path, base: &Expr) {
        let Member::Named(name) = &field.member else { return };
        for mutant in self.at("StructField", field.span()) {
            let form = Form::Field {
                name: name.to_string(),
                of: self.regions.text(of.span()).to_owned(),
                base: self.regions.range(base.span()),
                value: self.regions.range(field.expr.span()),
                id: mutant.id,
            };
            self.regions.add(self.regions.range(field.span()), form);
        }
    }
}
