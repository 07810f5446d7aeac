"""The page in a real browser: loads from disk, no error, no request, sorts and filters. Skipped without Chromium."""

import json
import re
import shutil
import subprocess
from html import unescape

import pytest
from made_studies import made_cell, made_study

from aacbench.cli.report_files import write_files
from aacbench.reports.tables import rows_of
from aacbench.run.study import read_study

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--dump-dom"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--enable-logging=stderr", "--virtual-time-budget=5000"),
]
ALERT = "<script>alert(1)</script>"

WATCH = """<script>
window.seen = {alerts: 0, errors: [], refused: []};
window.alert = () => { window.seen.alerts += 1; };
window.addEventListener("error", (event) => window.seen.errors.push(String(event.message)), true);
document.addEventListener("securitypolicyviolation", (event) => window.seen.refused.push(event.blockedURI));
</script>"""

PROBE = """<script>
window.addEventListener("load", () => {
  const table = document.querySelector("#results table");
  const column = (name) => [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === name);
  const values = (name) => [...table.tBodies[0].rows].filter((row) => !row.hidden)
    .map((row) => row.cells[column(name)].textContent);
  const press = (name) => table.tHead.rows[0].cells[column(name)].querySelector("button").click();
  const input = document.querySelector("#results .filter input");
  const type = (text) => { input.value = text; input.dispatchEvent(new Event("input")); };
  const seen = window.seen;
  press("test"); seen.ascending = values("test"); seen.sort = table.tHead.rows[0].cells[column("test")].ariaSort;
  press("test"); seen.descending = values("test");
  press("method"); seen.methods = values("method");
  type("ALT 64"); seen.filtered = values("method");
  seen.count = document.querySelector("#results .filter span").textContent;
  type(""); seen.all = values("method").length;
  seen.images = [...document.images].map((image) => image.complete && image.naturalWidth > 0);
  const asked = performance.getEntriesByType("resource").map((entry) => entry.name);
  seen.requests = asked.filter((name) => !name.startsWith("data:"));
  seen.sideways = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  const out = document.createElement("pre");
  out.id = "seen"; out.textContent = JSON.stringify(seen); document.body.append(out);
});
</script>"""


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium: install the package chromium")
@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_works_from_disk_and_asks_nobody(tmp_path, width):
    cells = [made_cell("dijkstra", [900, 800]), made_cell("alt", [99, 98]), made_cell(ALERT, [9, 7])]
    cells += [made_cell("alt", [30, 20], budget=64), made_cell(ALERT, [1000, 1200], budget=64)]
    root = made_study(tmp_path / "study", cells)
    contents = read_study(root)
    page = write_files(root, contents, rows_of(contents.planned_cells()), [], "")
    text = (
        page.read_text(encoding="utf-8").replace("<style>", f"{WATCH}<style>", 1).replace("</body>", f"{PROBE}</body>")
    )
    page.write_text(text, encoding="utf-8")
    command = [BROWSER, *FLAGS, f"--window-size={width},900", f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    seen = json.loads(unescape(re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, flags=re.DOTALL)[1]))
    assert "CONSOLE" not in done.stderr
    assert (seen["alerts"], seen["errors"], seen["refused"], seen["requests"]) == (0, [], [], [])
    assert seen["ascending"] == ["8.00", "25.00", "98.50", "850.00", "1100.00"]
    assert seen["descending"] == seen["ascending"][::-1]
    assert seen["sort"] == "ascending"
    assert seen["methods"][-1] == "dijkstra"
    assert seen["filtered"] == ["alt"]
    assert seen["count"] == "1 of 5 rows"
    assert seen["all"] == 5
    assert len(seen["images"]) >= 4
    assert all(seen["images"])
    assert not seen["sideways"]
