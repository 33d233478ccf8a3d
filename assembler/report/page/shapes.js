// Reads files that people drop: manifests (context.manifest()) and reports (report.to_dict(), assemble build --json).
// Whatever is wrong with one is said by its place in the file, and nothing of it is shown.

class Unreadable extends Error {}

const expected = {
  text: [(value) => typeof value === "string", "a text"],
  number: [(value) => Number.isSafeInteger(value) && value >= 0, "a whole number"],
  list: [Array.isArray, "a list"],
  object: [(value) => typeof value === "object" && value !== null && !Array.isArray(value), "an object"],
};

// The field at a path such as "decision.tokens"; `null` passes where it may be missing.
const field = (given, path, kind, missing) => {
  let value = given;
  for (const name of path.split(".")) value = value === null || typeof value !== "object" ? undefined : Object.hasOwn(value, name) ? value[name] : undefined;
  if ((value === null || value === undefined) && missing !== undefined) return missing;
  const [holds, words] = expected[kind];
  if (!holds(value)) throw new Unreadable(`expected ${words} at “${path}”`);
  return value;
};

const each = (given, path, read) => field(given, path, "list").map((item, at) => {
  try {
    return read(item, at);
  } catch (error) {
    throw error instanceof Unreadable ? new Unreadable(`${error.message} in “${path}”, item ${at}`) : error;
  }
});

const readFile = (name, text) => {
  let given;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Unreadable("it is not JSON. Save what manifest() returns with json.dump");
  }
  if (given?.decision && given?.items) return { ...manifestBuild(given), label: name };
  if (given?.rows && given?.regions) return { ...reportBuild(given), label: name };
  throw new Unreadable("it is JSON, and neither a manifest nor a report. Save context.manifest() or report.to_dict()");
};

const rowOf = (region, name, before, after, outcome, more = {}) => ({
  region: REGIONS.indexOf(region), name, before, after, outcome,
  grade: "", note: "", omitted: "", messages: 0, kind: FIXED, content: 0, largest: 0, ...more,
});

const buildOf = (regions, rows, more) => {
  const costs = REGIONS.map((name) => field(regions, name, "number"));
  const inOrder = rows.map((row, at) => [row, at]).sort(([a, x], [b, y]) => a.region - b.region || x - y).map(([row]) => row);
  return {
    regions: costs, rows: inOrder, model: null, served: 0, gone: "", shortened: "", cache: null, marks: [],
    volatile: [], notes: [], budget: null, outlook: null, fromFile: true, ...more,
  };
};

// A manifest holds hashes: what was sent is compared by them, and no dropped message has a price.
const manifestBuild = (given) => {
  const regions = field(given, "decision.regions", "object"), tokens = field(given, "decision.tokens", "number");
  const messages = manifestMessages(given), budget = manifestBudget(field(given, "terms.budget", "object", null));
  const newest = messages.findLastIndex((row) => row.role === "user");
  const late = newest < 0 ? 0 : messages.slice(newest).reduce((sum, row) => sum + row.after, 0);
  const rows = [...manifestFixed(given, regions), ...messages];
  const build = buildOf(regions, rows, { tokens, upper: field(given, "decision.upper", "number") });
  return {
    ...build, budget, window: budget?.window ?? build.upper, grade: field(given, "decision.grade", "text"),
    dialect: field(given, "terms.dialect.name", "text"), model: field(given, "terms.budget.model", "text", null),
    prefix: Math.max(0, tokens - build.regions[4] - late),
    notes: each(given, "decision.policies", (one) => `${field(one, "policy", "text")} saved ${figure(one.saved)} tokens`),
  };
};

const manifestFixed = (given, regions) => {
  const rows = [], instruction = field(given, "items.instruction", "object", null);
  const whole = (name) => field(regions, name, "number");
  if (instruction) {
    const cost = whole("instruction"), content = field(instruction, "sha256", "text");
    rows.push(rowOf("instruction", "instruction", cost, cost, KEPT, { content }));
  }
  const hashes = new Map(each(given, "items.tools", (tool) => [field(tool, "id", "text"), field(tool, "sha256", "text")]));
  let beside = whole("capability");
  for (const [id, cost] of each(given, "decision.tools", (tool) => [field(tool, "id", "text"), field(tool, "tokens", "number")])) {
    beside -= cost;
    rows.push(rowOf("capability", id, cost, cost, KEPT, { content: hashes.get(id) ?? id }));
  }
  if (beside > 0) rows.push(rowOf("capability", "wrapping of the tools", beside, beside, KEPT));
  const sent = new Set(each(given, "decision.knowledge", (one) => field(one, "sha256", "text")));
  each(given, "items.knowledge", (one) => {
    const content = field(one, "sha256", "text"), stays = sent.has(content);
    rows.push(rowOf("knowledge", field(one, "id", "text"), null, stays ? null : 0, stays ? KEPT : DROPPED, { content }));
  });
  rows.push(rowOf("framing", "framing", whole("framing"), whole("framing"), KEPT));
  return rows;
};

const manifestMessages = (given) => {
  const decided = new Map(each(given, "decision.messages", (one) => [
    field(one, "id", "text"), { after: field(one, "tokens", "number"), outcome: field(one, "outcome", "text") },
  ]));
  return each(given, "items.messages", (one) => {
    const id = field(one, "id", "text"), role = field(one, "role", "text", "unread"), found = decided.get(id);
    const outcome = !found ? DROPPED : found.outcome === "shortened" ? SHORTENED : KEPT;
    const before = outcome === KEPT ? found.after : null, content = field(one, "sha256", "text", id);
    const name = `${id.replace("-", " ")}, ${role}`;
    return { ...rowOf("conversation", name, before, found?.after ?? 0, outcome, { messages: 1, kind: TURN, content }), role };
  });
};

const manifestBudget = (given) => {
  if (!given) return null;
  const number = (name) => field(given, name, "number"), window = number("context_window");
  const answer = field(given, "least_output_tokens", "number", number("max_output_tokens")) + number("reasoning_tokens");
  const budget = {
    window, answer, beside: number("overhead") + number("safety_margin"), cap: field(given, "max_input_tokens", "number", null),
  };
  const limit = limitAt(budget, window);
  return { ...budget, limit, arithmetic: `${figure(window)} of the window - ${figure(window - limit)} kept free` };
};

const reportBuild = (given) => {
  const rows = each(given, "rows", (row) => {
    const region = field(row, "region", "text"), outcome = OUTCOMES.indexOf(field(row, "outcome", "text"));
    if (!REGIONS.includes(region)) throw new Unreadable("expected the name of a region at “region”");
    if (outcome < 0) throw new Unreadable("expected kept, shortened or dropped at “outcome”");
    const before = field(row, "before", "number", null), name = field(row, "name", "text");
    const kind = region === "conversation" ? TURN : FIXED, note = field(row, "reason", "text", "");
    return rowOf(region, name, before, field(row, "after", "number"), outcome, {
      note, kind, messages: field(row, "messages", "number", 0), content: `${name} ${before}`,
    });
  });
  const window = field(given, "context_window", "number", null), limit = field(given, "input_limit", "number", null);
  const budget = window === null || limit === null ? null : {
    window, limit, answer: window - limit, beside: 0, cap: null, arithmetic: `${figure(window)} of the window - ${figure(window - limit)} kept free`,
  };
  const upper = field(given, "upper", "number"), cache = field(given, "cache", "object", null);
  return buildOf(field(given, "regions", "object"), rows, {
    budget, upper, window: window ?? upper, tokens: field(given, "tokens", "number"), grade: field(given, "grade", "text"),
    dialect: field(given, "dialect", "text"), model: field(given, "model", "text", null),
    prefix: field(given, "cache.stable_prefix", "number", 0), served: field(given, "cache.served", "number", 0),
    cache: cache && { least: field(cache, "least", "number", null), step: field(cache, "step", "number", null), source: field(cache, "source", "text", null) },
    notes: each(given, "notes", (note) => String(note)),
  });
};
