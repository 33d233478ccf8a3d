"use strict";
// Shows what a request keeps at another window. Every figure was found before; nothing here decides.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const sizes = data.sizes, by = (id) => document.getElementById(id);

  // Texts open by a click anywhere on their row, and all at once.
  const texts = [...document.querySelectorAll(".items details")];
  texts.forEach((details) => {
    const row = details.closest("tr");
    row.classList.add("openable");
    row.addEventListener("click", (event) => {
      if (event.target.closest("summary, pre, button") || String(getSelection())) return;
      details.open = !details.open;
    });
  });
  if (by("texts")) {
    by("texts").hidden = !texts.length;
    by("texts").addEventListener("click", (event) => {
      const open = texts.some((details) => !details.open);
      texts.forEach((details) => { details.open = open; });
      event.target.textContent = open ? "Close all texts" : "Open all texts";
    });
  }

  if (!sizes.length || data.window === null) return;
  const rows = [...document.querySelectorAll("[data-item]")].map((row) => ({
    row, item: data.items[row.dataset.item], place: Number(row.dataset.item),
    number: row.querySelector(".number"), why: row.querySelector(".why"), outcome: row.querySelector(".outcome"),
    opens: row.querySelector("details"), bar: row.querySelector(".after"), whole: Number(row.querySelector(".before").getAttribute("width")),
  }));
  const regions = [...document.querySelectorAll("[data-region]")].map((row) => row.querySelectorAll("td"));
  const bar = document.querySelector(".bar"), names = ["instruction", "capability", "knowledge", "conversation", "framing"];
  const tokens = (number) => number === null ? "?" : number.toLocaleString("en-US");
  const percent = (part, whole) => !whole ? "–" : part > 0 && part * 100 < whole ? "<1%" : `${Math.round(100 * part / whole)}%`;
  const say = (id, text) => { if (by(id)) by(id).textContent = text; };
  let shown = data.window;

  // The last size that begins at or below a window; -1 where nothing can be sent.
  const placeOf = (window) => {
    let low = 0, high = sizes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sizes[middle].window <= window) low = middle + 1; else high = middle;
    }
    return low - 1;
  };

  // Where only some windows are known, the nearest of them.
  const nearest = (window) => {
    window = Math.min(Math.max(Math.round(window), 0), data.most);
    if (data.every) return window;
    return sizes.reduce((best, size) => Math.abs(size.window - window) < Math.abs(best - window) ? size.window : best, Infinity);
  };

  const gone = (item, place, size) => Boolean(item.omitted) || (item.turn && !item.pinned && place < size.first);

  const left = (item, place, size) => place in size.after ? size.after[place] : gone(item, place, size) ? 0 : item.before;

  const outcomeOf = (item, place, size) => {
    if (gone(item, place, size)) return "dropped";
    return item.before !== null && left(item, place, size) < item.before ? "shortened" : "kept";
  };

  const fillNumber = (cell, item, after, outcome) => {
    cell.replaceChildren();
    if (outcome !== "kept") {
      const before = document.createElement("del");
      before.textContent = tokens(item.before);
      cell.append(before, " ");
    }
    const now = document.createElement("span");
    now.textContent = tokens(after);
    cell.append(now);
  };

  const fillRow = (one, size) => {
    const after = left(one.item, one.place, size), outcome = outcomeOf(one.item, one.place, size);
    const reason = outcome === "dropped" ? one.item.omitted || size.gone : outcome === "shortened" ? size.shortened : "";
    one.dropped = outcome === "dropped";
    const told = `${outcome} ${after} ${reason}`;
    if (one.told === told) return one.dropped ? one.item.messages : 0;
    one.told = told;
    one.row.className = one.opens ? `${outcome} openable` : outcome;
    one.empty = one.item.stands_in && !after;
    one.outcome.textContent = outcome;
    one.why.textContent = [...new Set([one.item.note, reason])].filter(Boolean).join("; ");
    one.bar.setAttribute("width", one.item.before ? one.whole * after / one.item.before : 0);
    fillNumber(one.number, one.item, after, outcome);
    return outcome === "dropped" ? one.item.messages : 0;
  };

  // Runs of dropped turns are one row with their messages and tokens, and so is the older part of a long run that stays,
  // until somebody opens them: nobody reads a thousand rows, and no browser lays them out between two frames.
  const folds = [], opened = { dropped: false, kept: false }, shortest = 4, longest = 150, newest = 100;

  const folded = (run) => {
    if (!run[0].item.turn) return 0;
    if (run[0].dropped) return run.length >= shortest ? run.length : 0;
    return run.length > longest ? run.length - newest : 0;
  };

  const foldRow = (at) => {
    if (folds[at]) return folds[at];
    const row = document.createElement("tr"), head = document.createElement("th"), cells = [];
    const name = document.createElement("span"), why = document.createElement("small"), button = document.createElement("button");
    head.scope = "row";
    button.type = "button";
    button.addEventListener("click", () => {
      const kind = row.dataset.kind;
      opened[kind] = !opened[kind];
      fold();
    });
    head.append(name, " ", why, " ", button);
    row.append(head);
    for (const kind of ["size", "number", "counted", "outcome"]) {
      const cell = document.createElement("td");
      cell.className = kind;
      row.append(cell);
      cells.push(cell);
    }
    return folds[at] = { row, name, why, button, number: cells[1], outcome: cells[3] };
  };

  const tellFold = ({ row, name, why, button, number, outcome }, run, kind) => {
    const sum = (what) => run.reduce((all, one) => all + (one.item[what] ?? 0), 0);
    row.className = `fold ${kind}`;
    row.dataset.kind = outcome.textContent = kind;
    name.textContent = `${tokens(sum("messages"))} messages, in ${tokens(run.length)} rows`;
    why.textContent = kind === "dropped" ? run[0].why.textContent : "";
    button.textContent = opened[kind] ? "fold" : "show them";
    button.setAttribute("aria-expanded", opened[kind]);
    fillNumber(number, { before: sum("before") }, kind === "kept" ? sum("before") : 0, kind);
    if (row.nextElementSibling !== run[0].row) run[0].row.before(row);
  };

  const fold = () => {
    let count = 0;
    for (let at = 0, end; at < rows.length; at = end) {
      const { item, dropped } = rows[at];
      for (end = at + 1; item.turn && end < rows.length && rows[end].item.turn && rows[end].dropped === dropped; end++);
      const run = rows.slice(at, end), most = folded(run), kind = dropped ? "dropped" : "kept";
      if (most) tellFold(foldRow(count++), run.slice(0, most), kind);
      run.forEach((one, place) => {
        const hidden = one.empty || (place < most && !opened[kind]);
        if (one.row.hidden !== hidden) one.row.hidden = hidden;
      });
    }
    folds.splice(count).forEach(({ row }) => row.remove());
  };

  const drawBar = (window, size) => {
    let at = 0;
    const scale = 1000 / data.most, room = limit(window);
    const draw = (name, x, width) => {
      let piece = bar.querySelector("." + name);
      if (!piece) {
        piece = bar.querySelector("rect").cloneNode();
        piece.setAttribute("class", name);
        bar.append(piece);
      }
      piece.setAttribute("x", x);
      piece.setAttribute("width", Math.max(width, 0));
    };
    draw("window", 0, window * scale);
    names.forEach((name, place) => {
      const width = size.regions[place] > 0 ? Math.max(size.regions[place] * scale, data.visible) : 0;
      draw(name, at, width);
      place_name(name, at, width);
      at += width;
    });
    draw("reserve", room * scale, (window - room) * scale);
    document.querySelector(".rule .prefix").setAttribute("d", `M0 3H${size.prefix * scale}`);
    document.querySelector(".rule .served").setAttribute("d", `M0 3H${size.served * scale}`);
  };

  // A region's name stands on its piece of the bar where there is space for all of it.
  const place_name = (name, x, width) => {
    const label = document.querySelector(`.name-${name}`);
    if (!label) return;
    label.setAttribute("x", `${x / 10}%`);
    label.setAttribute("width", `${Math.max(width, 0) / 10}%`);
    const text = label.firstElementChild;
    text.setAttribute("visibility", bar.clientWidth * width / 1000 > text.getComputedTextLength() + 14 ? "visible" : "hidden");
  };

  const limit = (window) => {
    const most = Math.min(data.cap ?? Infinity, window - data.answer);
    return Math.max(0, most - data.beside);
  };

  const show = (wanted) => {
    const window = shown = nearest(wanted), place = placeOf(window), refused = place < 0;
    const size = sizes[Math.max(place, 0)], all = data.items.reduce((sum, item) => sum + item.messages, 0);
    const dropped = rows.reduce((sum, one) => sum + fillRow(one, size), 0);
    fold();
    document.body.classList.toggle("refused", refused);
    drawBar(window, size);
    regions.forEach((cells, region) => {
      cells[0].textContent = tokens(size.regions[region]);
      cells[1].textContent = percent(size.regions[region], size.tokens);
    });
    say("tokens", tokens(size.tokens));
    say("upper", tokens(size.upper));
    say("reserve", tokens(window - limit(window)));
    say("left", tokens(limit(window) - size.upper));
    say("prefix", tokens(size.prefix));
    say("served", tokens(size.served));
    say("outcome", refused ? data.below : verdict(size, limit(window), all, dropped));
    const slider = by("slider"), spoken = `${tokens(window)} tokens: ${refused ? "no request" : `${tokens(all - dropped)} of ${tokens(all)} messages stay`}`;
    if (nearest(Number(slider.value)) !== window || !data.every) slider.value = window;
    slider.setAttribute("aria-valuetext", spoken);
    if (document.activeElement !== by("exactly")) by("exactly").value = window;
    by("less").disabled = place <= 0 && (refused || window === sizes[0].window);
    by("more").disabled = place === sizes.length - 1;
    by("own").disabled = window === data.window;
  };

  const verdict = (size, room, all, dropped) => {
    const stay = all ? `${tokens(all - dropped)} of ${tokens(all)} messages stay. ` : "";
    return `${stay}The request takes ${size.upper > size.tokens ? "at most " : ""}${tokens(size.upper)} of ${tokens(room)} tokens, ${percent(size.upper, room)}.`;
  };

  // To where the outcome changes: the start of the size before this one, or of the one after.
  const hop = (by) => {
    const place = placeOf(shown), on = by > 0 ? place + 1 : data.every && place >= 0 && shown > sizes[place].window ? place : place - 1;
    show(sizes[Math.min(Math.max(on, 0), sizes.length - 1)].window);
  };

  // A hand moves faster than a page is drawn: only the newest place of the slider is shown, once a frame.
  let wanted = null;
  by("slider").addEventListener("input", (event) => {
    if (wanted === null) requestAnimationFrame(() => { const last = wanted; wanted = null; show(last); });
    wanted = Number(event.target.value);
  });
  addEventListener("resize", () => show(shown));
  by("slider").addEventListener("keydown", (event) => {
    const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (data.every || !way || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    hop(way);
  });
  by("exactly").addEventListener("change", (event) => { if (event.target.value) show(Number(event.target.value)); event.target.value = shown; });
  by("less").addEventListener("click", () => hop(-1));
  by("more").addEventListener("click", () => hop(1));
  by("own").addEventListener("click", () => { show(data.window); by("slider").focus(); });
  by("try").hidden = false;
  show(data.window);
})();
