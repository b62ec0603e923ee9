import { createHash, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type PeerCertificate } from "node:tls";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { CertificateAuthority } from "./certificate-authority.ts";

/** The leaf that a server with this context shows to a client that trusts only the authority. */
async function leafOf(authority: CertificateAuthority, host: string): Promise<X509Certificate> {
  const server = createServer(authority.issue(host));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect({
    port,
    host: "127.0.0.1",
    servername: "any.example",
    ca: authority.certificate,
    checkServerIdentity: (_name, { raw }: PeerCertificate) => {
      const leaf = new X509Certificate(raw);
      return (leaf.checkHost(host) ?? leaf.checkIP(host)) === undefined
        ? new Error("another host")
        : undefined;
    },
  });
  await once(socket, "secureConnect");
  const { raw } = socket.getPeerCertificate();
  socket.destroy();
  server.close();
  return new X509Certificate(raw);
}

test("an authority signs itself for 30 days, and its digest is that of its key", () => {
  const now = Date.UTC(2026, 0, 31, 12);
  const authority = new CertificateAuthority(() => now);
  const certificate = new X509Certificate(authority.certificate);
  expect(certificate.ca).toBe(true);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.checkIssued(certificate)).toBe(true);
  expect(certificate.subject).toBe("CN=Convoke wall");
  expect(certificate.validFromDate.getTime()).toBe(now - 86_400_000);
  expect(certificate.validToDate.getTime()).toBe(now + 30 * 86_400_000);
  const key = certificate.publicKey.export({ type: "spki", format: "der" });
  expect(authority.publicKeyDigest).toBe(createHash("sha256").update(key).digest("base64"));
  expect(new CertificateAuthority(() => now).publicKeyDigest).not.toBe(authority.publicKeyDigest);
});

test.each([
  "example.com",
  `${"a.".repeat(100)}example`,
  "xn--bcher-kva.example",
  "1.2.3.4",
  "2606:4700::1111",
  "::1",
])("a leaf is good for %s, and TLS accepts it", async (host) => {
  const authority = new CertificateAuthority();
  const leaf = await leafOf(authority, host);
  expect(leaf.ca).toBe(false);
  expect(leaf.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
  expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  expect(leaf.checkHost("other.example")).toBeUndefined();
  expect(leaf.validToDate.getTime() - Date.now()).toBeLessThanOrEqual(7 * 86_400_000);
});

test("a leaf is to be renewed a day before its end, and never outlives the authority", () => {
  let now = Date.UTC(2026, 0, 31);
  const day = 86_400_000;
  const authority = new CertificateAuthority(() => now);
  expect(authority.issue("example.com").renewAt).toBe(now + 6 * day);
  now += 28 * day;
  const { cert } = authority.issue("example.com");
  expect(new X509Certificate(cert).validToDate.getTime()).toBe(now + 2 * day);
});

test("times from 2050 on have four digits of the year", () => {
  const now = Date.UTC(2049, 11, 15);
  const certificate = new X509Certificate(new CertificateAuthority(() => now).certificate);
  expect(certificate.validToDate.toISOString()).toBe("2050-01-14T00:00:00.000Z");
});
