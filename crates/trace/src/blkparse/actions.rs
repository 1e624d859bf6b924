//! The action column (`%a`) and the category bits that the kernel sets with each action.

use crate::event::{Action, Flags};

/// The action for a word in the action column; `None` for any other word.
pub fn action(word: &[u8]) -> Option<Action> {
    Some(match word {
        b"Q" => Action::Queue,
        b"M" => Action::BackMerge,
        b"F" => Action::FrontMerge,
        b"G" => Action::Get,
        b"S" => Action::SleepForRequest,
        b"R" => Action::Requeue,
        b"D" => Action::Issue,
        b"C" => Action::Complete,
        b"P" => Action::Plug,
        b"U" => Action::Unplug,
        b"UT" | b"T" => Action::UnplugImplicit,
        b"I" => Action::Insert,
        b"X" => Action::Split,
        b"B" => Action::Bounce,
        b"A" => Action::Remap,
        b"m" => Action::Message,
        b"ABORT" => Action::Abort,
        b"ZP" => Action::ZonePlug,
        b"ZU" => Action::ZoneUnplug,
        b"ZM" => Action::ZoneManage,
        b"?" => Action::Other(0),
        _ => return None,
    })
}

/// The category bit that the kernel sets for an action (`BLK_TA_*`, include/uapi/linux/blktrace_api.h).
pub fn category(action: Action) -> Flags {
    match action {
        Action::Queue
        | Action::BackMerge
        | Action::FrontMerge
        | Action::Get
        | Action::SleepForRequest
        | Action::Plug
        | Action::Unplug
        | Action::UnplugImplicit
        | Action::Insert
        | Action::Abort => Flags::QUEUE,
        Action::Requeue => Flags::REQUEUE,
        Action::Issue => Flags::ISSUE,
        Action::Complete => Flags::COMPLETE,
        Action::Message => Flags::NOTE,
        _ => Flags(0),
    }
}
