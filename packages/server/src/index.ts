export { ConfigError, readConfig, type ConfigOverrides, type ServerConfig } from "./config.ts";
export type { Logger } from "./lib/logger.ts";
export { silentLogger } from "./lib/logger.ts";
export type { Sandboxes } from "./app-conversations/sandbox-service.ts";
export { openServer, type Server, type ServerDeps, type SharedWithSandboxes } from "./open-server.ts";
export { version } from "./lib/version.ts";
