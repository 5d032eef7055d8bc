"""The files of an NNEF model: folders and archives, tensor files, quantization files."""
