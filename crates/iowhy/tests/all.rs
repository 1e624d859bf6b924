//! All of them in one program: to link one for each file takes longer than to compile them.

mod architecture;
mod compare;
mod corpus;
mod events;
mod exports;
mod inputs;
mod ledgers;
mod links;
mod ordinary_user;
mod page;
mod plots;
mod publishable;
mod raw_events;
mod redact;
mod relieved;
mod remedies;
mod schema;
mod schemas;
mod screens;
mod slow;
mod steering;
mod texts;
mod verdicts;
mod whatif;
mod words;
