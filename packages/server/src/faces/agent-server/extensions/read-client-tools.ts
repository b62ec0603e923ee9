import type { ClientToolSpec } from "@convoke/protocol";
import type { ConversationConfig } from "../../../engine/conversation-config.ts";
import { Fault, type FieldFault } from "../../../lib/fault.ts";

const maxTools = 100;
const longestSchemaChars = 64 * 1024;
/** The limit of the strictest provider. */
const nameForm = /^[A-Za-z0-9_-]{1,64}$/;

/** Tools that the client itself executes. `taken` are the names of the agent's other tools. */
export function readClientTools(
  given: readonly ClientToolSpec[],
  taken: ReadonlySet<string>,
): Pick<ConversationConfig, "client_tools"> {
  if (given.length === 0) return {};
  const faults: FieldFault[] = [];
  if (given.length > maxTools) {
    const msg = `Send at most ${maxTools} tools.`;
    faults.push({ loc: ["body", "client_tools"], msg, type: "too_long" });
  }
  const seen = new Set<string>();
  for (const [index, { name, parameters, waits_for_result: waits, timeout_seconds: seconds }] of given
    .slice(0, maxTools)
    .entries()) {
    const refuse = (field: string, msg: string): void => {
      faults.push({ loc: ["body", "client_tools", index, field], msg, type: "value_error" });
    };
    if (!nameForm.test(name))
      refuse("name", "A name is 1 to 64 letters, digits, underscores and hyphens: models call it by that.");
    else if (taken.has(name)) refuse("name", `The agent has a tool called "${name}" already.`);
    else if (seen.has(name)) refuse("name", `Another tool of the request is called "${name}" already.`);
    seen.add(name);
    if (seconds !== undefined && waits !== true)
      refuse("timeout_seconds", "Only a tool with waits_for_result: true has a deadline.");
    if (parameters === undefined) continue;
    if (parameters["type"] !== "object")
      refuse("parameters", 'Send the JSON Schema of an object: {"type": "object", "properties": {}}.');
    else if (JSON.stringify(parameters).length > longestSchemaChars)
      refuse("parameters", `A schema may have ${longestSchemaChars} characters.`);
  }
  if (faults.length > 0)
    throw new Fault("caller", "validation", "The tools of the client cannot be used.", faults);
  return { client_tools: given.map((spec) => ({ ...spec })) };
}
