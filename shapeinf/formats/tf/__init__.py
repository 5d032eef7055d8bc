"""TensorFlow's files: GraphDef, MetaGraphDef, SavedModel, TensorFlow.js. Readers are imported on use."""
