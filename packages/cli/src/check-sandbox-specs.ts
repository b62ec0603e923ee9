import type { SandboxSpecEntry } from "@convoke/protocol";
import type { ServerConfig } from "@convoke/server";
import { isImageHere, specProblem, type SandboxChoice } from "@convoke/server/sandboxes";
import type { Finding } from "./finding.ts";

/** One finding for each of the operator's sandbox specs: whether its backend works, and whether its runtime and image are there. */
export async function checkSandboxSpecs(
  specs: readonly SandboxSpecEntry[],
  choice: SandboxChoice,
  config: ServerConfig["sandbox"],
): Promise<Finding[]> {
  return await Promise.all(specs.map((spec) => checkSpec(spec, choice, config)));
}

async function checkSpec(
  spec: SandboxSpecEntry,
  choice: SandboxChoice,
  config: ServerConfig["sandbox"],
): Promise<Finding> {
  const { id, backend, image = config.image ?? "", runtime } = spec;
  const name = `sandbox spec ${id}`;
  const missing = (detail: string): Finding => ({ name, state: "missing", detail, fix: null });
  const problem = specProblem(spec, choice, config);
  if (problem !== null) return missing(`${problem.field}: ${problem.msg}`);
  if (backend !== "docker") return { name, state: "ok", detail: backend, fix: null };
  // An engine that does not answer.
  if (choice.engine === null || choice.engine.runtimes === null)
    return missing(choice.engine?.detail ?? "no engine");
  const detail = `docker, ${image}${runtime === undefined ? "" : `, runtime ${runtime}`}`;
  if (await isImageHere({ socketPath: config.engineSocket, image }))
    return { name, state: "ok", detail, fix: null };
  const fix = `The first start fetches it; docker pull ${image} does it now.`;
  return { name, state: "optional", detail: `${detail}: the image is not here`, fix };
}
