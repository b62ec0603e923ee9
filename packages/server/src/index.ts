export { ConfigError, readConfig, type ConfigOverrides, type ServerConfig } from "./config.ts";
export type { Logger } from "./lib/logger.ts";
export { silentLogger } from "./lib/logger.ts";
export { openServer, type Server, type ServerDeps } from "./open-server.ts";
export { version } from "./version.ts";
