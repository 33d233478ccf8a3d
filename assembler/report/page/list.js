// A table of any length of which only what can be seen is in the page: two spacers stand for the rest.
// Closed rows are of one height; what an opened row adds is measured when it is drawn, and guessed before.

// A table of few rows is drawn whole, so that a browser's own search finds all of it.

const OVERSCAN = 8, GUESSED = 6, WHOLE = 150, PRINTED = 2000;

class List {
  // `draw(entry)` makes the row of an entry, `detail(entry)` what opens below it, and `tell(entry)` is all that both say.
  constructor(table, { draw, detail, tell }) {
    Object.assign(this, { table, draw, detail, tell, body: table.tBodies[0], entries: [], opened: new Set(), heights: new Map() });
    Object.assign(this, { drawn: new Map(), offsets: new Float64Array(1), active: null, unit: 0, allOpen: false });
    this.spacers = [0, 1].map(() => element("tr", { "aria-hidden": "true", class: "spacer" }, element("td", { colspan: 5 })));
    this.body.append(...this.spacers);
    table.tabIndex = -1;
    table.addEventListener("keydown", (event) => this.onKey(event));
    this.body.addEventListener("click", (event) => this.onClick(event));
    addEventListener("scroll", () => this.render(), { passive: true });
    addEventListener("resize", () => { this.unit = 0; this.heights.clear(); this.render(); });
    addEventListener("beforeprint", () => { this.printing = true; this.render(); });
    addEventListener("afterprint", () => { this.printing = false; this.render(); });
  }

  show(entries) {
    this.entries = entries;
    this.table.setAttribute("aria-rowcount", entries.length + 1);
    this.measure();
    this.render();
  }

  isOpen(entry) {
    return Boolean(entry.opens) && this.opened.has(entry.key) !== this.allOpen;
  }

  openAll(open) {
    this.allOpen = open;
    this.opened.clear();
    this.measure();
    this.render();
  }

  toggle(entry) {
    if (this.opened.has(entry.key)) this.opened.delete(entry.key); else this.opened.add(entry.key);
    this.measure();
    this.render();
  }

  // Where each entry begins. One pass: 50,000 additions take less than a millisecond.
  measure() {
    const unit = this.unit || 40, { entries } = this;
    this.offsets = new Float64Array(entries.length + 1);
    let at = 0;
    entries.forEach((entry, place) => {
      at += unit + (this.isOpen(entry) ? this.heights.get(entry.key) ?? GUESSED * unit : 0);
      this.offsets[place + 1] = at;
    });
  }

  placeAt(y) {
    let low = 0, high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.offsets[middle + 1] <= y) low = middle + 1; else high = middle;
    }
    return low;
  }

  range() {
    const whole = this.printing ? PRINTED : WHOLE;
    if (this.printing || this.entries.length <= whole) return [0, Math.min(this.entries.length, whole)];
    const top = this.body.getBoundingClientRect().top;
    const from = Math.max(0, this.placeAt(-top) - OVERSCAN);
    return [from, Math.min(this.entries.length, this.placeAt(innerHeight - top) + OVERSCAN)];
  }

  render() {
    const [from, to] = this.range(), wanted = this.entries.slice(from, to), keys = new Set(wanted.map((entry) => entry.key));
    for (const [key, rows] of this.drawn) if (!keys.has(key)) this.remove(key, rows);
    let last = this.spacers[0];
    wanted.forEach((entry, at) => {
      for (const row of this.rowsOf(entry, from + at)) {
        if (last.nextElementSibling !== row) last.after(row);
        last = row;
      }
    });
    this.spacers[0].firstChild.style.height = `${this.offsets[from]}px`;
    this.spacers[1].firstChild.style.height = `${this.offsets.at(-1) - this.offsets[to]}px`;
    this.spacers[0].hidden = from === 0;
    this.spacers[1].hidden = to === this.entries.length;
    this.keepOneTabStop();
    if (this.remeasure(wanted)) this.render();
  }

  rowsOf(entry, place) {
    const open = this.isOpen(entry), known = this.drawn.get(entry.key), told = this.tell(entry);
    if (known && known.told === told && known.open === open) {
      known.rows[0].entry = entry;
      known.rows[0].ariaRowIndex = place + 2;
      return known.rows;
    }
    const row = this.draw(entry), button = row.querySelector("button");
    row.ariaRowIndex = place + 2;
    if (entry.opens) {
      row.classList.add("opens");
      button.ariaExpanded = String(open);
    }
    const rows = open ? [row, element("tr", { class: "detail" }, element("td", { colspan: 5 }, this.detail(entry)))] : [row];
    const focused = known?.rows[0].contains(document.activeElement);
    if (known) known.rows.forEach((old) => old.remove());
    this.drawn.set(entry.key, { rows, told, open });
    row.entry = entry;
    if (focused) queueMicrotask(() => row.querySelector("button")?.focus({ preventScroll: true }));
    return rows;
  }

  // Focus in a row that is scrolled away goes to the table, from where the arrow keys find the row again.
  remove(key, { rows }) {
    if (rows.some((row) => row.contains(document.activeElement))) this.table.focus({ preventScroll: true });
    rows.forEach((row) => row.remove());
    this.drawn.delete(key);
  }

  // Heights that turn out to be others than believed. What is above the view must not push it.
  remeasure(wanted) {
    let moved = 0, changed = false;
    for (const entry of wanted) {
      const { rows } = this.drawn.get(entry.key);
      if (!this.unit && !entry.opens) this.unit = rows[0].getBoundingClientRect().height;
      if (!this.unit && rows.length === 1) this.unit = rows[0].getBoundingClientRect().height;
      if (rows.length < 2) continue;
      const { height, bottom } = rows[1].getBoundingClientRect(), believed = this.heights.get(entry.key);
      if (Math.abs((believed ?? -1) - height) < 1) continue;
      if (believed === undefined && bottom < 0) moved += height - GUESSED * this.unit;
      this.heights.set(entry.key, height);
      changed = true;
    }
    if (this.measured !== this.unit) [this.measured, changed] = [this.unit, true];
    if (changed) this.measure();
    if (moved) scrollBy(0, moved);
    return changed;
  }

  keepOneTabStop() {
    const buttons = [...this.drawn.values()].map(({ rows }) => rows[0].querySelector("button")).filter(Boolean);
    const here = this.drawn.get(this.active)?.rows[0].querySelector("button");
    const first = this.entries.find((entry) => this.drawn.get(entry.key)?.rows[0].querySelector("button"));
    const stop = here ?? (first && this.drawn.get(first.key).rows[0].querySelector("button"));
    buttons.forEach((button) => { button.tabIndex = button === stop ? 0 : -1; });
  }

  onClick(event) {
    const row = event.target.closest("tr"), entry = row?.entry;
    if (!entry || (String(getSelection()) && !event.target.closest("button"))) return;
    this.active = entry.key;
    if (entry.unfolds) entry.unfolds(); else if (entry.opens) this.toggle(entry);
  }

  onKey(event) {
    const page = Math.max(1, Math.floor(innerHeight / (this.unit || 40)) - 8);
    const way = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("pre")) return;
    event.preventDefault();
    const held = event.target.closest("tr")?.entry?.key ?? this.active, last = this.entries.length - 1;
    const here = this.entries.findIndex((entry) => entry.key === held);
    let place = Math.min(Math.max(here + way, 0), last);
    const step = Math.sign(way), stops = (at) => this.entries[at]?.opens || this.entries[at]?.unfolds;
    while (this.entries[place] && !stops(place)) place += step;
    if (!this.entries[place]) for (place = step > 0 ? last : 0; this.entries[place] && !stops(place); place -= step);
    if (this.entries[place]) this.goTo(place);
  }

  goTo(place) {
    this.active = this.entries[place].key;
    const top = this.body.getBoundingClientRect().top + this.offsets[place];
    const above = document.querySelector(".sticky")?.getBoundingClientRect().bottom ?? 0;
    if (top < above || top > innerHeight - 2 * this.unit) scrollBy(0, top - (above + innerHeight) / 2);
    this.render();
    this.drawn.get(this.active)?.rows[0].querySelector("button")?.focus({ preventScroll: true });
  }
}
