import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { CertificateAuthority } from "./certificate-authority.ts";
import { writeCertificate } from "./certificate.ts";
import { deriveAuthorityKey } from "./derive-authority-key.ts";

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

test.skipIf(!hasOpenssl)(
  "OpenSSL, which trusts the authority of an earlier process, accepts the chain of a later one (needs openssl)",
  async () => {
    await using scope = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), "egress-"));
    scope.defer(async () => rm(folder, { recursive: true }));
    const [earlier, later] = [1, 2].map(
      () => new CertificateAuthority(Date.now, deriveAuthorityKey("secret")),
    );
    await writeFile(join(folder, "trusted.pem"), earlier!.certificate);
    // The leaf, then the authority as the later process wrote it.
    await writeFile(join(folder, "chain.pem"), later!.issue("example.com").cert);
    const order = [
      "verify",
      "-x509_strict",
      "-CAfile",
      "trusted.pem",
      "-untrusted",
      "chain.pem",
      "chain.pem",
    ];
    const { stdout } = await run("openssl", order, { cwd: folder });
    expect(stdout).toBe("chain.pem: OK\n");
  },
);
