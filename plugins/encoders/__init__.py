"""The built-in encoders: ordinary plugins, one module or package each."""

BUILT_IN = ("controls", "cnn", "gap_paper")
