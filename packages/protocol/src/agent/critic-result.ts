import { Type, type Static } from "typebox";
import { anyObject, nullable, object, orNull } from "../schema.ts";

/** A critic's verdict: `score` is the predicted probability of success. */
export const CriticResult = object("CriticResult", {
  score: Type.Number({ minimum: 0, maximum: 1 }),
  message: nullable(Type.String()),
  metadata: orNull(anyObject()),
});
export type CriticResult = Static<typeof CriticResult>;
