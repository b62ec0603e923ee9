import { ApiError } from "@convoke/client";
import type { ValidationError } from "@convoke/protocol";

/** What a server refused of a form: by field, and the rest in one text. */
export type FormProblem = { readonly fields: readonly ValidationError[]; readonly rest: string | null };

export const noProblem: FormProblem = { fields: [], rest: null };

/** Where each field of the form is in a request. */
export const fieldPaths = {
  name: ["name"],
  prompt: ["prompt"],
  expression: ["trigger", "expression"],
  timeZone: ["trigger", "time_zone"],
  every: ["trigger", "every_seconds"],
  onceAt: ["trigger", "at"],
  events: ["trigger", "events"],
  branches: ["trigger", "branches"],
  fields: ["trigger", "fields"],
  signatureHeader: ["trigger", "signature_header"],
  timestampHeader: ["trigger", "timestamp_header"],
  idHeader: ["trigger", "id_header"],
  eventHeader: ["trigger", "event_header"],
  statuses: ["trigger", "statuses"],
  eventKinds: ["trigger", "event_kinds"],
  tag: ["trigger", "tag"],
  conversation: ["trigger", "conversation_id"],
  automation: ["trigger", "automation_id"],
  place: ["conversation", "working_dir"],
  repository: ["conversation", "repository", "url"],
  branch: ["conversation", "repository", "ref"],
  worktree: ["conversation", "worktree"],
  profile: ["conversation", "llm_profile"],
  budget: ["conversation", "max_budget_per_task"],
  maxMinutes: ["conversation", "max_run_seconds"],
  network: ["conversation", "wall"],
  ask: ["conversation", "confirmation_policy"],
  waitHours: ["approvals", "timeout_seconds"],
  maxQueued: ["overlap", "max_queued"],
  catchUp: ["catch_up", "max_runs"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type FieldName = keyof typeof fieldPaths;

export function toProblem(error: unknown): FormProblem {
  const fields = error instanceof ApiError ? error.fields : [];
  const isPlaced = (field: ValidationError): boolean =>
    Object.values(fieldPaths).some((path) => isAt(field, path));
  const rest = fields.filter((field) => !isPlaced(field)).map(({ loc, msg }) => `${loc.join(".")}: ${msg}`);
  if (fields.length > 0) return { fields, rest: rest.join("; ") || null };
  return { fields, rest: error instanceof Error ? error.message : String(error) };
}

/** Why the server refused a field; undefined when it did not. */
export function errorOf({ fields }: FormProblem, name: FieldName): string | undefined {
  return fields.find((field) => isAt(field, fieldPaths[name]))?.msg;
}

/** The steps of the path in their order; the server may name the variant of a union between them. */
function isAt({ loc }: ValidationError, path: readonly string[]): boolean {
  let from = 0;
  for (const step of path) {
    const found = loc.indexOf(step, from);
    if (found < 0) return false;
    from = found + 1;
  }
  return true;
}
