export { readHeadsInPlace, verifyAuditInPlace } from "./admin/audit-in-place.ts";
export { readConfig } from "./boot/config.ts";
