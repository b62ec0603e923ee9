import type { Static } from "typebox";
import { choice } from "../schema.ts";

/** How dangerous an action is judged to be, from least known to most dangerous. */
export const SecurityRisk = choice(["UNKNOWN", "LOW", "MEDIUM", "HIGH"], { $id: "SecurityRisk" });
export type SecurityRisk = Static<typeof SecurityRisk>;
