export { describePlace } from "./database/postgres-place.ts";
export { inspectPostgres } from "./database/postgres/check-postgres.ts";
