type JsonObject = Readonly<Record<string, unknown>>;

/** Typos of the keys that models produce. */
const riskTypos = ["security_rort", "securtiy_risk", "security_riks"];

/**
 * The names under which a tool's calls carry what the server asks the model for: how risky the call is, and what it does. What the
 * tool declares under such a name is the tool's, and ours has another one; null where that is taken too.
 */
export type AddedFields = {
  readonly risk: string | null;
  readonly summary: string | null;
  /** Other spellings under which the risk may come. */
  readonly typos: readonly string[];
};

export function addedFieldsOf(parameters: JsonObject): AddedFields {
  const own = (parameters["properties"] ?? {}) as JsonObject;
  const isFree = (name: string): boolean => !Object.hasOwn(own, name);
  const nameOf = (name: string): string | null => [name, `call_${name}`].find(isFree) ?? null;
  return { risk: nameOf("security_risk"), summary: nameOf("summary"), typos: riskTypos.filter(isFree) };
}

/** Whether a tool that declares nothing under this name would leave the field out. */
export function isAddedField(name: string): boolean {
  return name === "security_risk" || name === "summary" || riskTypos.includes(name);
}

export type SplitFields = {
  /** What the tool gets. */
  readonly own: Record<string, unknown>;
  readonly risk: unknown;
  readonly summary: unknown;
};

/** Takes the fields that were added out of a call's arguments, and nothing else. */
export function splitFields(values: JsonObject, { risk, summary, typos }: AddedFields): SplitFields {
  const risks = risk === null ? typos : [risk, ...typos];
  const entries = Object.entries(values);
  return {
    own: Object.fromEntries(entries.filter(([name]) => name !== summary && !risks.includes(name))),
    risk: risks.map((name) => valueOf(values, name)).find((value) => value !== undefined && value !== null),
    summary: summary === null ? undefined : valueOf(values, summary),
  };
}

function valueOf(values: JsonObject, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
