"""What the repository promises about itself."""
