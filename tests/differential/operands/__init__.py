"""One size of one input at a time is changed; a case that a runtime rejects must not get an unconditional yes."""
