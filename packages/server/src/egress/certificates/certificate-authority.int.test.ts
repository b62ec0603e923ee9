import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { writeCertificate } from "./certificate.ts";

const run = promisify(execFile);
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

test.skipIf(!hasOpenssl)(
  "OpenSSL accepts authority and leaf by its strict rules (needs openssl)",
  async () => {
    await using scope = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), "egress-"));
    scope.defer(async () => rm(folder, { recursive: true }));
    const [authority, own] = [1, 2].map(() => generateKeyPairSync("ec", { namedCurve: "P-256" }));
    const day = 86_400_000;
    const common = {
      issuer: "Convoke wall",
      notBefore: new Date(Date.now() - day),
      notAfter: new Date(Date.now() + day),
      issuerPublicKey: authority!.publicKey,
    };
    const root = { ...common, subject: "Convoke wall", publicKey: authority!.publicKey, host: null };
    const leaf = { ...common, subject: "example.com", publicKey: own!.publicKey, host: "example.com" };
    await writeFile(join(folder, "ca.pem"), writeCertificate(root, authority!.privateKey));
    await writeFile(join(folder, "leaf.pem"), writeCertificate(leaf, authority!.privateKey));
    const verify = ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "ca.pem"];
    const { stdout } = await run("openssl", [...verify, "-verify_hostname", "example.com", "leaf.pem"], {
      cwd: folder,
    });
    expect(stdout).toBe("leaf.pem: OK\n");
    await expect(
      run("openssl", [...verify, "-verify_hostname", "other.example", "leaf.pem"], { cwd: folder }),
    ).rejects.toThrow("hostname mismatch");
  },
);
