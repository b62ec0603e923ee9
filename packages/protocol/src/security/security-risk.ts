import type { Static } from "typebox";
import { choice } from "../schema.ts";

/** Estimated risk of an action, from unknown to most dangerous. */
export const SecurityRisk = choice(["UNKNOWN", "LOW", "MEDIUM", "HIGH"], { $id: "SecurityRisk" });
export type SecurityRisk = Static<typeof SecurityRisk>;
