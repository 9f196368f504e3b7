from lib.fusion.space import FusionSpace, default_fusion, group, random_fusion

__all__ = ["FusionSpace", "default_fusion", "group", "random_fusion"]
