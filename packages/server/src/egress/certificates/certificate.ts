import { createHash, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";
import * as der from "./der.ts";

/** What a certificate of a wall says (RFC 5280). */
export type CertificateContent = {
  readonly subject: string;
  readonly issuer: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: KeyObject;
  readonly issuerPublicKey: KeyObject;
  /** A name or an address; null for the authority itself. */
  readonly host: string | null;
};

const ecdsaWithSha256 = der.sequence(der.objectId("1.2.840.10045.4.3.2"));
const commonName = "2.5.4.3";
/** The longest common name (RFC 5280, appendix A.1). */
const maxCommonName = 64;

/** The certificate as PEM, signed with the issuer's key on P-256. */
export function writeCertificate(content: CertificateContent, issuerKey: KeyObject): string {
  const body = der.sequence(
    der.tagged(0, der.integer(Buffer.from([2]))),
    // 127 random bits, never zero.
    der.integer(Buffer.concat([Buffer.from([0x40 | (randomBytes(1)[0]! & 0x3f)]), randomBytes(15)])),
    ecdsaWithSha256,
    name(content.issuer),
    der.sequence(der.time(content.notBefore), der.time(content.notAfter)),
    name(content.subject),
    publicKeyInfo(content.publicKey),
    der.tagged(3, der.sequence(...extensions(content))),
  );
  const whole = der.sequence(body, ecdsaWithSha256, der.bits(sign("sha256", body, issuerKey)));
  const lines = whole.toString("base64").match(/.{1,64}/g)!;
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** SHA-256 of a public key in base64, as pins are written (RFC 7469). */
export function publicKeyDigest(key: KeyObject): string {
  return createHash("sha256").update(publicKeyInfo(key)).digest("base64");
}

function extensions({ host, publicKey, issuerPublicKey }: CertificateContent): Buffer[] {
  const keyId = extension("2.5.29.14", der.octets(keyIdOf(publicKey)));
  if (host === null) {
    return [
      // An authority, with no other below it.
      extension("2.5.29.19", der.sequence(der.boolean(true), der.integer(Buffer.from([0]))), true),
      // keyCertSign
      extension("2.5.29.15", der.bits(Buffer.from([0x04]), 2), true),
      keyId,
    ];
  }
  return [
    extension("2.5.29.19", der.sequence(), true),
    // digitalSignature
    extension("2.5.29.15", der.bits(Buffer.from([0x80]), 7), true),
    // serverAuth
    extension("2.5.29.37", der.sequence(der.objectId("1.3.6.1.5.5.7.3.1"))),
    extension("2.5.29.17", der.sequence(alternativeName(host))),
    keyId,
    extension("2.5.29.35", der.sequence(der.implicit(0, keyIdOf(issuerPublicKey)))),
  ];
}

function alternativeName(host: string): Buffer {
  return isIP(host) === 0 ? der.implicit(2, Buffer.from(host)) : der.implicit(7, addressBytes(host));
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const words = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [before, after] = [words(head), words(tail ?? "")];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return Buffer.from([...before, ...zeros, ...after].map((word) => word.padStart(4, "0")).join(""), "hex");
}

function extension(id: string, content: Uint8Array, isCritical = false): Buffer {
  return der.sequence(der.objectId(id), ...(isCritical ? [der.boolean(true)] : []), der.octets(content));
}

function name(common: string): Buffer {
  const value = der.utf8(common.slice(0, maxCommonName));
  return der.sequence(der.setOf(der.sequence(der.objectId(commonName), value)));
}

function publicKeyInfo(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" });
}

function keyIdOf(key: KeyObject): Buffer {
  return createHash("sha1").update(publicKeyInfo(key)).digest();
}
