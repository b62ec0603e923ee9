import { objectOr, parseObject } from "../../lib/json-object.ts";

/** What lists filter by and only the configuration says; null where it does not, or is no JSON. */
export type ListedFields = { readonly workingDir: string | null; readonly tags: string | null };

/** `tags` is the JSON of the object, without blanks. What is damaged is listed all the same, under none. */
export function listedFieldsOf(config: string): ListedFields {
  const { workspace, tags } = parseObject(config) ?? {};
  const { working_dir: workingDir } = objectOr(workspace);
  return {
    workingDir: typeof workingDir === "string" ? workingDir : null,
    tags: tags === undefined ? null : JSON.stringify(tags),
  };
}
