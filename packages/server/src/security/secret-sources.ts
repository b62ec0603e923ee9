import type { SecretSource } from "@convoke/protocol";
import type { ToolSecret } from "@convoke/tool-host";
import { collectBody } from "../lib/collect-bytes.ts";
import type { Fetch } from "../lib/filtered-fetch.ts";

const lookupTimeoutMs = 30_000;
/** The limit of secrets that are stored. */
export const longestValueBytes = 64 * 1024;
/** The limit for all secrets of a conversation together: every text is searched for each form of them. */
export const maxValueBytes = 256 * 1024;

/** The present values of all secrets; a secret that cannot be resolved is left out and reported by name. */
export async function resolveSecrets(
  sources: Readonly<Record<string, SecretSource>>,
  signal: AbortSignal,
  onFailure: (name: string, reason: string) => void,
  fetch: Fetch = globalThis.fetch,
): Promise<ToolSecret[]> {
  const resolved = await Promise.all(
    Object.entries(sources).map(async ([name, source]): Promise<ToolSecret[]> => {
      try {
        const value =
          source.kind === "StaticSecret" ? source.value : await resolveHost(source, signal, fetch);
        return typeof value === "string" && value !== "" ? [{ name, value }] : [];
      } catch (error) {
        onFailure(name, reasonOf(error));
        return [];
      }
    }),
  );
  return withinLimit(resolved.flat(), onFailure);
}

/** The size of a resolved value is not known before. */
function withinLimit(
  secrets: readonly ToolSecret[],
  onFailure: (name: string, reason: string) => void,
): ToolSecret[] {
  let bytes = 0;
  return secrets.filter(({ name, value }) => {
    const size = Buffer.byteLength(value);
    if (bytes + size > maxValueBytes) {
      onFailure(
        name,
        "the secrets of a conversation have at most 256 KiB together: use fewer or shorter ones",
      );
      return false;
    }
    bytes += size;
    return true;
  });
}

type LookupSecret = Extract<SecretSource, { kind: "LookupSecret" }>;

/** `fetch` puts the reason into the error's cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}

async function resolveHost(source: LookupSecret, signal: AbortSignal, fetch: Fetch): Promise<string> {
  const reply = await fetch(source.url, {
    headers: source.headers ?? {},
    // The headers are for the named address only, so redirects are not followed.
    redirect: "manual",
    signal: AbortSignal.any([signal, AbortSignal.timeout(lookupTimeoutMs)]),
  });
  if (!reply.ok) {
    await reply.body?.cancel();
    throw new Error(
      reply.status >= 300 && reply.status < 400
        ? `the lookup answered ${reply.status}; redirects are not followed, name the address itself`
        : `the lookup answered ${reply.status}`,
    );
  }
  return (await readText(reply)).trim();
}

async function readText(reply: Response): Promise<string> {
  const bytes = await collectBody(reply, longestValueBytes);
  if (bytes === null) throw new Error("the lookup answered more than 64 KiB, which is no secret");
  return bytes.toString("utf8");
}
