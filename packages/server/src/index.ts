export { ConfigError, readConfig, type ConfigOverrides, type ServerConfig } from "./config.ts";
export { completeConfig, readInitKey, type CompletedConfig, type InitDeps } from "./config-init.ts";
export type { FellowNews, Fellows } from "./lib/fellows.ts";
export type { Logger } from "./lib/logger.ts";
export { silentLogger } from "./lib/logger.ts";
export { describeStorageFault } from "./lib/storage-fault.ts";
export type { Sandboxes } from "./app-conversations/sandbox-service.ts";
export { openDormantServer, type DormantServer } from "./open-dormant-server.ts";
export {
  openServer,
  type Server,
  type ServerDeps,
  type SharedWithSandboxes,
  type TakeOver,
} from "./open-server.ts";
export type { Demo } from "./conversation/demo.ts";
export { version } from "./lib/version.ts";
