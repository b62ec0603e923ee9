/** Environment variables that child processes inherit. All others, above all keys and tokens, stay with the server. */
const allowedNames = new Set([
  "HOME",
  "PATH",
  "LANG",
  "LANGUAGE",
  "USER",
  "LOGNAME",
  "SHELL",
  "TERM",
  "COLORTERM",
  "TZ",
  "TMPDIR",
  "XDG_RUNTIME_DIR",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  // For machines behind a proxy or with their own certificate authority.
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "ALL_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "all_proxy",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "CURL_CA_BUNDLE",
  "REQUESTS_CA_BUNDLE",
  "NODE_EXTRA_CA_CERTS",
  "GIT_SSL_CAINFO",
  "PIP_CERT",
  "NIX_SSL_CERT_FILE",
  // Locations of language installations.
  "JAVA_HOME",
  "GOPATH",
  "GOROOT",
  "CARGO_HOME",
  "RUSTUP_HOME",
  "PYENV_ROOT",
  "NVM_DIR",
  "VIRTUAL_ENV",
]);

/** A proxy address may contain `user:password@`; that part is left out because it is a credential. */
const proxyName = /_proxy$/i;

/** The part of `source` that child processes may see, plus `AI_AGENT=convoke`. */
export function allowedEnvironment(
  source: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const allowed: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined || !(allowedNames.has(name) || name.startsWith("LC_"))) continue;
    allowed[name] = proxyName.test(name) ? withoutCredentials(value) : value;
  }
  return { ...allowed, AI_AGENT: "convoke" };
}

function withoutCredentials(address: string): string {
  return address.replace(/^([a-z0-9+.-]+:\/\/)?[^/]*@/i, "$1");
}
