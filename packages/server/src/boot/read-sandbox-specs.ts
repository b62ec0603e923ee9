import { readFile } from "node:fs/promises";
import { SandboxSpecFile, type SandboxSpecEntry } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { compilePolicy } from "../egress/policy/compiled-policy.ts";
import { ConfigError } from "../lib/config-error.ts";
import { describeError } from "../lib/describe-error.ts";
import { Fault } from "../lib/fault.ts";

/** The sandbox specs of an operator, in the order of the file; the first is the default. */
export type SandboxSpecs = readonly [SandboxSpecEntry, ...SandboxSpecEntry[]];

/** What is wrong with an entry that has the right form, and what to do. */
type Problem = { readonly field: keyof SandboxSpecEntry; readonly msg: string };

/** The file that `CONVOKE_SANDBOX_SPECS` names; null without one. Rejects with a {@link ConfigError} that names each mistake. */
export async function readSandboxSpecs(
  path: string | null,
  defaultImage: string | null,
): Promise<SandboxSpecs | null> {
  if (path === null) return null;
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    const reason = describeError(cause);
    throw new ConfigError(`The file of CONVOKE_SANDBOX_SPECS cannot be read: ${reason}`, { cause });
  });
  const { specs, problems } = checkSandboxSpecs(text, defaultImage);
  if (specs !== null) return specs;
  const shown = problems.slice(0, 10).map((problem) => `\n  ${problem}`);
  throw new ConfigError(
    `The sandbox specs in ${path} (CONVOKE_SANDBOX_SPECS) cannot be used:${shown.join("")}`,
  );
}

type Checked =
  | { readonly specs: SandboxSpecs; readonly problems: readonly [] }
  | { readonly specs: null; readonly problems: readonly string[] };

/** Reads `{"specs": [...]}`. Each problem names the entry, by its number from 0, and its field. */
function checkSandboxSpecs(text: string, defaultImage: string | null): Checked {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return { specs: null, problems: [`it is not JSON: ${(error as SyntaxError).message}`] };
  }
  const checked = createValidator().check<SandboxSpecFile>(SandboxSpecFile, parsed);
  if (!checked.ok) {
    const problems = checked.errors.map(({ loc, msg }) => `${loc.join(".") || "the file"}: ${msg}`);
    return { specs: null, problems };
  }
  const { specs } = checked.value;
  const problems = specs.flatMap((spec, index) =>
    problemsOf(spec, specs.slice(0, index), defaultImage).map(
      ({ field, msg }) => `specs.${index}.${field} (${spec.id}): ${msg}`,
    ),
  );
  return problems.length === 0
    ? { specs: specs as unknown as SandboxSpecs, problems: [] }
    : { specs: null, problems };
}

function problemsOf(
  spec: SandboxSpecEntry,
  before: readonly SandboxSpecEntry[],
  defaultImage: string | null,
): Problem[] {
  const { id, backend, image, runtime, environment = {} } = spec;
  const problems: Problem[] = [];
  const add = (field: Problem["field"], msg: string): void => void problems.push({ field, msg });
  if (!/^[A-Za-z0-9][\w.:/-]*$/.test(id))
    add("id", "Begin with a letter or digit, and go on with letters, digits and any of _ . : / -.");
  if (before.some((other) => other.id === id)) add("id", "Another spec has this id. Give it one of its own.");
  if (backend !== "docker") {
    const what = `Sandboxes of ${backend} run this machine's programs. Leave this out, or set backend to docker.`;
    if (image !== undefined) add("image", what);
    if (runtime !== undefined) add("runtime", what);
  } else if (image === undefined && defaultImage === null)
    add("image", "Name an image that has the command convoke, or set CONVOKE_SANDBOX_IMAGE for all specs.");
  const refused = Object.keys(environment).filter((name) => !isVariableName(name));
  if (refused.length > 0) {
    add(
      "environment",
      `These cannot be set: ${refused.join(", ")}. Use letters, digits and _; not CONVOKE_*, LD_* or NODE_OPTIONS.`,
    );
  }
  const network = networkProblem(spec);
  if (network !== null) add("network", network);
  return problems;
}

/** Others are no names, or change the program that runs the tools. */
function isVariableName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !/^(CONVOKE_|NODE_OPTIONS$|LD_)/.test(name);
}

/** What the proxy could not read, and a policy where there is no proxy. */
function networkProblem({ network, backend }: SandboxSpecEntry): string | null {
  if (network === undefined) return null;
  try {
    compilePolicy(network);
  } catch (error) {
    if (error instanceof Fault)
      return error.fields.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join(" ");
    throw error;
  }
  return backend === "process"
    ? "A plain process has the machine's network, whatever is written here. Leave this out, or use another backend."
    : null;
}
