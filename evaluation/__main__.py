"""`python3 -m evaluation` does what `evaluate.py` does."""

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main(prog="python3 -m evaluation"))
