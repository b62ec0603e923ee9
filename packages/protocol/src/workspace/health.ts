import { Type, type Static } from "typebox";
import { object } from "../schema.ts";

/** The server answers. */
export const HealthStatus = object("HealthStatus", { status: Type.String() });
export type HealthStatus = Static<typeof HealthStatus>;
