// What changed from one build to another, and what of the later request a prefix cache cannot serve.

// What was sent, in the order in which caches read a request: tools, system text, then the conversation.
const sentOf = (build) => {
  const order = (row) => row.region === 4 ? 9 : row.kind === LATE ? 8 : [1, 0, 2, 3][row.region];
  const sent = build.rows.filter((row) => row.outcome !== DROPPED && row.after !== 0);
  return sent.map((row, at) => [row, at]).sort(([a, x], [b, y]) => order(a) - order(b) || x - y).map(([row]) => row);
};

const same = (a, b) => a === b || (a.name === b.name && a.region === b.region && a.content === b.content && a.after === b.after);

// Names may repeat, as two documents of one source: each is told by how many of its name stand before it.
const keyed = (rows) => {
  const seen = new Map();
  return new Map(rows.map((row) => {
    const name = `${row.region} ${row.name}`, times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return [`${name} ${times}`, row];
  }));
};

const inPrefix = (row) => row.region !== 4;

const sharedPrefix = (before, now) => {
  let at = 0, tokens = 0;
  for (; at < before.length && at < now.length && inPrefix(now[at]) && same(before[at], now[at]); at++) tokens += now[at].after ?? 0;
  return { at, tokens };
};

// `first` is null where the later request goes on from the earlier one. `reread` are tokens that both send and that
// stand after the first change: what it costs the cache.
const compare = (earlier, later) => {
  const before = sentOf(earlier), now = sentOf(later), { at, tokens } = sharedPrefix(before, now);
  const goesOn = at >= before.length || !inPrefix(before[at]);
  const then = keyed(before), there = keyed(now), known = keyed(earlier.rows);
  const rows = [], note = (change, row, was) => rows.push({ row, was, change });
  for (const [key, row] of there) {
    const was = then.get(key);
    if (!was) note(known.has(key) ? "back" : "added", row, null);
    else if (row.after !== was.after && row.outcome === SHORTENED) note("shortened", row, was);
    else if (!same(row, was)) note("changed", row, was);
  }
  for (const [key, was] of then) if (!there.has(key)) note("dropped", was, was);
  const reread = [...there].reduce((sum, [key, row], place) => {
    return sum + (place >= at && inPrefix(row) && then.has(key) && same(then.get(key), row) ? row.after ?? 0 : 0);
  }, 0);
  return { first: goesOn ? null : firstOf(before[at], now[at], then, there), prefix: tokens, outside: Math.max(0, later.tokens - tokens), reread, rows };
};

const firstOf = (was, row, then, there) => {
  const held = (map, one) => [...map.values()].some((other) => other.name === one.name && other.region === one.region);
  if (!held(there, was)) return { row: was, change: "dropped" };
  if (!row || !inPrefix(row)) return { row: was, change: "moved" };
  if (!held(then, row)) return { row, change: "added" };
  return { row, change: row.name !== was.name ? "moved" : row.outcome === SHORTENED && row.after < was.after ? "shortened" : "changed" };
};
