"""Other worlds: regions on a map, events in a table, RDF, graphs and data frames as networks, and answers as files.

Each bridge stands on a library that is an extra of this package; without it, a sentence says what to install.
"""
