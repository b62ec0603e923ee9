/**
 * Has this process call addresses of its own machine straight where Node takes proxies from the environment: no proxy reaches them, and
 * what a company sets in `NO_PROXY` often leaves them out. Node asks for the variable at each call.
 */
export function reachLoopback(environment: Record<string, string | undefined>): void {
  const isProxied = environment["NODE_USE_ENV_PROXY"] === "1";
  // The one that Node takes when both are there.
  const name = environment["no_proxy"] === undefined ? "NO_PROXY" : "no_proxy";
  const listed = (environment[name] ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  if (!isProxied || listed.includes("*")) return;
  environment[name] = [...new Set([...listed, ...loopback])].join(",");
}

const loopback = ["127.0.0.1", "localhost", "[::1]", "::1"];
