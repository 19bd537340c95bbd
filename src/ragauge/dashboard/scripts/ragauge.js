// The theme, and the tables: filtering and sorting in the browser. Loaded in the head, before
// anything is painted. Everything works without it but the filter box and the kept theme.
(() => {
  "use strict";

  const FEW_ROWS = 8;
  const THEME_KEY = "ragauge-theme";
  const ABSENT = ["", "–", "—", "-", "n/a"];
  const NUMBER = /^[[(<>=≤≥~]*\s*([+\-−]?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(e[+-]?\d+)?(?=$|[\s%\])/,;])/i;
  const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const tables = new WeakMap();

  // Theme

  function keptTheme() {
    try {
      const theme = localStorage.getItem(THEME_KEY);
      document.documentElement.dataset.keeps = "theme";
      return theme;
    } catch {
      return null; // the browser refuses storage: the theme lasts as long as the page
    }
  }

  function keepTheme(theme) {
    try {
      localStorage.setItem(THEME_KEY, theme);
    } catch {
      // as above
    }
  }

  function wearTheme(theme) {
    const root = document.documentElement;
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  }

  function markTheme() {
    const theme = document.documentElement.dataset.theme || "system";
    const choice = document.getElementById(`theme-${theme}`);
    if (choice) choice.checked = true;
  }

  function chooseTheme(event) {
    const choice = event.target;
    if (!choice.matches('input[name="theme"]')) return;
    wearTheme(choice.value);
    keepTheme(choice.value);
  }

  // Rows: a row and the notes below it go together.

  function isNote(row) {
    return row.classList.contains("note") || row.classList.contains("below");
  }

  function isHeading(row) {
    return row.querySelector(':scope > th[scope="rowgroup"]') !== null;
  }

  function groups(body) {
    const made = [];
    for (const row of body.rows) {
      if (isNote(row) && made.length) made[made.length - 1].push(row);
      else made.push([row]);
    }
    return made;
  }

  // Filter

  function filterBox(table) {
    const box = document.createElement("div");
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("span");
    box.className = "filter";
    input.type = "search";
    input.autocomplete = "off";
    label.append("Filter rows ", input);
    count.className = "soft";
    count.setAttribute("role", "status");
    box.append(label, " ", count);
    (table.closest(".scroll") || table).before(box);
    input.addEventListener("input", () => filter(table));
    return { input, count };
  }

  function filter(table) {
    const { input, count } = tables.get(table);
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let heading = null;
    let shown = 0;
    let all = 0;
    for (const rows of groups(table.tBodies[0])) {
      if (isHeading(rows[0])) {
        heading = rows;
        hide(rows, true);
        continue;
      }
      const text = rows.map((row) => row.textContent).join(" ").toLowerCase();
      const isWanted = wanted.every((word) => text.includes(word));
      hide(rows, !isWanted);
      if (isWanted && heading) hide(heading, false);
      all += 1;
      shown += isWanted ? 1 : 0;
    }
    count.textContent = wanted.length ? `${shown} of ${all} rows` : `${all} rows`;
  }

  function hide(rows, isHidden) {
    for (const row of rows) row.hidden = isHidden;
  }

  function wantsFilter(table) {
    if (table.matches("[data-paged], [data-plain]") || table.tBodies.length !== 1) return false;
    const rows = groups(table.tBodies[0]).length;
    return table.hasAttribute("data-filter") || rows > FEW_ROWS;
  }

  // Sorting

  function cellText(cell) {
    return (cell.dataset.sort ?? cell.textContent).trim();
  }

  function number(text) {
    const found = NUMBER.exec(text);
    if (!found) return null;
    const [, sign, digits, power] = found;
    const size = Number(digits.replaceAll(",", "") + (power || ""));
    return sign === "-" || sign === "−" ? -size : size;
  }

  function comparison(texts) {
    const told = texts.filter((text) => !ABSENT.includes(text));
    if (told.every((text) => number(text) !== null)) return (a, b) => number(a) - number(b);
    return words.compare;
  }

  function sort(table, column, direction) {
    const body = table.tBodies[0];
    const keyed = groups(body).map((rows) => ({ rows, text: cellText(rows[0].cells[column]) }));
    const compare = comparison(keyed.map((one) => one.text));
    keyed.sort((a, b) => {
      const isAbsent = ABSENT.includes(a.text);
      if (isAbsent !== ABSENT.includes(b.text)) return isAbsent ? 1 : -1;
      return isAbsent ? 0 : direction * compare(a.text, b.text);
    });
    body.append(...keyed.flatMap((one) => one.rows));
  }

  function sortBy(table, head) {
    const isRising = head.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isRising ? "ascending" : "descending");
    sort(table, head.cellIndex, isRising ? 1 : -1);
  }

  function isSortable(table) {
    if (table.matches("[data-paged], [data-plain]") || table.tHead?.rows.length !== 1) return false;
    if (table.tBodies.length !== 1 || table.tHead.querySelector("a, button")) return false;
    const heads = table.tHead.rows[0].cells;
    const rows = [...table.tBodies[0].rows];
    if (groups(table.tBodies[0]).length < 2 || isNote(rows[0]) || table.querySelector("[rowspan]")) return false;
    return rows.every((row) => isNote(row) || row.cells.length === heads.length)
      && !table.querySelector("tr:not(.note, .below) > [colspan]");
  }

  function makeSortable(table) {
    for (const head of table.tHead.querySelectorAll('th[scope="col"]')) {
      if (!head.textContent.trim()) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sortBy(table, head));
    }
  }

  // What scrolls can be reached by the keyboard.

  function makeReachable(box) {
    const isCut = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
    if (!isCut || box.hasAttribute("tabindex")) return;
    const title = box.closest("section, header, details")?.querySelector("h1, h2, h3, summary");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `${title ? title.textContent.trim() : "Table"}, scrolls`);
  }

  const sizes = new ResizeObserver((changes) => {
    for (const { target } of changes) makeReachable(target);
  });

  // A search box filters while you type. Leaving it changes nothing more, and a second answer would
  // replace the link under the mouse before the button is released, so that the click is lost.

  document.addEventListener("change", (event) => {
    if (event.target.type === "search") event.stopPropagation();
  }, true);

  // Two runs are compared: selecting a third one clears the first of the others.

  document.addEventListener("change", (event) => {
    if (!event.target.matches('input[form="compare"]:checked')) return;
    const selected = document.querySelectorAll('input[form="compare"]:checked');
    const others = [...selected].filter((one) => one !== event.target);
    if (others.length > 1) others[0].checked = false;
  });

  // All of it, for a page or for what htmx put into it.

  function all(root, selector) {
    return [...(root.matches?.(selector) ? [root] : []), ...root.querySelectorAll(selector)];
  }

  function prepareTable(table) {
    if (tables.has(table)) return;
    tables.set(table, wantsFilter(table) ? filterBox(table) : null);
    if (tables.get(table)) filter(table);
    if (isSortable(table)) makeSortable(table);
  }

  function prepare(root) {
    all(root, "table").forEach(prepareTable);
    all(root, ".scroll, .map, pre").forEach((box) => sizes.observe(box));
    const around = root.closest?.("table");
    if (tables.get(around)) filter(around);
  }

  wearTheme(keptTheme());
  document.addEventListener("change", chooseTheme);
  document.addEventListener("DOMContentLoaded", () => {
    markTheme();
    prepare(document);
  });
  document.addEventListener("htmx:load", (event) => {
    markTheme();
    prepare(event.target);
  });
})();
