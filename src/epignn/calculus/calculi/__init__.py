"""The calculi that come with epignn: from tables, or derived."""
