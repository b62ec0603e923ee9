export { readConfig } from "./boot/config.ts";
export { copiesBeforeUpgrade } from "./database/copy-before-upgrade.ts";
export { rotateMasterKey } from "./admin/rotate-master-key.ts";
export { FixedRoleError } from "./settings/user-store.ts";
export { UserNameError, type KeyEntry } from "./settings/key-store.ts";
export {
  openKeyStore,
  openLoginStore,
  openPolicyStore,
  type OpenedPolicyStore,
} from "./settings/open-stores.ts";
