export { ConfigError, readConfig, type ConfigOverrides, type ServerConfig } from "./boot/config.ts";
export { completeConfig, readInitKey, type CompletedConfig, type InitDeps } from "./boot/config-init.ts";
export type { GroupMessage, ProcessGroup } from "./cluster/process-group.ts";
export type { Clock } from "./lib/clock.ts";
export type { Logger } from "./lib/logger.ts";
export { silentLogger } from "./lib/logger.ts";
export { describeStorageFault } from "./lib/storage-fault.ts";
export type { Sandboxes } from "./app-conversations/sandbox-service.ts";
export { openDeferredServer, type DeferredServer } from "./boot/open-deferred-server.ts";
export {
  openServer,
  type Server,
  type ServerDeps,
  type SharedWithSandboxes,
  type SharedWithWalls,
  type TakeOver,
} from "./boot/open-server.ts";
export type { Walls } from "./walls/wall.ts";
export type { Demo } from "./directory/demo.ts";
export { version } from "./lib/version.ts";
