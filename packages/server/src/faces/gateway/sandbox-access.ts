import type { Sandboxes } from "../../app-conversations/sandbox-service.ts";
import { enteringSecrets } from "../../app-conversations/entering-secrets.ts";
import { sandboxMissing } from "../../app-conversations/sandbox-refusals.ts";
import type { SecretStore } from "../../settings/secret-store.ts";
import type { UserSecrets } from "../../workspaces/machine.ts";
import type { OpenAccess } from "../../workspaces/workspace-access.ts";

export type SandboxAccessDeps = {
  /** Without them there is no sandbox. */
  readonly sandboxes: Pick<Sandboxes, "learn" | "ownerOf" | "openHost" | "getMany"> | null;
  readonly secrets: UserSecrets;
};

/** The machine inside a sandbox, for its owner only. */
export function createSandboxAccess({ sandboxes, secrets }: SandboxAccessDeps): OpenAccess {
  return async ({ userId }, { sandbox_id: id = "" }) => {
    await sandboxes?.learn(id);
    if (sandboxes === null || sandboxes.ownerOf(id) !== userId) throw sandboxMissing(id);
    const { toolHost, workspaceDir } = await sandboxes.openHost(id);
    return {
      workspace: toolHost.workspace,
      bash: toolHost.bash,
      workingDir: workspaceDir,
      secrets: async () => {
        const [view] = await sandboxes.getMany(userId, [id]);
        if (!view) throw sandboxMissing(id);
        // They go into the sandbox, which never gets the value of a bound one and so cannot show it.
        const free = Object.entries(await secrets.values(userId)).flatMap(([name, { value, hosts }]) =>
          hosts === undefined || hosts === null ? [[name, value] as const] : [],
        );
        const entering = enteringSecrets(Object.fromEntries(free), view.secretNames);
        return Object.entries(entering).map(([name, value]) => ({ name, value }));
      },
    };
  };
}

/** A user's stored secrets as a sandbox may have them: one that its spec does not let in is as if it were not there. */
export function secretsEntering(
  id: string,
  {
    sandboxes,
    secrets,
  }: Pick<SandboxAccessDeps, "sandboxes"> & { readonly secrets: Pick<SecretStore, "read"> },
): Pick<SecretStore, "read"> {
  return {
    read: async (userId, name) => {
      const [view] = (await sandboxes?.getMany(userId, [id])) ?? [];
      if (!view) throw sandboxMissing(id);
      return view.secretNames?.includes(name) === false ? null : await secrets.read(userId, name);
    },
  };
}
