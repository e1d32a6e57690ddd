"""Why claims are not served, in plain words, and what to write instead."""
