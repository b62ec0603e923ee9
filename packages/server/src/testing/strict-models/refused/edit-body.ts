/** A request body, parsed. */
export type Body = Readonly<Record<string, unknown>>;

/** What is changed in a body: paths such as `messages.1.content`, and what is put there; undefined takes it away. `+` appends. */
export type Edit = readonly (readonly [path: string, value: unknown])[];

export function editBody(body: Body, edit: Edit): Body {
  const changed = structuredClone(body);
  for (const [path, value] of edit) put(changed, path.split("."), value);
  return changed;
}

export function at(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((inner, step) => (inner as Body)[step], value);
}

function put(root: unknown, steps: readonly string[], value: unknown): void {
  const last = steps.at(-1)!;
  const holder = steps.slice(0, -1).reduce((inner, step) => (inner as Body)[step], root);
  if (Array.isArray(holder)) {
    if (last === "+") holder.push(value);
    else if (value === undefined) holder.splice(Number(last), 1);
    else holder[Number(last)] = value;
    return;
  }
  const fields = holder as Record<string, unknown>;
  if (value === undefined) delete fields[last];
  else fields[last] = value;
}
