"""`python -m censorium`: the command line."""

from censorium.cli import main

if __name__ == "__main__":
    main(prog_name="censorium")
