// The counting of OpenAI's Chat Completions for gpt-4o, in JavaScript: texts, names, calls and results; no tools.
//
//     node openai_chat.mjs o200k_base.zlib texts.json counts.json
//
// A minimal port, to show that the vectors suffice. Prints what it checked; exits with 1 where a count is another.

import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";

const MARK = "\\p{M}";
const UPPER = `[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}${MARK}]`;
const LOWER = `[\\p{Ll}\\p{Lm}\\p{Lo}${MARK}]`;
const BEFORE = "[^\\r\\n\\p{L}\\p{N}]?";
const SHORT = "(?:['](?:[sSſ]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD]))?";
const BLANK = "\\p{White_Space}";
const PIECES = new RegExp(
  [
    `${BEFORE}${UPPER}*${LOWER}+${SHORT}`,
    `${BEFORE}${UPPER}+${LOWER}*${SHORT}`,
    "\\p{N}{1,3}",
    ` ?[^${BLANK}\\p{L}\\p{N}]+[\\r\\n/]*`,
    `${BLANK}*[\\r\\n]+`,
    `${BLANK}+(?!\\P{White_Space})`,
    `${BLANK}+`,
  ].join("|"),
  "gu",
);

/** Token bytes, as a text of one character a byte, to rank. The file holds them in rank order, fe ff between them. */
function vocabulary(path) {
  const ranks = new Map();
  const bytes = inflateSync(readFileSync(path)).toString("latin1");
  bytes.split("\xfe\xff").forEach((token, rank) => ranks.set(token, rank));
  return ranks;
}

/** Byte-pair encoding: the neighbours of the lowest rank are joined, until none has one. */
function merged(piece, ranks) {
  if (ranks.has(piece)) return 1;
  const parts = [...piece];
  while (parts.length > 1) {
    let best = -1;
    let lowest = Infinity;
    for (let at = 0; at + 1 < parts.length; at++) {
      const rank = ranks.get(parts[at] + parts[at + 1]);
      if (rank !== undefined && rank < lowest) [best, lowest] = [at, rank];
    }
    if (best < 0) break;
    parts.splice(best, 2, parts[best] + parts[best + 1]);
  }
  return parts.length;
}

export function counter(path) {
  const ranks = vocabulary(path);
  return (text) => {
    let tokens = 0;
    for (const [piece] of text.matchAll(PIECES)) tokens += merged(Buffer.from(piece, "utf8").toString("latin1"), ranks);
    return tokens;
  };
}

const ENVELOPE = 4; // <|start|>, the role, <|message|>, <|end|>
const PRIMER = 3; // <|start|>assistant<|message|>

/** Of the calls of one message: their names and arguments, and what stands around them. */
function calls(made, count) {
  const asked = made.map(({ function: { name, arguments: given } }) => ({ name, given: read(given) }));
  if (asked.length > 1) {
    const uses = asked.map(({ name, given }) => ({ recipient_name: `functions.${name}`, parameters: given }));
    return count(JSON.stringify({ tool_uses: uses })) + 12;
  }
  const [{ name, given }] = asked;
  return count(typeof given === "string" ? given : JSON.stringify(given)) + count(`functions.${name}`) + count(name) + 4;
}

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** JSON with a blank behind each comma and colon. */
function spaced(value) {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, held]) => `${JSON.stringify(key)}: ${spaced(held)}`).join(", ")}}`;
}

export function tokens(request, count) {
  let sum = PRIMER;
  const messages = request.messages;
  for (let at = 0; at < messages.length; at++) {
    const { role, content, name, tool_calls: made } = messages[at];
    sum += ENVELOPE + (name === undefined ? 0 : count(name) + 1);
    if (role === "tool" && messages[at + 1]?.role === "tool") {
      const results = [content]; // results side by side are one list
      while (messages[at + 1]?.role === "tool") results.push(messages[++at].content);
      sum += count(spaced(results.map(read)));
      continue;
    }
    sum += count(content ?? "");
    if (made?.length) sum += calls(made, count) + (content ? 4 : 0);
  }
  return sum;
}

const [path, texts, counts] = process.argv.slice(2);
const count = counter(path);
const wrong = [];
let checked = 0;
for (const { text, o200k_base: wanted } of JSON.parse(readFileSync(texts, "utf8")).cases) {
  checked += 1;
  const found = count(text);
  if (found !== wanted) wrong.push({ text, wanted, found });
}
for (const { dialect, features, request, tokens: wanted } of JSON.parse(readFileSync(counts, "utf8")).cases) {
  if (dialect !== "openai_chat" || features.includes("tools")) continue;
  checked += 1;
  const found = tokens(request, count);
  if (found !== wanted) wrong.push({ request, wanted, found });
}
console.log(`${checked} checked, ${wrong.length} wrong`);
for (const one of wrong.slice(0, 5)) console.log(JSON.stringify(one));
process.exit(wrong.length ? 1 : 0);
