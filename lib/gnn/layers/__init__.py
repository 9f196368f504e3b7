"""Layers of the learned model, one a file, in Spektral's manner."""

from lib.gnn.layers.column_wise import ColumnWiseReduction
from lib.gnn.layers.graph_attention import GraphAttentionBlock
from lib.gnn.layers.graph_sage import GraphSageBlock
from lib.gnn.layers.long_short_term_memory import LstmReduction
from lib.gnn.layers.node_block import NodeBlock
from lib.gnn.layers.per_node import PerNodeReduction
from lib.gnn.layers.transformer import TransformerReduction

__all__ = [
    "ColumnWiseReduction",
    "GraphAttentionBlock",
    "GraphSageBlock",
    "LstmReduction",
    "NodeBlock",
    "PerNodeReduction",
    "TransformerReduction",
]
