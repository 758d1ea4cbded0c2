"""What an e-mail is made of, and how it gets to a server; the node type is `perdure.nodes.email`."""
