// Draws one build: its figures, the bar, the slider over other windows, and every item. Every figure was found before.

const request = (() => {
  const VISIBLE = 4; // pixels of the bar's width: a region that is there shows, however small
  const TICKS = 200; // more of them are a grey line that says nothing
  const SHORTEST = 4; // dropped rows in a run that fold into one
  let build = null, window_ = 0, size = null, unfolded = new Set();

  const list = new List(byId("items"), {
    draw: (entry) => drawn[entry.kind](entry), detail: (entry) => detailOf(entry), tell: (entry) => told(entry),
  });

  const open = (given) => {
    build = given;
    size = null;
    unfolded = new Set();
    window_ = build.window;
    list.opened.clear();
    byId("footnote").textContent = build.rows.some((row) => row.text)
      ? "This page shows texts of the request: share it as you would share those."
      : "This page holds names and figures, no text of any message.";
    drawOnce();
    show(build.window);
  };

  const now = () => size ?? build;

  // What holds at every window.
  const drawOnce = () => {
    const { outlook, budget, cache } = build;
    const sizes = outlook?.sizes ?? [], ticks = sizes.length > TICKS ? [] : sizes;
    byId("try").hidden = !sizes.length;
    for (const id of ["legend", "ticks-of-windows"]) byId(id).toggleAttribute("hidden", !ticks.length);
    byId("slider").max = byId("exactly").max = most();
    byId("own").lastChild.textContent = budget ? figure(budget.window) : "";
    byId("own").ariaLabel = budget ? `Back to the budget’s ${figure(budget.window)} tokens` : "";
    byId("missing").textContent = outlook?.missing || (outlook && !outlook.every && `${plural(outlook.sizes.length, "window")} ${outlook.sizes.length === 1 ? "is" : "are"} shown: ${outlook.some}`) || "";
    byId("ticks").setAttribute("d", ticks.map((one) => `M${(1000 * one.window / most()).toFixed(2)} 0V10`).join(""));
    say("scale-end", `${figure(most())} tokens`);
    const repeated = new Set([build.gone, build.shortened]);
    fillList("notes", build.notes.filter((note) => !repeated.has(note)).map((note) => element("li", {}, shown(note))));
    drawCache(cache);
  };

  const fillList = (id, entries) => {
    byId(id).replaceChildren(...entries);
    byId(id).closest("section").hidden = !entries.length;
  };

  const drawCache = (cache) => {
    byId("cache").closest("section").hidden = !cache && !build.prefix;
    const rule = !cache?.source ? "How this provider caches is not known."
      : cache.least === null ? "This model caches no prefix."
        : `It caches prefixes from ${figure(cache.least)} tokens on${cache.step > 1 ? `, in steps of ${figure(cache.step)}` : ""}.`;
    say("rule", rule);
    byId("source").hidden = !cache?.source;
    say("source-text", shown(cache?.source ?? ""));
    const marks = build.marks.map((mark) => element("li", {}, `A cache mark for ${shown(mark.lifetime)} stands after ${mark.after}.`));
    const found = build.volatile.map((one) => element("li", { class: "warn" },
      `It holds a ${one.kind} in ${one.region}, ${shown(one.name)}, at character ${figure(one.offset)}`
      + `${one.times > 1 ? `, ${one.times} times` : ""}: each new value makes the cache read all of it anew.`));
    byId("marks").replaceChildren(...marks, ...found);
  };

  const most = () => build.outlook?.most || Math.max(build.window, build.upper) || 1;

  // The last size that begins at or below a window; -1 where nothing can be sent.
  const placeOf = (window) => {
    const { sizes } = build.outlook;
    let low = 0, high = sizes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sizes[middle].window <= window) low = middle + 1; else high = middle;
    }
    return low - 1;
  };

  // Where only some windows are known, the nearest of them.
  const nearest = (window) => {
    window = Math.min(Math.max(Math.round(window), 0), most());
    if (build.outlook.every) return window;
    return build.outlook.sizes.reduce((best, one) => Math.abs(one.window - window) < Math.abs(best - window) ? one.window : best, build.window);
  };

  const show = (wanted) => {
    const moves = Boolean(build.outlook?.sizes.length);
    window_ = moves ? nearest(wanted) : build.window;
    const place = moves ? placeOf(window_) : 0, refused = place < 0 || (window_ === build.window && Boolean(build.refused));
    size = moves && window_ !== build.window ? build.outlook.sizes[Math.max(place, 0)] : null;
    document.body.classList.toggle("refused", refused);
    const every = build.rows.reduce((sum, row) => sum + row.messages, 0);
    const gone = build.rows.reduce((sum, row, at) => sum + (stateOf(row, at, size).outcome === DROPPED ? row.messages : 0), 0);
    drawBar();
    drawFigures(refused, every, gone);
    drawItems();
    if (moves) drawSlider(place, refused, every, gone);
  };

  const drawFigures = (refused, every, gone) => {
    const { budget } = build, { tokens, upper, regions, prefix, served } = now();
    const room = budget ? limitAt(budget, window_) : null, left = budget && room - upper;
    say("tokens", figure(tokens));
    say("share", shareOf(refused, upper, room));
    say("arithmetic", !budget ? "" : window_ !== build.window
      ? `A window of ${figure(window_)} tokens is tried; the budget’s is ${figure(budget.window)}.`
      : `${figure(budget.limit)} = ${shown(budget.arithmetic).replace(/(\d|-) /g, "$1\u00a0")}`); // no number without its name
    say("items-name", refused ? "Items of the smallest request" : "Items");
    say("grade", upper > tokens ? `The count is ${shown(build.grade)}: at most ${figure(upper)}, which is what must fit.` : `The count is ${shown(build.grade)}.`);
    [...byId("regions").querySelectorAll("[data-region]")].forEach((row, at) => {
      row.cells[1].textContent = figure(regions[at]);
      row.cells[2].textContent = percent(regions[at], tokens);
    });
    byId("reserve").hidden = byId("left").hidden = !budget;
    byId("reserve").cells[1].textContent = figure(budget && window_ - room);
    byId("left").cells[0].lastChild.data = left < 0 ? "too many" : "left";
    byId("left").cells[1].textContent = figure(Math.abs(left));
    say("prefix", figure(prefix));
    byId("may").hidden = !build.cache?.source || build.cache.least === null;
    say("served", figure(served));
    const stay = every ? `${figure(every - gone)} of ${plural(every, "message")} ${every === 1 ? "stays" : "stay"}. ` : "";
    const takes = !budget ? "There is no budget." : `The request takes ${upper > tokens ? "at most " : ""}${figure(upper)} of ${figure(room)} tokens, ${percent(upper, room)}.`;
    say("outcome", !refused ? stay + takes : window_ === build.window ? build.refused : build.outlook.below);
  };

  const shareOf = (refused, upper, room) => {
    if (!build.budget) return "and no budget";
    if (refused) return `at the least, ${figure(upper - room)} more than this window leaves`;
    return `${percent(upper, room)} of the ${figure(room)} that ${size ? "this window" : "the budget"} leaves`;
  };

  const drawBar = () => {
    const bar = byId("bar"), scale = 1000 / most(), least = 1000 * VISIBLE / (bar.clientWidth || 1000), room = build.budget ? limitAt(build.budget, window_) : window_;
    const piece = (name, x, width) => {
      const rect = bar.querySelector(`.${name}`);
      rect.setAttribute("x", x);
      rect.setAttribute("width", Math.max(width, 0));
    };
    piece("window", 0, window_ * scale);
    let at = 0;
    REGIONS.forEach((name, place) => {
      const tokens = now().regions[place], width = tokens > 0 ? Math.max(tokens * scale, least) : 0;
      piece(name, at, width);
      placeName(name, at, width);
      at += width;
    });
    piece("reserve", room * scale, (window_ - room) * scale);
    byId("prefix-line").setAttribute("d", `M0 3H${now().prefix * scale}`);
    byId("served-line").setAttribute("d", `M0 3H${now().served * scale}`);
  };

  // A region's name stands on its piece of the bar where there is space for all of it.
  const placeName = (name, x, width) => {
    const label = document.querySelector(`.name-${name}`), text = label.firstElementChild;
    label.setAttribute("x", `${x / 10}%`);
    label.setAttribute("width", `${Math.max(width, 0) / 10}%`);
    text.setAttribute("visibility", byId("bar").clientWidth * width / 1000 > text.getComputedTextLength() + 14 ? "visible" : "hidden");
  };

  const drawSlider = (place, refused, every, gone) => {
    const slider = byId("slider"), { sizes } = build.outlook;
    if (nearest(Number(slider.value)) !== window_ || !build.outlook.every) slider.value = window_;
    slider.setAttribute("aria-valuetext", `${figure(window_)} tokens: ${refused ? "no request" : `${figure(every - gone)} of ${plural(every, "message")} stay`}`);
    if (document.activeElement !== byId("exactly")) byId("exactly").value = window_;
    byId("less").disabled = place <= 0 && (refused || window_ === sizes[0].window);
    byId("more").disabled = place === sizes.length - 1;
    byId("own").disabled = window_ === build.window;
  };

  // The rows that are searched for, the largest first, whatever became of them.
  const largestFirst = (searched) => entriesOf(searched, false).filter((entry) => entry.kind === "row")
    .sort((a, b) => (b.row.before ?? 0) - (a.row.before ?? 0) || a.place - b.place);

  // The entries of the list: a head for each region, the rows that are searched for, runs of dropped ones folded.
  const entriesOf = (searched, folding = !searched) => {
    const entries = [], { rows } = build, states = rows.map((row, at) => stateOf(row, at, size));
    const newest = build.fromFile || !build.prefix ? -1 : rows.findLastIndex((row) => row.kind === TURN || row.kind === PINNED);
    const largest = rows.reduce((most, row) => Math.max(most, row.before ?? row.after ?? 0), 1);
    let region = null;
    for (let place = 0; place < rows.length; place++) {
      const row = rows[place], { outcome, after } = states[place];
      if (row.kind === STAND_IN && !after) continue;
      if (searched && !`${row.name} ${OUTCOMES[outcome]} ${row.text ?? ""}`.toLowerCase().includes(searched)) continue;
      if (row.region !== region) {
        region = row.region;
        entries.push({ kind: "head", key: `head ${region}`, region });
      }
      const begins = folding && outcome === DROPPED && states[place - 1]?.outcome !== DROPPED;
      const fold = begins ? foldOf(rows.slice(place, runOf(states, place))) : null;
      if (fold) entries.push(fold);
      if (fold && !fold.open) { place += fold.rows - 1; continue; }
      if (place === newest && outcome !== DROPPED) entries.push({ kind: "ends", key: "ends" });
      entries.push({ kind: "row", key: `row ${place}`, place, row, outcome, after, largest, opens: true });
      build.marks.forEach((mark) => { if (mark.item === place) entries.push({ kind: "mark", key: `mark ${mark.after}`, mark }); });
    }
    return entries;
  };

  // Where the run of dropped rows of one region ends that begins here.
  const runOf = (states, place) => {
    let end = place;
    while (end < states.length && build.rows[end].region === build.rows[place].region && states[end].outcome === DROPPED) end++;
    return end;
  };

  // Dropped rows side by side as one entry; null for a few, which stand for themselves.
  const foldOf = (run) => {
    if (run.length < SHORTEST) return null;
    const key = `fold ${run[0].name}`, open = unfolded.has(key), messages = run.reduce((sum, row) => sum + row.messages, 0);
    const before = run.reduce((sum, row) => sum === null || row.before === null ? null : sum + row.before, 0);
    const what = messages ? plural(messages, "message") : plural(run.length, "item");
    const rows = messages && messages !== run.length ? `in ${plural(run.length, "row")}` : "";
    const why = [rows, whyOf(run[0], DROPPED, now())].filter(Boolean).join("; ");
    const unfolds = () => { if (open) unfolded.delete(key); else unfolded.add(key); drawItems(); };
    return { kind: "fold", key, what, before, unfolds, open, why, rows: run.length };
  };

  // All that the row of an entry says: one that says the same is not drawn again.
  const told = ({ kind, row, outcome, after, status, was, what, before, open, why }) => kind === "row"
    ? `${row.region} ${row.name} ${row.before} ${row.text?.length} ${after} ${status} ${was} ${outcome} ${whyOf(row, outcome, now())} ${now().tokens}`
    : `${what} ${before} ${open} ${why}`;

  const drawItems = () => {
    const changes = changesShown();
    byId("summary").hidden = !changes;
    const searched = byId("search").value.trim().toLowerCase();
    const sorted = byId("largest").ariaPressed === "true";
    byId("largest").hidden = Boolean(changes);
    list.show(changes ? changes(searched) : sorted ? largestFirst(searched) : entriesOf(searched));
    byId("none").hidden = list.entries.length > 0;
  };

  const cell = (kind, ...children) => element("td", { class: kind }, ...children);

  const swatch = (region) => element("i", { class: REGIONS[region] });

  const numbers = (before, after, changed) => cell("number", ...(changed && before !== null ? [element("del", {}, figure(before)), " "] : []), element("span", {}, figure(after)));

  const sizeBar = (region, before, after, largest) => {
    const bar = element("svg", { class: REGIONS[region], viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
    bar.append(element("rect", { class: "before", width: 100 * (before ?? 0) / largest, height: 8 }), element("rect", { class: "after", width: 100 * (after ?? 0) / largest, height: 8 }));
    return cell("size", bar);
  };

  const wide = (kind, ...children) => element("tr", { class: kind }, element("td", { colspan: 5 }, ...children));

  const drawn = {
    head: ({ region }) => element("tr", { class: "group" }, element("th", { scope: "col", colspan: 5 }, swatch(region), REGIONS[region])),
    ends: () => wide("ends", "the stable prefix ends here"),
    mark: ({ mark }) => wide("mark", `cache mark, ${shown(mark.lifetime)}`),
    fold: ({ what, before, open, why }) => {
      const button = element("button", { type: "button", "aria-expanded": open, class: "toggle" }, what);
      const name = element("th", { scope: "row", colspan: 2 }, element("div", {}, button, " ", element("small", { class: "why" }, shown(why))));
      return element("tr", { class: "fold dropped" }, name, numbers(before, 0, true), cell("counted"), cell("outcome", "dropped"));
    },
    row: ({ row, place, outcome, after, largest, status, was, why }) => {
      const button = element("button", { type: "button", class: "toggle" }, element("bdi", {}, shown(row.name)));
      const reason = element("small", { class: "why" }, shown(why ?? whyOf(row, outcome, now())));
      const name = element("th", { scope: "row" }, element("div", {}, button, " ", reason)), before = was === undefined ? row.before : was;
      return element("tr", { "data-item": place, class: status ?? OUTCOMES[outcome] }, name,
        sizeBar(row.region, before, after, largest), numbers(before, after, (was === undefined ? outcome !== KEPT : false) || Boolean(was && was !== after)),
        cell("counted", row.grade || "–"), cell("outcome", status ?? OUTCOMES[outcome]));
    },
  };

  const detailOf = ({ row, outcome, after }) => {
    const facts = [
      ["name", row.name.length > 20 ? shown(row.name) : ""],
      ["whole", `${figure(row.before)} tokens${row.grade ? `, ${row.grade}` : ""}`],
      ["sent", `${figure(after)} tokens, ${percent(after, now().tokens)} of the request`],
      ["largest", row.largest ? `message ${row.largest.index}, ${shown(row.largest.role)}: ${figure(row.largest.tokens)} tokens` : ""],
      ["why", shown(whyOf(row, outcome, now()))],
    ];
    const told = element("dl", {}, ...facts.filter(([, text]) => text).flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
    return element("div", { class: "facts" }, told, ...(row.text ? [element("pre", { dir: "auto", tabindex: 0, role: "region", "aria-label": `Text of ${shown(row.name)}` }, prose(row.text))] : []));
  };

  // To where the outcome changes: the start of the size before this one, or of the one after.
  const hop = (way) => {
    const { sizes, every } = build.outlook, place = placeOf(window_);
    const on = way > 0 ? place + 1 : every && place >= 0 && window_ > sizes[place].window ? place : place - 1;
    show(sizes[Math.min(Math.max(on, 0), sizes.length - 1)].window);
  };

  // A hand moves faster than a page is drawn: only the newest place of the slider is shown, once a frame.
  let wanted = null;
  byId("slider").addEventListener("input", (event) => {
    if (wanted === null) requestAnimationFrame(() => { const last = wanted; wanted = null; show(last); });
    wanted = Number(event.target.value);
  });
  byId("slider").addEventListener("keydown", (event) => {
    const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (build.outlook.every || !way || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    hop(way);
  });
  byId("exactly").addEventListener("change", (event) => { if (event.target.value) show(Number(event.target.value)); event.target.value = window_; });
  byId("less").addEventListener("click", () => hop(-1));
  byId("more").addEventListener("click", () => hop(1));
  byId("own").addEventListener("click", () => { show(build.window); byId("slider").focus(); });
  byId("search").addEventListener("input", drawItems);
  byId("largest").addEventListener("click", () => {
    byId("largest").ariaPressed = String(byId("largest").ariaPressed !== "true");
    drawItems();
  });
  byId("texts").addEventListener("click", () => {
    list.openAll(!list.allOpen);
    say("texts", list.allOpen ? "Close all" : "Open all");
  });
  addEventListener("resize", () => { if (build) drawBar(); });

  let changesShown = () => null;
  return { open, foldOf, redraw: drawItems, onChanges: (found) => { changesShown = found; }, build: () => build };
})();
