"""What the collection rolecall.operator decides, without Ansible."""
