// Tables that sort by a click on a column and filter by words; without this script they are plain tables.
(() => {
  "use strict";
  const FEW = 4; // rows that need no filter

  const number = (text) => {
    const found = text.trim().replace(/,/g, "").match(/^[-+]?\d+(\.\d+)?(e[-+]?\d+)?(?=$|[\s%])/i);
    return found ? Number(found[0]) : null;
  };

  // Numbers come before words, and what is empty comes last in either direction.
  const compare = (a, b, sign) => {
    if (!a || !b) return a ? -1 : b ? 1 : 0;
    const [x, y] = [number(a), number(b)];
    if (x !== null && y !== null) return sign * (x - y);
    if (x !== null || y !== null) return x !== null ? -1 : 1;
    return sign * a.localeCompare(b, "en", { numeric: true });
  };

  const sort = (table, column) => {
    const head = table.tHead.rows[0].cells[column];
    const ascending = head.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const text = (row) => row.cells[column].textContent.trim();
    const body = table.tBodies[0];
    body.append(...[...body.rows].sort((a, b) => compare(text(a), text(b), ascending ? 1 : -1)));
  };

  const filter = (table, words, count) => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !wanted.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${table.tBodies[0].rows.length} rows`;
  };

  document.querySelectorAll("table.data").forEach((table) => {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", () => sort(table, column));
      head.replaceChildren(button);
    });
    if (table.tBodies[0].rows.length <= FEW) return;
    const [line, label, input, count] = ["p", "label", "input", "span"].map((name) => document.createElement(name));
    line.className = "filter";
    input.type = "search";
    count.setAttribute("aria-live", "polite");
    label.append("Filter: ", input);
    line.append(label, count);
    input.addEventListener("input", () => filter(table, input.value, count));
    table.parentElement.before(line);
    filter(table, "", count);
  });
})();
