"""Protocol buffers without generated classes: the wire format and the text format."""
