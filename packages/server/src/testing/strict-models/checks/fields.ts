import type { Check, Complaint } from "../strict-provider.ts";
import type { ReadCall, ReadMessage } from "../readings/reading.ts";

/** The body has these fields and no other. */
export function onlyBodyFields(known: readonly string[], complain: (field: string) => Complaint): Check {
  return ({ body }) => {
    const field = unknownIn(body, known);
    return field === undefined ? null : complain(field);
  };
}

/** A message has these fields of its role and no other. */
export function onlyMessageFields(
  known: Readonly<Record<string, readonly string[]>>,
  complain: (message: ReadMessage, field: string) => Complaint,
): Check {
  return (_request, { messages }) => {
    for (const message of messages) {
      const fields = known[message.role];
      const field = fields === undefined ? undefined : unknownIn(message.raw, fields);
      if (field !== undefined) return complain(message, field);
    }
    return null;
  };
}

/** An earlier call has these fields and no other. */
export function onlyCallFields(
  known: readonly string[],
  complain: (message: ReadMessage, call: ReadCall, field: string) => Complaint,
): Check {
  return (_request, { messages }) => {
    for (const message of messages) {
      for (const call of message.calls) {
        const field = unknownIn(call.raw, known);
        if (field !== undefined) return complain(message, call, field);
      }
    }
    return null;
  };
}

/** These fields of the body are refused, by these models. */
export function refusedFields(
  fields: readonly string[],
  models: RegExp,
  complain: (field: string, value: unknown) => Complaint,
): Check {
  return ({ body }) => {
    if (!models.test(typeof body["model"] === "string" ? body["model"] : "")) return null;
    const field = fields.find((name) => (body[name] ?? null) !== null);
    return field === undefined ? null : complain(field, body[field]);
  };
}

/** A number of the body is not larger than this. */
export function fieldUpTo(field: string, max: number, complain: (value: number) => Complaint): Check {
  return ({ body }) => {
    const value = body[field];
    return typeof value === "number" && value > max ? complain(value) : null;
  };
}

function unknownIn(value: Readonly<Record<string, unknown>>, known: readonly string[]): string | undefined {
  return Object.keys(value).find((field) => !known.includes(field));
}
