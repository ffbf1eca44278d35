"""The second flavour of a local cluster: real kubelets, real containers, real volumes.

Everything runs inside one private pid, mount and network namespace, the *enclosure*: ending its first
process ends every program, container, mount and firewall rule of the cluster, and no port, folder or
kernel setting of the machine is touched.

Exports nothing of its own: the room `localcluster` does, and `bring_up` chooses the flavour.
"""
