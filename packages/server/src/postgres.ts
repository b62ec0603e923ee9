export { describePlace } from "./database/postgres-place.ts";
export { lookAtPostgres } from "./database/postgres/check-postgres.ts";
