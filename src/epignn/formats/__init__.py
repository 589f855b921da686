"""Files: text in, networks, data sets and triples out, and back. No torch."""
