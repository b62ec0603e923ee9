import { compileForeignSchema, type CheckForeign } from "@convoke/protocol/validate";
import { findOperation, operationsOf } from "./document.ts";
import type { OpenApiDocument, Operation, Schema, Schemas } from "./document.ts";
import type { FuzzRequest } from "./request-arbitrary.ts";

export type FuzzReply = {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
};

/** Statuses that every address may return. */
const everywhere = new Set([401, 403, 405, 415]);
/** 503 on every route: a conversation or the server is being closed. */
const closing = /"code":"(conversation|server)_closing"/;

/**
 * Removes what is only shown on request and what no union of the contract contains: analyzers of newer clients, and a `TrimmedEvent` in
 * place of any event.
 */
function withoutAdditions(name: string, part: unknown): unknown {
  if (name === "security_analyzer" && typeof part === "object") return null;
  const { kind, id, timestamp } = (part ?? {}) as { kind?: unknown; id?: unknown; timestamp?: unknown };
  return kind === "TrimmedEvent" ? { kind: "PauseEvent", id, timestamp, source: "user" } : part;
}

/** Violations of the contract by a reply, as sentences; empty when there are none. */
export function createJudge(document: OpenApiDocument): (request: FuzzRequest, reply: FuzzReply) => string[] {
  const checks = new Map<string, CheckForeign>();
  const operations = operationsOf(document);

  function checkOf({ name }: Operation, status: number, schema: Schema): CheckForeign {
    const key = `${status} ${name}`;
    let check = checks.get(key);
    if (check === undefined) {
      const { schemas } = document.components;
      check = compileForeignSchema({ ...schema, components: { schemas: reachable(schema, schemas) } });
      checks.set(key, check);
    }
    return check;
  }

  function judgeSuccess({ operation }: FuzzRequest, { status, text, contentType }: FuzzReply): string[] {
    const schema = operation.responses[status]?.content?.["application/json"]?.schema;
    if (schema === undefined || !contentType.startsWith("application/json")) return [];
    if (parse(text) === undefined) return ["The body is no JSON."];
    const value: unknown = JSON.parse(text, withoutAdditions);
    const [first] = checkOf(operation, status, schema)(value);
    return first === undefined
      ? []
      : [`The answer is not as documented: ${first.loc.join(".")} ${first.msg}`];
  }

  return (sent, reply) => {
    const { status } = reply;
    // With another method or path it may be another operation, with its own promises.
    const answering = findOperation(operations, sent.method, sent.target) ?? unknownOperation(sent);
    const request = { ...sent, operation: answering };
    const found: string[] = [];
    const isOwn = request.fault === null || request.fault.at !== null;
    const isDocumented = request.operation.responses[status] !== undefined;
    if (status === 503 && closing.test(reply.text)) return [];
    if (status >= 500 && !(isDocumented && (status === 501 || status === 503)))
      found.push(`Status ${status}`);
    else if (isOwn && !isDocumented && !everywhere.has(status))
      found.push(`Status ${status} is not documented`);
    if (request.method === "OPTIONS") return found;
    if (status === 422) return [...found, ...judgeInvalid(request, reply)];
    if (status >= 400) return isPage(request, reply) ? found : [...found, ...judgeRefusal(reply)];
    return isOwn && request.hasKey ? [...found, ...judgeSuccess(request, reply)] : found;
  };
}

/** An HTML page, where the document promises no JSON. */
function isPage({ operation }: FuzzRequest, { status, contentType }: FuzzReply): boolean {
  const answer = operation.responses[status];
  return (
    contentType.startsWith("text/html") &&
    answer !== undefined &&
    answer.content?.["application/json"] === undefined
  );
}

/** The routes of the oldest face use `error` or `message`, as their clients read it. */
function judgeRefusal({ text }: FuzzReply): string[] {
  const { detail, error, message } = (parse(text) ?? {}) as Record<string, unknown>;
  const sentence = detail ?? error ?? message;
  return typeof sentence === "string" && sentence !== "" ? [] : ["A refusal without a detail"];
}

function judgeInvalid({ fault, operation, target }: FuzzRequest, { text }: FuzzReply): string[] {
  const { detail } = (parse(text) ?? {}) as { detail?: unknown };
  if (!Array.isArray(detail) || detail.length === 0) return ["422 without a list of what is wrong"];
  const found: string[] = [];
  const locs: (string | number)[][] = [];
  for (const { loc, msg, type } of detail as { loc?: unknown; msg?: unknown; type?: unknown }[]) {
    const isForm =
      Array.isArray(loc) &&
      loc.every((step) => typeof step === "string" || typeof step === "number") &&
      ["body", "query", "path"].includes(String(loc[0]));
    if (!isForm || typeof msg !== "string" || msg === "" || typeof type !== "string") {
      return ["422 in another form than the contract's"];
    }
    locs.push(loc);
    if (!isPlaceOf(operation, loc) && !isSent(target, loc)) {
      found.push(`422 for ${loc.slice(0, 2).join(".")}, which this operation does not have`);
    }
    if (loc.length < 2 && operation.body !== null && fault === null && type !== "not_supported")
      found.push("422 that names no field");
  }
  const at = fault?.at ?? null;
  if (at !== null && at.length > 2 && locs.every((loc) => loc.length === 1)) {
    found.push(`422 that names no field though ${at.join(".")} is wrong`);
  }
  return [...new Set(found)];
}

/** Not an operation of the document: its reply mentions no fields. */
function unknownOperation({ operation }: FuzzRequest): Operation {
  return { ...operation, parameters: [], body: null, form: null, responses: {} };
}

function isPlaceOf({ parameters = [], body, form }: Operation, [where, name]: (string | number)[]): boolean {
  if (where === "body") return body !== null || form !== null;
  return name === undefined || parameters.some((known) => known.in === where && known.name === name);
}

/** A field that nobody knows is refused by its name. */
function isSent(target: string, [where, name]: (string | number)[]): boolean {
  return where === "query" && new URL(target, "http://server").searchParams.has(String(name));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller needs to know that it is not JSON.
    return undefined;
  }
}

/** The components that a schema uses, directly or indirectly. */
function reachable(schema: Schema, schemas: Schemas): Record<string, Schema> {
  const found: Record<string, Schema> = {};
  const waiting: string[] = [JSON.stringify(schema)];
  while (waiting.length > 0) {
    for (const [, name = ""] of waiting.pop()!.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      const part = schemas[name];
      if (part === undefined || found[name] !== undefined) continue;
      found[name] = part;
      waiting.push(JSON.stringify(part));
    }
  }
  return found;
}
