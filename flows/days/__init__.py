"""Days: what everybody in a place shares, weather and public holidays."""
