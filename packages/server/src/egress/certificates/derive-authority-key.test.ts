import { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { CertificateAuthority } from "./certificate-authority.ts";
import { deriveAuthorityKey } from "./derive-authority-key.ts";

const yearMs = 365 * 86_400_000;

test("the authority of a secret is the same for each process, and lasts for years; another secret has another one", () => {
  const [first, later, other] = ["one", "one", "two"].map(
    (secret) => new CertificateAuthority(Date.now, deriveAuthorityKey(secret)),
  );
  expect(later!.publicKeyDigest).toBe(first!.publicKeyDigest);
  expect(other!.publicKeyDigest).not.toBe(first!.publicKeyDigest);
  const end = new X509Certificate(first!.certificate).validToDate.getTime();
  expect(end).toBeGreaterThan(Date.now() + 9 * yearMs);
});

test("what a later process issues is trusted where the certificate of an earlier one is", () => {
  const [first, later] = [1, 2].map(
    () => new CertificateAuthority(Date.now, deriveAuthorityKey("a secret of a row")),
  );
  const trusted = new X509Certificate(first!.certificate);
  const leaf = new X509Certificate(later!.issue("example.com").cert);
  expect(leaf.checkIssued(trusted)).toBe(true);
  expect(leaf.verify(trusted.publicKey)).toBe(true);
});

test("every secret gives a key", () => {
  const digests = Array.from(
    { length: 50 },
    (_, at) => new CertificateAuthority(Date.now, deriveAuthorityKey(`${at}`)).publicKeyDigest,
  );
  expect(new Set(digests).size).toBe(50);
});
