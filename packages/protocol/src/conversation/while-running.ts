import type { Static } from "typebox";
import { choice } from "../schema.ts";

/** What a message does when the agent works on something else. */
export const WhileRunning = choice(["queue", "steer", "interrupt", "reject", "replace"], {
  $id: "WhileRunning",
  description:
    "What a message does while the agent works. queue: it is delivered when the run has ended, as a turn of its own. " +
    "steer: the agent reads it with its next model call. interrupt: the step in progress is stopped, and the run continues with the message. " +
    "reject: 409, and nothing is stored. replace: the sender's messages that the agent has not read are withdrawn, and this one takes their place.",
});
export type WhileRunning = Static<typeof WhileRunning>;
