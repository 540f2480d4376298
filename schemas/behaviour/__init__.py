"""The declared model of choice, habit and drift."""
