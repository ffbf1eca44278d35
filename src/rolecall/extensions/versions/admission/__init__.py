"""One question of the API server about an object: a request goes in, a verdict comes out."""
