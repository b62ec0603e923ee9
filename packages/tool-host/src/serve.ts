/** What a process needs to listen before it has loaded any tool; the tools themselves are in `index.ts`. */
export { allowedEnvironment } from "./processes/allowed-environment.ts";
export { openEgressListener } from "./egress-listener.ts";
export { openGuardian } from "./processes/guardian.ts";
export { createMarker } from "./processes/collect-orphans.ts";
export { serveToolHost } from "./rpc/serve-host.ts";
export type { Served, ServeOptions } from "./rpc/serve-host.ts";
export type { ListenAddress } from "./rpc/address.ts";
export { createLocalWorkspace } from "./workspace/local-workspace.ts";
export { openLateBash } from "./bash/late-bash.ts";
