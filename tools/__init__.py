"""Small programs for those who work on this repository; each says in its first lines what it does."""
