"""Say whether a predicted CSV is the gold table, under per-column type rules, the same way on every machine."""

__version__ = "1.0.0"
