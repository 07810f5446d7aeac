"""The page on contextual planning: its cells run in order and print what they show."""

import re
from pathlib import Path

import numpy as np
import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "contextual.md").read_text(encoding="utf-8")
CELLS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


def test_its_cells_train_predict_plan_and_draw(tmp_path, monkeypatch, capsys):
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in CELLS:
        exec(cell, names)
    assert np.load("costs.npy").shape == (200, 12, 12)
    printed = capsys.readouterr().out.splitlines()
    (shown,) = re.findall(r"print\(.*\)  # (.*)", TEXT)
    assert printed[0] == shown
    true, label = re.fullmatch(r"true cost (.*), label (.*)", printed[1]).groups()
    assert float(label) <= float(true) < 2 * float(label)
    assert (tmp_path / "map.png").stat().st_size > 1000


def test_every_encoder_and_column_is_there():
    from aacbench.plugins.manager import load_plugins
    from aacbench.run.predicted import CONTEXT_COLUMNS, MAP_COLUMNS

    for name in load_plugins((), {"AACBENCH_PLUGINS": ""}).encoders():
        assert re.search(rf"`{name}[`\[]", TEXT), name
    for column in (*CONTEXT_COLUMNS, *set(MAP_COLUMNS) - {"map", "split"}):
        assert f"`{column}`" in TEXT, column


def test_the_protocol_of_larger_maps_is_one():
    from aacbench.protocols.reader import parse_protocol

    (text,) = re.findall(r"```toml\n(.*?)```", TEXT, flags=re.DOTALL)
    study = parse_protocol(text)
    assert (study.kind, len(study.maps), study.splits.test) == ("context", 3, 100)


def test_an_encoder_is_trained_from_python_by_name_or_as_a_record():
    import aacbench
    from aacbench.errors import UsageError
    from aacbench.maps.load import load_maps
    from aacbench.plugins.in_workers import EncoderOf

    maps = load_maps("terrain-4", {"train": 4, "validation": 2, "calibration": 2, "test": 2})
    encoder = aacbench.train_encoder(EncoderOf()("constant"), maps)
    assert encoder.predict(maps.splits["test"].images).tolist() == [[[1.0] * 4] * 4] * 2
    assert encoder.predict(maps.splits["test"].images[:0]).shape == (0, 4, 4)
    with pytest.raises(UsageError, match="true predicts nothing"):
        aacbench.train_encoder("true", maps)
    with pytest.raises(UsageError, match="Give one encoder"):
        aacbench.train_encoder("cnn[loss=mse|dbb]", maps)
