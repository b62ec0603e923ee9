import { isUtf8 } from "node:buffer";
import { hasMoreValues, maxJsonValues } from "@convoke/protocol";
import { Fault, invalidField } from "../lib/fault.ts";

/** Far more than any request needs, and few enough for recursive code to have the stack for it. */
const maxLevels = 200;

type Step = string | number;

/** The value of a JSON body. Throws a Fault with the location of an unsafe value. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) {
    throw refusal("unicode_error", "The body is not valid UTF-8. Send JSON that is encoded in UTF-8.");
  }
  // The cost of values does not follow from the size of a body (P46).
  if (hasMoreValues(bytes, maxJsonValues)) {
    throw refusal("too_many_values", `The body has more than ${maxJsonValues} values. Send fewer at a time.`);
  }
  const value = parse(bytes.toString("utf8"));
  checkPart(value, []);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const msg = "The body is not valid JSON. Send one JSON document with Content-Type: application/json.";
    throw refusal("json_invalid", msg);
  }
}

function refusal(type: string, msg: string): Fault {
  return new Fault("caller", "validation", msg, [{ loc: ["body"], msg, type }]);
}

function checkPart(value: unknown, path: Step[]): void {
  if (typeof value !== "object" || value === null) return;
  if (path.length >= maxLevels) {
    // The first steps are enough to find it.
    throw invalidField(
      ["body", ...path.slice(0, 3)],
      `Send a value that is nested at most ${maxLevels} levels deep.`,
      "recursion_loop",
    );
  }
  if (Array.isArray(value)) {
    value.forEach((item, index) => checkAt(item, index, path));
    return;
  }
  for (const [name, part] of Object.entries(value)) {
    if (name === "__proto__" || (name === "constructor" && hasPrototype(part))) {
      throw invalidField(
        ["body", ...path, name],
        "Remove this field: its name is not allowed.",
        "extra_forbidden",
      );
    }
    checkAt(part, name, path);
  }
}

/** One path for the whole walk: a copy for each value of a large body would be slow. */
function checkAt(part: unknown, step: Step, path: Step[]): void {
  if (typeof part !== "object" || part === null) return;
  path.push(step);
  checkPart(part, path);
  path.pop();
}

/** Code that copies `constructor.prototype` of a body would change every object of the program. */
function hasPrototype(part: unknown): boolean {
  return typeof part === "object" && part !== null && Object.hasOwn(part, "prototype");
}
