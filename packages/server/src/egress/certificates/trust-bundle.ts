import { getCACertificates } from "node:tls";
import { readIfThere } from "../../lib/read-if-there.ts";

/** Where systems have their roots as one PEM file: Debian and Alpine, Fedora, SUSE, BSD. A wall covers those that exist. */
export const trustStorePaths: readonly string[] = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** The system's roots as PEM; Node's where the system has none. Read them once for all walls. */
export async function readSystemRoots(paths: readonly string[] = trustStorePaths): Promise<string> {
  for (const path of paths) {
    const text = await readIfThere(path);
    if (text?.includes("-----BEGIN CERTIFICATE-----") === true) return text;
  }
  return getCACertificates("bundled").join("\n");
}

/** A wall's trust store: the roots, so that hosts verify whose connections are only copied, and the wall's authority. */
export function composeTrustBundle(roots: string, authority: string): string {
  return `${authority.trimEnd()}\n${roots.trimEnd()}\n`;
}
