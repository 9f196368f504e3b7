"""Layers of the learned model, one a file, in Spektral's manner."""

from lib.gnn.layers.column_wise import ColumnWiseReduction
from lib.gnn.layers.graph_sage import GraphSageBlock
from lib.gnn.layers.node_block import NodeBlock

__all__ = ["ColumnWiseReduction", "GraphSageBlock", "NodeBlock"]
