"""Options that reach the API server, documented once for all modules."""

from __future__ import annotations


class ModuleDocFragment:
    """Shared by `k8s_status` and `k8s_event`."""

    DOCUMENTATION = r"""
options:
  kubeconfig:
    description:
      - Path of a kubeconfig. In an operator it is set for you through E(K8S_AUTH_KUBECONFIG).
    type: path
  context:
    description: Context of the kubeconfig. Also E(K8S_AUTH_CONTEXT).
    type: str
  host:
    description: URL of the API server. Also E(K8S_AUTH_HOST).
    type: str
  api_key:
    description: Bearer token. Also E(K8S_AUTH_API_KEY).
    type: str
  username:
    description: User name for basic authentication. Also E(K8S_AUTH_USERNAME).
    type: str
  password:
    description: Password for basic authentication. Also E(K8S_AUTH_PASSWORD).
    type: str
  validate_certs:
    description: Whether the server's certificate is checked. Also E(K8S_AUTH_VERIFY_SSL).
    type: bool
    aliases: [verify_ssl]
  ca_cert:
    description: File with the certificate authority. Also E(K8S_AUTH_SSL_CA_CERT).
    type: path
    aliases: [ssl_ca_cert]
  client_cert:
    description: File with the client's certificate. Also E(K8S_AUTH_CERT_FILE).
    type: path
    aliases: [cert_file]
  client_key:
    description: File with the client's key. Also E(K8S_AUTH_KEY_FILE).
    type: path
    aliases: [key_file]
  proxy:
    description: URL of an HTTP proxy. Also E(K8S_AUTH_PROXY).
    type: str
  persist_config:
    description: Whether refreshed tokens are written back to the kubeconfig. Also E(K8S_AUTH_PERSIST_CONFIG).
    type: bool
"""
