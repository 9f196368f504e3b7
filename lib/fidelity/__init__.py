"""How true the simulator is: our figures beside those of the papers, of peers' tools and of real chips."""
