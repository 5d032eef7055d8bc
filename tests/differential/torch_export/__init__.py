"""Generated programs of torch.export: eager runs of torch against inference and its contract."""
