"""Draw mean expansions against measured bytes: aacbench report STUDY --csv | python expansions.py GRAPH OUT.svg"""

import sys

import matplotlib.pyplot as plt
import pandas as pd

MARKS = {"alt": ("#0072B2", "o", "-"), "aac": ("#D55E00", "s", "--"), "cdh": ("#009E73", "^", ":")}

graph, out = sys.argv[1:]
rows = pd.read_csv(sys.stdin)
rows = rows[(rows["graph"] == graph) & (rows["outcome"] == "ok")]
plt.rcParams.update({"font.size": 11, "svg.hashsalt": "aacbench"})
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
for method, (colour, marker, line) in MARKS.items():
    found = rows[rows["method"] == method].sort_values("measured")
    x, y = found["measured"], found["test"]
    axes.plot(x, y, color=colour, marker=marker, linestyle=line, label=method)
    axes.annotate(method, (x.iloc[0], y.iloc[0]), xytext=(6, 6), textcoords="offset points", color=colour)
axes.set(xscale="log", yscale="log", xlabel="measured bytes per vertex", ylabel="mean expansions per test query")
axes.set_xticks([12, 16, 32, 64, 128], ["12", "16", "32", "64", "128"])
axes.set_yticks([6000, 10000, 20000], ["6,000", "10,000", "20,000"])
axes.minorticks_off()
axes.grid(alpha=0.3)
axes.spines[["top", "right"]].set_visible(False)
axes.set_title(f"{graph}, protocol valsplit", fontsize=11, loc="left")
figure.savefig(out, metadata={"Date": None})
