"""The two annotations that name an owner where Kubernetes allows no owner reference.

They are those of the Go operator: dependents made by either are recognised by both.
"""

OWNER_ANNOTATION = "operator-sdk/primary-resource"
OWNER_TYPE_ANNOTATION = "operator-sdk/primary-resource-type"
