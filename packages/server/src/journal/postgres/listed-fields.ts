/** What lists filter by and only the configuration says; null where it does not, or is no JSON. */
export type ListedFields = { readonly workingDir: string | null; readonly tags: string | null };

/** `tags` is the JSON of the object, without blanks. */
export function listedFieldsOf(config: string): ListedFields {
  let parsed: unknown;
  try {
    parsed = JSON.parse(config);
  } catch {
    // What is damaged is listed all the same, under none.
    return { workingDir: null, tags: null };
  }
  const { workspace, tags } = (parsed ?? {}) as { readonly workspace?: unknown; readonly tags?: unknown };
  const workingDir = (workspace as { readonly working_dir?: unknown } | null | undefined)?.working_dir;
  return {
    workingDir: typeof workingDir === "string" ? workingDir : null,
    tags: tags === undefined ? null : JSON.stringify(tags),
  };
}
