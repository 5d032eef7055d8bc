"""One size of one input at a time is changed; what a real runtime then refuses must not get a plain yes."""
