import { isRegularFile } from "../lib/file-kinds.ts";
import { trustStorePaths } from "./certificates/trust-bundle.ts";

/** Where the way out is inside. */
export const insideEgress = {
  folder: "/run/convoke-egress",
  socket: "/run/convoke-egress/proxy.sock",
  bundle: "/run/convoke-trust/bundle.pem",
  authority: "/run/convoke-trust/authority.pem",
} as const;

/** What programs inside have to trust. */
export type InsideTrust = {
  /** PEM: the authority alone. */
  readonly authority: string;
  /** PEM: the system's roots and the authority. */
  readonly bundle: string;
  readonly publicKeyDigest: string;
};

/** Content of files inside, by path: the trust stores of this machine's system, and those that variables name. */
export async function trustFiles({ authority, bundle }: InsideTrust): Promise<Record<string, string>> {
  const files: Record<string, string> = {
    [insideEgress.bundle]: bundle,
    [insideEgress.authority]: authority,
  };
  for (const path of trustStorePaths) if (await isRegularFile(path)) files[path] = bundle;
  return files;
}
