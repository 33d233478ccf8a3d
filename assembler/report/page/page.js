// Opens what the page holds, and the files that are dropped onto it. What it reads stays in it: it can send nothing.

(() => {
  const LARGEST = 200_000_000; // bytes of a file: more than a request of a million messages takes
  const data = JSON.parse(byId("data").textContent);
  let builds = [];

  const show = (found, title) => {
    builds = found;
    document.body.classList.toggle("empty", !builds.length);
    byId("welcome").hidden = builds.length > 0;
    byId("request").hidden = !builds.length;
    if (builds.length) session.open(builds, title); else byId("session").hidden = true;
  };

  const fail = (text) => {
    byId("failed").textContent = text;
    byId("failed").hidden = !text;
    if (text) byId("failed").scrollIntoView({ block: "nearest" });
  };

  // Files are builds, in the order of their names. They join others that came from files; what was drawn by the library
  // is of other rows, and gives way.
  const load = async (files) => {
    fail("");
    const found = [], wrong = [];
    for (const file of [...files].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }))) {
      try {
        if (file.size > LARGEST) throw new Unreadable("it is larger than 200 MB");
        found.push(readFile(file.name, await file.text()));
      } catch (error) {
        wrong.push(`${shown(file.name)} cannot be shown: ${error instanceof Unreadable ? shown(error.message) : "it cannot be read"}.`);
      }
    }
    if (found.length) {
      const all = builds.length && builds.every((build) => build.fromFile) ? [...builds, ...found] : found;
      show(all, `${plural(all.length, "request")} compared`);
    }
    if (wrong.length) fail(wrong.join(" "));
  };

  byId("files").addEventListener("change", (event) => { load(event.target.files); event.target.value = ""; });
  addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dragging"); });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dragging"); });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dragging");
    if (event.dataTransfer.files.length) load(event.dataTransfer.files); else fail("What was dropped is no file.");
  });

  document.body.classList.add("runs");
  show(buildsOf(data), data.title);
})();
