//! Chains of waits, each stored once: a tree of links, in which the number of the last link identifies a chain.
//!
//! Example: `fdatasync > flush (blkdev_issue_flush) > device: flush` has three links; another fdatasync that ends on a
//! processor shares the first. Recently used links are found without hashing, phases by their index.

use crate::phase::Phase;
use life::Op;
use operation::Wait;
use rustc_hash::FxHashMap;
use trace::CommitPhase;

/// The number of a chain in its table. 0 is the empty chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChainId(pub u32);

/// The number of a kernel function in its table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

impl FunctionId {
    /// Stands for all functions without room in the table; chains through it become [`Link::Others`].
    const OTHERS: FunctionId = FunctionId(u32::MAX);
}

/// A link of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Link {
    /// A sleep, with the function that identifies it.
    Wait(Wait, FunctionId),
    /// A step of a journal commit.
    Commit(CommitPhase),
    /// A work item, with its function.
    Work(FunctionId),
    /// A request: its operation; whether it is a piece of a split bio; whether its ends cut file system blocks.
    Request(Op, bool, bool),
    /// The last link.
    Phase(Phase),
    /// Chains that are not distinguished.
    Others,
}

/// The links of a chain, outermost first.
pub type Chain = Vec<Link>;

/// All chains of a table.
#[derive(Clone, Debug)]
pub(crate) struct Chains {
    links: Vec<(ChainId, Link)>,
    numbers: FxHashMap<(ChainId, Link), ChainId>,
    /// Recently used children of each link.
    recent: Vec<[(Link, ChainId); RECENT]>,
    /// The row in `leaves` of each link; 0 until one of its children is a phase.
    rows: Vec<u32>,
    /// The chains that end in a phase, by phase; 0 until first used.
    leaves: Vec<[ChainId; Phase::COUNT]>,
    functions: Vec<Box<str>>,
    function_numbers: FxHashMap<Box<str>, FunctionId>,
    full: bool,
}

/// Number of recently used children per link.
const RECENT: usize = 4;
const NONE: [(Link, ChainId); RECENT] = [(Link::Others, ChainId(0)); RECENT];

/// The chain that stands for all chains that are not distinguished.
pub(crate) const OTHERS: ChainId = ChainId(1);

impl Default for Chains {
    fn default() -> Chains {
        let mut chains = Chains {
            links: vec![(ChainId(0), Link::Others)],
            numbers: FxHashMap::default(),
            recent: vec![NONE],
            rows: vec![0],
            leaves: vec![[ChainId(0); Phase::COUNT]],
            functions: vec!["".into()],
            function_numbers: FxHashMap::from_iter([("".into(), FunctionId(0))]),
            full: false,
        };
        chains.add(ChainId(0), Link::Others);
        chains
    }
}

impl Chains {
    /// The chain with one more link; [`OTHERS`] if the link is new and there are already `bound` links.
    #[inline]
    pub fn child(&mut self, parent: ChainId, link: Link, bound: usize) -> ChainId {
        if let Link::Phase(phase) = link {
            return self.leaf(parent, phase, phase.index() as u8, bound);
        }
        let recent = &self.recent[parent.0 as usize];
        match recent.iter().find(|(known, id)| *known == link && *id != ChainId(0)) {
            Some((_, id)) => *id,
            None => {
                let id = self.look_up(parent, link, bound);
                let recent = &mut self.recent[parent.0 as usize];
                recent.rotate_right(1);
                recent[0] = (link, id);
                id
            }
        }
    }

    /// The chain with one more link, a phase with this index.
    #[inline]
    pub fn leaf(&mut self, parent: ChainId, phase: Phase, index: u8, bound: usize) -> ChainId {
        match self.leaves[self.rows[parent.0 as usize] as usize][index as usize] {
            ChainId(0) => self.add_leaf(parent, phase, bound),
            id => id,
        }
    }

    #[cold]
    fn add_leaf(&mut self, parent: ChainId, phase: Phase, bound: usize) -> ChainId {
        let id = self.look_up(parent, Link::Phase(phase), bound);
        let row = &mut self.rows[parent.0 as usize];
        if *row == 0 {
            *row = self.leaves.len() as u32;
            self.leaves.push([ChainId(0); Phase::COUNT]);
        }
        self.leaves[*row as usize][phase.index()] = id;
        id
    }

    fn look_up(&mut self, parent: ChainId, link: Link, bound: usize) -> ChainId {
        match self.numbers.get(&(parent, link)) {
            Some(id) => *id,
            None if parent == OTHERS => OTHERS,
            None if self.links.len() >= bound => {
                self.full = true;
                OTHERS
            }
            None if matches!(link, Link::Wait(_, FunctionId::OTHERS) | Link::Work(FunctionId::OTHERS)) => {
                OTHERS
            }
            None => self.add(parent, link),
        }
    }

    /// Whether a link or a function had no room.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Number of links.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// The chain without its last link.
    pub fn parent(&self, id: ChainId) -> ChainId {
        self.links[id.0 as usize].0
    }

    fn add(&mut self, parent: ChainId, link: Link) -> ChainId {
        let id = ChainId(self.links.len() as u32);
        self.links.push((parent, link));
        self.recent.push(NONE);
        self.rows.push(0);
        self.numbers.insert((parent, link), id);
        id
    }

    /// The last link of a chain.
    pub fn last(&self, id: ChainId) -> Link {
        self.links[id.0 as usize].1
    }

    /// The links of a chain, innermost first.
    pub fn backward(&self, id: ChainId) -> impl Iterator<Item = Link> + '_ {
        let mut at = id;
        std::iter::from_fn(move || {
            let (parent, link) = *self.links.get(at.0 as usize).filter(|_| at != ChainId(0))?;
            at = parent;
            Some(link)
        })
    }

    /// The links of a chain, outermost first.
    pub fn links(&self, id: ChainId) -> Chain {
        let mut links: Chain = self.backward(id).collect();
        links.reverse();
        links
    }

    /// The number of a function; [`FunctionId::OTHERS`] if there is no room.
    pub fn function(&mut self, name: &str, bound: usize) -> FunctionId {
        if let Some(id) = self.function_numbers.get(name) {
            return *id;
        }
        if self.functions.len() >= bound {
            self.full = true;
            return FunctionId::OTHERS;
        }
        let id = FunctionId(self.functions.len() as u32);
        self.functions.push(name.into());
        self.function_numbers.insert(name.into(), id);
        id
    }

    /// The name of a function; empty if unknown.
    pub fn function_name(&self, id: FunctionId) -> &str {
        self.functions.get(id.0 as usize).map_or("", |name| name)
    }

    /// The number here of chain `id` of another table.
    pub fn import(&mut self, other: &Chains, id: ChainId, bound: usize) -> ChainId {
        let mut at = ChainId(0);
        for link in other.links(id) {
            let link = match link {
                Link::Wait(wait, f) => Link::Wait(wait, self.function(other.function_name(f), bound)),
                Link::Work(f) => Link::Work(self.function(other.function_name(f), bound)),
                link => link,
            };
            at = self.child(at, link, bound);
        }
        at
    }
}
