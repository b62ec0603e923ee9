import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { getCACertificates } from "node:tls";
import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { toJavaStore } from "./java-store.ts";

const run = promisify(execFile);
const keytool = await run("keytool", ["-help"]).then(
  () => true,
  () => false,
);
const roots = getCACertificates("bundled").slice(0, 3);

test("a store has its head, each certificate whole, and a digest", () => {
  const store = toJavaStore(roots.join("\n"));
  expect(store.subarray(0, 12).toString("hex")).toBe("feedfeed0000000200000003");
  for (const root of roots) expect(store.includes(new X509Certificate(root).raw)).toBe(true);
  expect(toJavaStore("").length).toBe(32);
});

test.skipIf(!keytool)("Java reads the store (needs keytool)", async () => {
  const folder = await mkdtemp(join(tmpdir(), "convoke-java-"));
  try {
    const file = join(folder, "cacerts");
    await writeFile(file, toJavaStore(roots.join("\n")));
    const { stdout } = await run("keytool", ["-list", "-keystore", file, "-storepass", "changeit"]);
    for (const root of roots) expect(stdout).toContain(new X509Certificate(root).fingerprint256);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
