import { spawnSync } from "node:child_process";
import { expect } from "vitest";
import { docker } from "./registry-images.ts";

const answer = "Glad to help.";
const script = JSON.stringify({ turns: [{ text: answer }], loop: true });

/** A conversation of the server in the container with a scripted model beside it; `workspace` is where the agent works. */
export async function converse(container: string, workspace: string): Promise<void> {
  const begin = `echo '${script}' > /tmp/script.json && exec convoke scripted-model --script /tmp/script.json --port 8100`;
  docker("exec", "--detach", container, "sh", "-c", begin);
  const settings = ["LLM_MODEL=openai/scripted", "LLM_API_KEY=any", "LLM_BASE_URL=http://127.0.0.1:8100/v1"];
  const words = ["--server", "http://127.0.0.1:8000", "--workspace", workspace, "--quiet", "say something"];
  // The model may not listen yet.
  await expect
    .poll(() => {
      const given = settings.flatMap((setting) => ["--env", setting]);
      const ran = spawnSync("docker", ["exec", ...given, container, "convoke", "run", ...words], {
        encoding: "utf8",
      });
      return ran.stdout + ran.stderr;
    })
    .toBe(`${answer}\n`);
}

/** How many conversations the server in the container has. */
export function conversationsOf(container: string): number {
  const listed = docker("exec", container, "convoke", "ls", "--server", "http://127.0.0.1:8000", "--json");
  return listed.split("\n").filter((line) => line !== "").length;
}
