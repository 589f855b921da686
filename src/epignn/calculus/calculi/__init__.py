"""The calculi that epignn knows: as tables, or derived."""
