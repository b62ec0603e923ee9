import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecureContext, rootCertificates } from "node:tls";
import { expect, test } from "vitest";
import { CertificateAuthority } from "./certificate-authority.ts";
import { composeTrustBundle, readSystemRoots, trustStorePaths } from "./trust-bundle.ts";

test("the roots are those of the first store that has some, or Node's", async () => {
  await using scope = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "trust-"));
  scope.defer(async () => rm(folder, { recursive: true }));
  const [empty, full] = [join(folder, "empty.pem"), join(folder, "full.pem")];
  await writeFile(empty, "");
  await writeFile(full, `# roots\n${rootCertificates[0]}`);
  expect(await readSystemRoots([join(folder, "none"), empty, full])).toBe(`# roots\n${rootCertificates[0]}`);
  expect(await readSystemRoots([empty])).toContain(rootCertificates[0]);
});

test("the stores of systems are files that a wall can cover", () => {
  expect(trustStorePaths.filter((path) => !/^\/etc\/[\w./-]+\.(?:crt|pem)$/.test(path))).toEqual([]);
});

test("a bundle has both, one certificate after the other", () => {
  const authority = new CertificateAuthority().certificate;
  const bundle = composeTrustBundle(rootCertificates.slice(0, 2).join("\n"), authority);
  expect(bundle.match(/-----BEGIN CERTIFICATE-----\n/g)).toHaveLength(3);
  expect(() => createSecureContext({ ca: bundle })).not.toThrow();
});
