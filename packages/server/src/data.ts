export { backUp, type BackUpDeps } from "./back-up.ts";
export { checkData, type Damage } from "./check-data.ts";
export { readConfig } from "./config.ts";
export { readDatabase } from "./config-database.ts";
export { copyStore, type CopyPlace } from "./copy-store.ts";
