export { readConfig } from "./boot/config.ts";
export { rotateMasterKey } from "./admin/rotate-master-key.ts";
export { UserNameError, type KeyEntry } from "./settings/key-store.ts";
export { openLoginBook } from "./settings/open-login-store.ts";
export { openKeyBook } from "./settings/open-key-store.ts";
