import type { FastifyRequest } from "fastify";
import type { Route, SettingsUsed } from "@convoke/protocol";
import { findUnusedFields, readQuery, type RawQuery, type Validator } from "@convoke/protocol/validate";
import { Fault, type FieldFault } from "../lib/fault.ts";
import type { Caller } from "../security/caller.ts";
import type { RouteRequest } from "./route-request.ts";
import { isStorable, unstorableTexts } from "./stored-texts.ts";
import { faultsOfUnused, namesOfUnused } from "./unused-fields.ts";

/** A body, completed from the caller's settings. */
export type CompletedBody = {
  readonly body: unknown;
  /** The version of the settings that it was completed from. */
  readonly settingsVersion: number;
  /** The stored profiles that it was completed from. */
  readonly settingsUsed?: SettingsUsed;
};

export type ReadDeps = {
  readonly validator: Validator;
  /** By operation id: completes a body from the caller's settings before it is checked. */
  readonly completeBody?: Readonly<Record<string, CompleteBody>>;
};

/** `params` are those of the whole path, also of what the routes are mounted below. */
type CompleteBody = (
  body: unknown,
  caller: Caller,
  params: Readonly<Record<string, string>>,
) => Promise<CompletedBody>;

type Read = Omit<RouteRequest, "request" | "signal">;

/** Reads a request and checks it by the schemas of its route. Throws a Fault that lists all mistakes. */
export async function readRequest(
  request: FastifyRequest,
  route: Route,
  caller: Caller,
  { validator, completeBody = {} }: ReadDeps,
): Promise<Read> {
  const complete = completeBody[route.operationId];
  let completed: CompletedBody | undefined;
  const wrong: FieldFault[] = [];
  const check = (schema: Route["body"], value: unknown, where: string): unknown => {
    if (schema === undefined) return value;
    const checked = validator.check<unknown>(schema, value, [where]);
    if (checked.ok) return checked.value;
    wrong.push(...checked.errors);
    return undefined;
  };
  const readBody = async (): Promise<unknown> => {
    completed = await complete?.(request.body, caller, request.params as Record<string, string>);
    const given = completed === undefined ? request.body : completed.body;
    if (route.body === undefined || (route.isBodyOptional === true && (given ?? null) === null)) return;
    return check(route.body, route.tolerateBody === undefined ? given : route.tolerateBody(given), "body");
  };
  const { "*": rest, ...named } = request.params as Record<string, string>;
  const params = route.restParameter === undefined ? named : { ...named, [route.restParameter]: rest ?? "" };
  check(route.params, params, "path");
  const query = route.query === undefined ? {} : readQuery(route.query, request.query as RawQuery);
  check(route.query, query, "query");
  const { unused, nearMisses } = readUnused(route, request.body);
  const misnamed =
    route.query === undefined ? [] : faultsOfUnused(findUnusedFields(route.query, request.query, ["query"]));
  const body = await readBody().catch((error: unknown) => {
    // Reported together with other mistakes.
    if (!(error instanceof Fault) || error.fields.length === 0) throw error;
    wrong.push(...error.fields);
  });
  const all = [
    ...wrong.filter(({ loc }) => !nearMisses.some((miss) => isSame(miss.loc, loc))),
    ...nearMisses,
    ...misnamed,
    // Paths are checked by the handlers of files and git.
    ...(/\/(?:file|git)\//.test(route.path) ? [] : unstorableTexts(query, ["query"])),
    ...(route.body === undefined
      ? []
      : unstorableTexts(request.body, ["body"], route.takesLargeBody === true)),
  ];
  if (all.length > 0) throw new Fault("caller", "validation", "The request is not valid.", all);
  // Texts that no store can hold exist nowhere. Paths of files and ids of conversations are checked by their handlers.
  const names = Object.keys(params).filter(
    (name) => name !== route.restParameter && !name.endsWith("conversation_id"),
  );
  if (!names.every((name) => isStorable(params[name]!))) throw new Fault("missing", "not_found", "Not Found");
  const read = { caller, params, query, body, unused, headers: request.headers };
  if (completed === undefined) return read;
  const { body: _, ...settings } = completed;
  return { ...read, ...settings };
}

/** Checked on the body as sent: values that are filled in later are not the caller's. */
function readUnused(route: Route, given: unknown): { unused: string[]; nearMisses: FieldFault[] } {
  if (route.body === undefined) return { unused: [], nearMisses: [] };
  const found = findUnusedFields(route.body, given, ["body"]);
  return { unused: namesOfUnused(found), nearMisses: faultsOfUnused(found) };
}

function isSame(a: FieldFault["loc"], b: FieldFault["loc"]): boolean {
  return a.length === b.length && a.every((step, at) => step === b[at]);
}
