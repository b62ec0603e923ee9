export { readConfig } from "./boot/config.ts";
export { readRulesInPlace, tryCommand } from "./admin/rules-in-place.ts";
