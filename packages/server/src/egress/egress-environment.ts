import { egressPort, trustedKeyVariable } from "@convoke/tool-host";

export type TrustPaths = {
  /** PEM file inside the wall: the system's roots and the wall's authority. */
  readonly bundle: string;
  /** PEM file inside the wall: the wall's authority alone. */
  readonly authority: string;
  /** Of the authority's public key, see `Egress.publicKeyDigest`. */
  readonly publicKeyDigest: string;
};

/** The proxy as programs inside find it: HTTP, because clients of Python and gRPC cannot read a SOCKS address. */
export const insideProxy = `http://127.0.0.1:${egressPort}`;

/** Read by `NO_PROXY`: programs must reach servers inside directly, and nothing else. */
const withoutProxy = "localhost,127.0.0.1,::1";

/**
 * Variables with which programs inside use the proxy and trust its certificates. Those that read the system's trust store need none of
 * the second kind; the others, such as Node and Python's requests, bring roots of their own.
 */
export function egressEnvironment({
  bundle,
  authority,
  publicKeyDigest,
}: TrustPaths): Record<string, string> {
  const proxies = ["http_proxy", "https_proxy", "all_proxy", "grpc_proxy"].flatMap((name) => [
    [name, insideProxy],
    [name.toUpperCase(), insideProxy],
  ]);
  const bundles = [
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
    // A `cafile` in npm's own settings would replace Node's roots.
    "NPM_CONFIG_CAFILE",
    "CARGO_HTTP_CAINFO",
    "AWS_CA_BUNDLE",
    "NIX_SSL_CERT_FILE",
    "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
  ].map((name) => [name, bundle]);
  return {
    ...Object.fromEntries([...proxies, ...bundles]),
    no_proxy: withoutProxy,
    NO_PROXY: withoutProxy,
    NODE_USE_ENV_PROXY: "1",
    // They add to the program's own roots.
    NODE_EXTRA_CA_CERTS: authority,
    DENO_CERT: authority,
    [trustedKeyVariable]: publicKeyDigest,
  };
}
