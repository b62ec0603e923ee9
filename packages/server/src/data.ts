export { backUp, type BackUpDeps } from "./admin/back-up.ts";
export { checkData, type Damage } from "./admin/check-data.ts";
export { readConfig } from "./boot/config.ts";
export { readDatabase } from "./boot/config-database.ts";
export { copyStore, type CopyPlace } from "./admin/copy-store.ts";
export { restore, type RestoreDeps } from "./admin/restore.ts";
