type Environment = Readonly<Record<string, string | undefined>>;

/** The machine's own proxy for a host, as `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` of the server say; null for none. */
export function parentProxyOf(environment: Environment): (host: string, port: number) => URL | null {
  const secure = readProxy(environment, "https_proxy") ?? readProxy(environment, "all_proxy");
  const plain = readProxy(environment, "http_proxy") ?? readProxy(environment, "all_proxy");
  const without = (valueOf(environment, "no_proxy") ?? "")
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "");
  return (host, port) => {
    if (without.some((entry) => isWithout(entry, host.toLowerCase(), port))) return null;
    return port === 80 ? plain : secure;
  };
}

function valueOf(environment: Environment, name: string): string | undefined {
  return environment[name] || environment[name.toUpperCase()] || undefined;
}

/** Null for one that is no HTTP proxy. */
function readProxy(environment: Environment, name: string): URL | null {
  const text = valueOf(environment, name);
  if (text === undefined) return null;
  const address = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  return url !== null && /^https?:$/.test(url.protocol) ? url : null;
}

function isWithout(entry: string, host: string, port: number): boolean {
  if (entry === "*") return true;
  const [, name = entry, wanted] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (wanted !== undefined && Number(wanted) !== port) return false;
  const domain = name.replace(/^\*?\./, "");
  return host === domain || host.endsWith(`.${domain}`);
}
