import type { SecretSource } from "@convoke/protocol";
import type { ToolSecret } from "@convoke/tool-host";

const lookupTimeoutMs = 30_000;

/** The present values of all secrets; one that cannot be looked up is left out and reported by name. */
export async function resolveSecrets(
  sources: Readonly<Record<string, SecretSource>>,
  signal: AbortSignal,
  onFailure: (name: string, reason: string) => void,
): Promise<ToolSecret[]> {
  const resolved = await Promise.all(
    Object.entries(sources).map(async ([name, source]): Promise<ToolSecret[]> => {
      try {
        const value = source.kind === "StaticSecret" ? source.value : await lookUp(source, signal);
        return typeof value === "string" && value !== "" ? [{ name, value }] : [];
      } catch (error) {
        onFailure(name, error instanceof Error ? error.message : String(error));
        return [];
      }
    }),
  );
  return resolved.flat();
}

type LookupSecret = Extract<SecretSource, { kind: "LookupSecret" }>;

async function lookUp(source: LookupSecret, signal: AbortSignal): Promise<string> {
  const reply = await fetch(source.url, {
    headers: source.headers ?? {},
    signal: AbortSignal.any([signal, AbortSignal.timeout(lookupTimeoutMs)]),
  });
  if (!reply.ok) throw new Error(`the lookup answered ${reply.status}`);
  return (await reply.text()).trim();
}
