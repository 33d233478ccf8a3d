// Figures and names for people, elements for the page, and what becomes of a row. Nothing here decides.

const REGIONS = ["instruction", "capability", "knowledge", "conversation", "framing"];
const OUTCOMES = ["kept", "shortened", "dropped"];
const [FIXED, TURN, PINNED, STAND_IN, LATE] = [0, 1, 2, 3, 4];
const [KEPT, SHORTENED, DROPPED] = [0, 1, 2];

const byId = (id) => document.getElementById(id);

const figure = (number) => number === null || number === undefined ? "?" : number.toLocaleString("en-US");

// A share for people: what is there is never 0%, and what is not all is never 100%.
const percent = (part, whole) => {
  if (!whole) return "–";
  const rounded = Math.round(100 * part / whole);
  return part > 0 && part * 100 < whole ? "<1%" : part < whole && rounded === 100 ? ">99%" : `${rounded}%`;
};

const plural = (number, one, many = `${one}s`) => `${figure(number)} ${number === 1 ? one : many}`;

// Scripts whose letters need joiners.
const JOINING = ["Arabic", "Syriac", "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala"].map((name) => `\\p{Script=${name}}`).join("");
const JOINER = `(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\uFE0F])\\u200D(?=\\p{Extended_Pictographic})|(?<=[${JOINING}])[\\u200C\\u200D](?=[${JOINING}])`;
const HIDDEN = new RegExp(`(?!${JOINER})(?:[\\p{C}\\p{Zl}\\p{Zp}]|(?! )\\p{Zs})`, "gu");

// One line in which nothing hides: what cannot be printed is a replacement character.
const shown = (text) => String(text).replace(HIDDEN, "\uFFFD");

// A text as it stands, line breaks and all, without control characters and what turns direction.
const prose = (text) => String(text).replace(/(?![\n\t])[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/gu, "\uFFFD");

const say = (id, text) => { if (byId(id).textContent !== text) byId(id).textContent = text; };

// An element with attributes and children. A text stays a text, whatever it says.
const element = (name, attributes = {}, ...children) => {
  const made = ["svg", "path", "rect", "text", "line"].includes(name)
    ? document.createElementNS(byId("bar").namespaceURI, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

// The builds of a page, from what was written into it: rows are shared, and a build names them by runs.
const buildsOf = (data) => {
  const rows = data.rows.map(([region, name, before, after, outcome, grade, note, omitted, messages, kind, largest, content, text]) => ({
    region, name, before, after, outcome, messages, kind, content, text,
    largest: largest && { index: largest[0], role: data.words[largest[1]], tokens: largest[2] },
    grade: data.words[grade], note: data.words[note], omitted: data.words[omitted],
  }));
  return data.builds.map((build, at) => ({
    ...build, label: build.label ?? `build ${at + 1}`,
    refused: data.words[build.refused] ?? "", gone: data.words[build.gone], shortened: data.words[build.shortened], notes: build.notes.map((note) => data.words[note]),
    budget: build.budget && { ...build.budget, arithmetic: data.words[build.budget.arithmetic] },
    cache: build.cache && { ...build.cache, source: data.words[build.cache.source] || null },
    rows: build.items.flatMap(([first, number]) => rows.slice(first, first + number)),
    outlook: build.outlook && { ...build.outlook, sizes: build.outlook.sizes.map((size) => sizeOf(size, data.words)) },
  }));
};

const sizeOf = (list, words) => ({
  window: list[0], tokens: list[1], upper: list[2], prefix: list[3], served: list[4], first: list[5],
  regions: list.slice(6, 11), gone: words[list[11]], shortened: words[list[12]], after: list[13] ?? {},
});

// What becomes of a row at a size; without one, what became of it in the build.
const stateOf = (row, place, size) => {
  if (!size) return { outcome: row.outcome, after: row.after };
  const goes = Boolean(row.omitted) || (row.kind === TURN && place < size.first);
  const after = place in size.after ? size.after[place] : goes ? 0 : row.before;
  return { after, outcome: goes ? DROPPED : row.before !== null && after < row.before ? SHORTENED : KEPT };
};

const whyOf = (row, outcome, size) => {
  const reason = outcome === DROPPED ? row.omitted || size.gone : outcome === SHORTENED ? size.shortened : "";
  return [...new Set([row.note, row.kind === PINNED && !row.note ? "pinned" : "", reason])].filter(Boolean).join("; ");
};

// What a budget leaves for the request at a window.
const limitAt = (budget, window) => Math.max(0, Math.min(budget.cap ?? Infinity, window - budget.answer) - budget.beside);

const leftOut = (build) => build.rows.reduce((sum, row) => sum + (row.outcome === DROPPED ? row.messages : 0), 0);
