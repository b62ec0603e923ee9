import type { FetchPluginResponse, FetchSkillResponse, installedRoutes } from "@convoke/protocol";
import { textOf } from "../../../lib/json-object.ts";
import type { OpenedSource } from "../../../extensions/sources/extension-sources.ts";
import type { Handlers, RequestOf } from "../../../http/mount.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { requirePlugin, requireSkill } from "./read-heads.ts";
import { showSkill } from "./skill-routes.ts";

/** Shows plugins and skills before anything of them is used. What was fetched from git can be installed by its commit for an hour. */
export function fetchHandlers({ sources }: FaceDeps) {
  async function open({ caller, body }: Asked): Promise<OpenedSource> {
    const { secrets = {}, timeout = 60, ...given } = body;
    const options = { loc: ["body"], secrets, timeoutMs: timeout * 1_000 };
    return await sources.open(caller.userId, given, options);
  }

  return {
    fetchPlugin: async (request) => {
      const opened = await open(request);
      const { parts, manifest, contents, notes } = await requirePlugin(opened, ["body", "source"]);
      const common = showSource(request, opened);
      return {
        json: {
          ...common,
          name: parts.name,
          version: textOf(manifest["version"]) ?? "",
          description: textOf(manifest["description"]) ?? "",
          manifest,
          skills: contents.skills.map(({ name }) => name),
          skill_summaries: [...contents.skills],
          commands: [...contents.commands],
          agents: [...contents.agents],
          hooks: [...contents.hooks],
          mcp_servers: [...contents.mcp_servers],
          warnings: [...notes, ...common.warnings],
        } satisfies FetchPluginResponse,
      };
    },

    fetchSkill: async (request) => {
      const opened = await open(request);
      const { skill, version } = await requireSkill(opened, ["body", "source"]);
      const { name, content, triggers } = showSkill(skill);
      const description = skill.description ?? "";
      return {
        json: {
          ...showSource(request, opened),
          name,
          version,
          description,
          content,
          triggers: triggers ?? [],
        } satisfies FetchSkillResponse,
      };
    },
  } satisfies Partial<Handlers<typeof installedRoutes>>;
}

type Asked = RequestOf<(typeof installedRoutes)["fetchPlugin"]>;

function showSource({ body }: Asked, { directory, copy }: OpenedSource) {
  const { source, repo_path } = body;
  return {
    path: directory,
    resolved_ref: copy?.pin.commit ?? null,
    digest: copy?.pin.digest ?? null,
    source,
    repo_path: repo_path ?? null,
    files: (copy?.content ?? []).map(({ path, bytes, isExecutable }) => ({
      path,
      size: bytes.byteLength,
      is_executable: isExecutable,
    })),
    warnings: [...(copy?.notes ?? [])],
  };
}
