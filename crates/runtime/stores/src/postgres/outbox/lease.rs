//! The lease of the messages that are delivered next.
//!
//! The work is proportional to the number of leases, and not to the backlog: an endpoint that is
//! down for days, or at its bound, does not slow down the others. A lease reads the marks of all
//! endpoints with pending messages. It searches about as many endpoints with due messages as it
//! leases from. Nor does the work grow with the deliveries since an old open transaction began: no
//! search reads their rows (see [`marks`]).

use super::CIRCUITS;
use crate::columns::{Columns as _, FromRow as _, entry_number, readable};
use crate::postgres::Fault;
use crate::postgres::session::{Query, Session};
use crate::postgres::values::{get, params};
use bankrail_mailbox::{Circuit, EndpointId, EntryId, LeaseCandidate, LeaseRequest, OutboxEntry};
use bankrail_values::Timestamp;
use marks::{Mark, Marks};
use std::collections::{BTreeMap, HashMap, HashSet};
use tokio_postgres::Row;

mod marks;

// Locks the leases until the transaction ends, so that they run one after the other.
const LOCK: &str = "SELECT pg_advisory_xact_lock(
    hashtextextended('bankrail_outbox_cursor', 'bankrail_outbox_cursor'::regclass::oid::bigint))";

// Selects all leases, including expired ones, the oldest first. The comparison selects the index of
// leases, and begins behind the leases that have ended.
const LEASED: &str = "SELECT entry, endpoint, due, until, lease FROM bankrail_outbox_queue
    WHERE lease >= (SELECT leases_from FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1)
    ORDER BY lease";

const STOPPED: &str = "SELECT endpoint FROM bankrail_stopped";

// Selects the first due messages of each endpoint. The comparison of rows begins at the mark, in
// the index of free messages, so that no row before it is read.
const FREE: &str = "SELECT endpoint.name, found.entry, found.due
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) 
        AS endpoint (name, due, entry, most)
    CROSS JOIN LATERAL (SELECT entry, due FROM bankrail_outbox_queue AS queue
        WHERE owner IS NULL AND queue.endpoint = endpoint.name
            AND (queue.due, queue.entry) >= (endpoint.due, endpoint.entry) AND queue.due <= $5
        ORDER BY queue.due, queue.entry LIMIT endpoint.most) AS found";

const TAKE: &str = "WITH chosen AS (
        SELECT queue.entry FROM unnest($1::bigint[]) AS choice (entry) CROSS JOIN LATERAL (
            SELECT entry FROM bankrail_outbox_queue AS queue
            WHERE queue.entry = choice.entry AND due <= $2 AND (owner IS NULL OR until <= $2)
            FOR UPDATE SKIP LOCKED) AS queue),
    taken AS (
        UPDATE bankrail_outbox_queue
        SET owner = $3, until = $4, lease = $5 + array_position($1, entry) - 1, freed = NULL
        WHERE entry = ANY (ARRAY(SELECT entry FROM chosen)) RETURNING entry, lease, due, deliveries)
    SELECT taken.lease, taken.due, taken.deliveries, 'pending' AS state, message.* FROM taken
    CROSS JOIN LATERAL (SELECT * FROM bankrail_outbox WHERE id = taken.entry OFFSET 0) AS message
    ORDER BY taken.lease";

// Gives old leases new numbers, so that the search for leases does not read ended ones among them.
// `coalesce` prevents that the planner uses the index of leases, which begins with the ended ones.
const RENUMBER: &str = "WITH old AS (
        SELECT entry FROM bankrail_outbox_queue WHERE entry = ANY ($1) AND coalesce(lease, $2) < $2
        FOR UPDATE SKIP LOCKED)
    UPDATE bankrail_outbox_queue SET lease = $2 + array_position($1, entry) - 1
    WHERE entry = ANY (ARRAY(SELECT entry FROM old)) RETURNING entry";

const GIVE_UP: &str = "WITH entry AS (
        DELETE FROM bankrail_outbox_queue WHERE entry = $1
        RETURNING entry, endpoint, due, deliveries)
    INSERT INTO bankrail_outbox_finished (entry, endpoint, state, due, deliveries, finished)
    SELECT entry, endpoint, 'dead_letter', due, deliveries, $2 FROM entry";

/// The maximum number of ended leases that the search for leases may read, in addition to one for
/// each lasting lease.
const MAX_ENDED_LEASES: i64 = 64;

/// Leases messages in its own transaction.
pub(super) async fn lease<'a>(
    session: Session<'_>,
    request: LeaseRequest<'a>,
    now: Timestamp,
) -> Result<Vec<OutboxEntry>, Fault> {
    // Workers choose one after the other, so that together they keep an endpoint's bound.
    let first = [LOCK, marks::READ, marks::FRESH, LEASED, STOPPED, CIRCUITS]
        .map(|sql| -> Query<'_> { (sql, &[]) });
    let [_, positions, fresh, leased, stopped, ill] = session.begin_with(first).await?;
    let mut marks = Marks::of(&positions, &fresh)?;
    let leased = leased
        .iter()
        .map(Leased::read)
        .collect::<Result<Vec<_>, _>>()?;
    let mut barred = HashSet::new();
    for row in &stopped {
        barred.insert(get::<&str>(row, "endpoint")?);
    }
    let mut circuits = HashMap::new();
    for row in &ill {
        let endpoint = get::<&str>(row, "endpoint")?;
        let circuit = Circuit::read(row)?;
        if circuit.is_held(now) {
            barred.insert(endpoint);
        }
        circuits.insert(endpoint, circuit);
    }
    let bounds = LeaseBounds {
        leased: &leased,
        barred: &barred,
        circuits: &circuits,
    };
    let candidates = candidates(session, &mut marks, bounds, request, now.unix_millis()).await?;
    let endpoints: HashMap<_, _> = candidates
        .iter()
        .map(|found| (found.id, found.endpoint.clone()))
        .collect();
    let chosen = request.choose(candidates);
    chosen
        .iter()
        .filter_map(|id| endpoints.get(id))
        .for_each(|endpoint| marks.touch(endpoint));
    let chosen: Vec<i64> = chosen.into_iter().map(entry_number).collect();
    if chosen.is_empty() && !marks.is_changed() {
        session.commit_with([]).await?;
        return Ok(Vec::new());
    }
    let count = i64::try_from(chosen.len()).map_err(Fault::corrupt)?;
    let owner = request.lease.owner.as_bytes().as_slice();
    let until = request.lease.until.unix_millis();
    let taken = marks.leases_to;
    marks.leases_to += count;
    let kept = renumber(session, &mut marks, &leased, &chosen).await?;
    marks.leases_from = kept
        .into_iter()
        .chain((count > 0).then_some(taken))
        .min()
        .unwrap_or(marks.leases_to);
    let now = now.unix_millis();
    let rows = marks
        .write_after((TAKE, params![chosen, now, owner, until, taken]), session)
        .await?;
    let mut entries = Vec::with_capacity(rows.len());
    for row in &rows {
        match readable::<OutboxEntry>(row)? {
            Ok(mut entry) => {
                entry.circuit = circuits.get(entry.message.endpoint.as_str()).copied();
                entries.push(entry);
            }
            // Made a dead letter, because each lease would find it again.
            Err(id) => session
                .execute(GIVE_UP, params![entry_number(id), now])
                .await
                .map(drop)?,
        }
    }
    session.commit_with([]).await?;
    Ok(entries)
}

pub(super) async fn next_due(session: Session<'_>) -> Result<Option<Timestamp>, Fault> {
    let rows = session.query(marks::NEXT_DUE, &[]).await?;
    Ok(rows
        .first()
        .ok_or_else(|| Fault::corrupt("no answer"))?
        .optional_instant("due")?)
}

/// A message under a lease, which may have expired.
struct Leased {
    entry: i64,
    endpoint: String,
    due: i64,
    until: i64,
    lease: i64,
}

impl Leased {
    fn read(row: &Row) -> Result<Self, Fault> {
        Ok(Self {
            entry: get(row, "entry")?,
            endpoint: get(row, "endpoint")?,
            due: get(row, "due")?,
            until: get(row, "until")?,
            lease: get(row, "lease")?,
        })
    }
}

/// The bounds of the leases of each endpoint.
struct LeaseBounds<'a> {
    leased: &'a [Leased],
    /// Endpoints that are stopped or held back by their circuits.
    barred: &'a HashSet<&'a str>,
    circuits: &'a HashMap<&'a str, Circuit>,
}

/// A search for an endpoint's first messages.
struct Probe {
    endpoint: String,
    mark: Mark,
    most: u32,
}

/// Searches for the first due messages of some endpoints.
async fn search(session: Session<'_>, probes: &[Probe], now: i64) -> Result<Vec<Row>, Fault> {
    let names: Vec<&str> = probes.iter().map(|probe| &*probe.endpoint).collect();
    let dues: Vec<i64> = probes.iter().map(|probe| probe.mark.due).collect();
    let entries: Vec<i64> = probes.iter().map(|probe| probe.mark.entry).collect();
    let most: Vec<i64> = probes.iter().map(|probe| probe.most.into()).collect();
    let values = params![names, dues, entries, most, now];
    session.query(FREE, values).await
}

/// Finds the candidates for `LeaseRequest::choose`.
async fn candidates(
    session: Session<'_>,
    marks: &mut Marks,
    LeaseBounds {
        leased,
        barred,
        circuits,
    }: LeaseBounds<'_>,
    request: LeaseRequest<'_>,
    now: i64,
) -> Result<Vec<LeaseCandidate>, Fault> {
    // An expired lease does not count, and its entry is free.
    let mut lasting: HashMap<&str, u32> = HashMap::new();
    let mut free: BTreeMap<String, Vec<Mark>> = BTreeMap::new();
    for leased in leased {
        if leased.until > now {
            *lasting.entry(&leased.endpoint).or_default() += 1;
        } else if leased.due <= now && !barred.contains(&*leased.endpoint) {
            free.entry(leased.endpoint.clone()).or_default().push(Mark {
                due: leased.due,
                entry: leased.entry,
            });
        }
    }
    let slow: HashSet<&str> = request.slow.iter().map(EndpointId::as_str).collect();
    let until = request.lease.until.unix_millis();
    let most = |endpoint: &str| {
        let leased = lasting.get(endpoint).copied().unwrap_or(0);
        let bound = circuits
            .get(endpoint)
            .map_or(request.per_endpoint, |it| it.bound(request.per_endpoint));
        let slots = match bound.saturating_sub(leased) {
            1.. if until <= now => u32::MAX,
            slots => slots,
        };
        slots.min(if slow.contains(endpoint) {
            request.slow_limit
        } else {
            request.limit
        })
    };
    let probes = marks
        .due(now)
        .filter(|(endpoint, _)| !barred.contains(endpoint));
    let probes = probes.map(|(endpoint, mark)| Probe {
        endpoint: endpoint.to_owned(),
        mark,
        most: most(endpoint),
    });
    let mut probes: Vec<Probe> = probes.filter(|probe| probe.most > 0).collect();
    // Slow endpoints have another round. Of the others, `choose` takes entries of the first turn
    // first, in the order of the round. So the search ends with enough of them.
    let after = request.after.map_or("", EndpointId::as_str);
    probes
        .sort_by_key(|Probe { endpoint, .. }| (!slow.contains(&**endpoint), **endpoint <= *after));
    let enough = usize::try_from(request.limit).unwrap_or(usize::MAX);
    let mut left = &*probes;
    let mut count = slow.len().saturating_add(enough);
    let mut of_first_turn = 0;
    while !left.is_empty() {
        let (next, later) = left.split_at(count.min(left.len()));
        let rows = search(session, next, now).await?;
        for row in &rows {
            let mark = Mark {
                due: get(row, "due")?,
                entry: get(row, "entry")?,
            };
            free.entry(get(row, "name")?).or_default().push(mark);
        }
        for Probe { endpoint, .. } in next {
            if !free.contains_key(endpoint) {
                // No due message is left at this mark, so the mark moves on.
                marks.touch(endpoint);
            } else if !slow.contains(&**endpoint) && !lasting.contains_key(&**endpoint) {
                of_first_turn += 1;
            }
        }
        if of_first_turn >= enough {
            break;
        }
        (left, count) = (later, count.saturating_mul(4));
    }
    let mut candidates = Vec::new();
    for (endpoint, mut found) in free {
        found.sort_unstable();
        found.truncate(usize::try_from(most(&endpoint)).unwrap_or(usize::MAX));
        let slow = slow.contains(&*endpoint);
        let leased = lasting.get(&*endpoint).copied().unwrap_or(0);
        for (turn, mark) in (leased..=u32::MAX).zip(found) {
            let id = u64::try_from(mark.entry)
                .map(EntryId::new)
                .map_err(Fault::corrupt)?;
            candidates.push(LeaseCandidate {
                id,
                endpoint: endpoint.clone(),
                turn,
                slow,
            });
        }
    }
    Ok(candidates)
}

/// Gives lasting leases new numbers if many others have ended among them. Returns the lease numbers
/// that remain in use.
async fn renumber(
    session: Session<'_>,
    marks: &mut Marks,
    leased: &[Leased],
    chosen: &[i64],
) -> Result<Vec<i64>, Fault> {
    let lasting = i64::try_from(leased.len()).map_err(Fault::corrupt)?;
    let Some(first) = leased.first() else {
        return Ok(Vec::new());
    };
    if marks.leases_to - first.lease <= 2 * lasting + MAX_ENDED_LEASES {
        return Ok(vec![first.lease]);
    }
    let old: Vec<i64> = leased
        .iter()
        .map(|leased| leased.entry)
        .filter(|entry| !chosen.contains(entry))
        .collect();
    let rows = session
        .query(RENUMBER, params![old, marks.leases_to])
        .await?;
    let mut moved = HashSet::new();
    for row in &rows {
        moved.insert(get::<i64>(row, "entry")?);
    }
    let begin = marks.leases_to;
    marks.leases_to += i64::try_from(old.len()).map_err(Fault::corrupt)?;
    // Not moved: leases whose delivery is being recorded (locked), and entries that are leased
    // again below.
    let kept = leased
        .iter()
        .filter(|leased| !moved.contains(&leased.entry))
        .map(|leased| leased.lease);
    Ok(kept.chain((!moved.is_empty()).then_some(begin)).collect())
}
