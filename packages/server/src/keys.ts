export { readConfig } from "./boot/config.ts";
export { rotateMasterKey } from "./admin/rotate-master-key.ts";
export { UserNameError, type KeyEntry } from "./settings/key-book.ts";
export { openLoginBook } from "./settings/open-login-book.ts";
export { openKeyBook } from "./settings/open-key-book.ts";
