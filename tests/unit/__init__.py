"""Rules of one room: no network, no Ansible, no waiting."""
