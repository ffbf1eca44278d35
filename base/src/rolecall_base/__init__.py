"""What the engine and its warm hosts share: their protocol, processes, what is pure in Ansible."""
