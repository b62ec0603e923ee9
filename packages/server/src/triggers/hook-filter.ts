import { valueAt } from "../lib/json-object.ts";

/** Which posts start something. What is left out allows everything; what is given must all apply. */
export type HookFilter = {
  /** Names of events: `push`, `Push Hook`, or with the action, `pull_request.opened`. */
  readonly events?: readonly string[];
  /** Names of branches; `*` stands for any characters. */
  readonly branches?: readonly string[];
  /** Fields of the payload, by their path, and the values that they may have. */
  readonly fields?: readonly FieldFilter[];
};

export type FieldFilter = {
  /** `pull_request.draft`, `commits.0.author.name`. */
  readonly path: string;
  readonly one_of: readonly (string | number | boolean | null)[];
};

/** Why a post starts nothing, for its history; null when it passes. */
export function refusedBy(filter: HookFilter, event: string | null, payload: unknown): string | null {
  const { events = [], branches = [], fields = [] } = filter;
  const names = eventNames(event, payload);
  if (events.length > 0 && !events.some((wanted) => names.includes(wanted.toLowerCase())))
    return `The event ${event ?? "without a name"} is not among the wanted ones.`;
  if (branches.length > 0) {
    const branch = branchOf(payload);
    if (branch === null) return "The event names no branch.";
    if (!branches.some((pattern) => matchesBranch(pattern, branch))) return "The branch is not wanted.";
  }
  const wrong = fields.find(
    ({ path, one_of: values }) => !values.some((value) => value === valueAt(payload, path)),
  );
  return wrong === undefined ? null : `The field ${wrong.path} has none of the wanted values.`;
}

/** In lower case: as the sender names it in the header and in the payload, each also with the action. */
function eventNames(event: string | null, payload: unknown): readonly string[] {
  const kinds = [event, valueAt(payload, "object_kind"), valueAt(payload, "type"), valueAt(payload, "event")];
  const actions = [valueAt(payload, "action"), valueAt(payload, "object_attributes.action")];
  const names = kinds.filter(isText);
  const all = names.flatMap((name) => [name, ...actions.filter(isText).map((action) => `${name}.${action}`)]);
  return all.map((name) => name.toLowerCase());
}

/** Where GitHub and GitLab name the branch that an event is about; for a pull or merge request it is the target. */
const branchPaths = [
  "pull_request.base.ref",
  "object_attributes.target_branch",
  "merge_request.target_branch",
  "object_attributes.ref",
  "workflow_run.head_branch",
  "check_suite.head_branch",
  "check_run.check_suite.head_branch",
  "deployment.ref",
  "ref",
  "branch",
] as const;

/** The name of the branch; null for tags and events without one. */
export function branchOf(payload: unknown): string | null {
  const found = branchPaths.map((path) => valueAt(payload, path)).find(isText);
  if (found === undefined || found.startsWith("refs/tags/")) return null;
  if (valueAt(payload, "ref_type") === "tag" || valueAt(payload, "object_attributes.tag") === true)
    return null;
  return found.replace(/^refs\/heads\//, "");
}

/** Compares part by part: a pattern cannot make this slow, as it could a regular expression. */
function matchesBranch(pattern: string, branch: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === branch;
  const last = rest.pop() ?? "";
  if (!branch.startsWith(first)) return false;
  let from = first.length;
  for (const part of rest) {
    const found = branch.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return branch.length - last.length >= from && branch.endsWith(last);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
