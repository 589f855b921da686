"""`python -m epignn` is `epignn`."""

from epignn.cli import main

main()
