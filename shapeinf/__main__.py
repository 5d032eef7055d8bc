"""`python -m shapeinf`, the same as the console script."""

from shapeinf.cli import main

if __name__ == "__main__":
    main(prog_name="shapeinf")
