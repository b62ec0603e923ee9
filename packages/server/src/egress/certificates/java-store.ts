import { createHash } from "node:crypto";

/** What Java calls its own store of roots with, everywhere. It protects nothing: the roots are public. */
const password = "changeit";
/** Part of the format. */
const salt = "Mighty Aphrodite";
const magic = 0xfe_ed_fe_ed;
const version = 2;
const trustedCertificate = 2;

/** The certificates of a PEM text as a trust store of Java, in its format JKS, which every version reads. */
export function toJavaStore(pem: string): Buffer {
  const certificates = [...pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g)].map(
    ([, base64 = ""]) => Buffer.from(base64, "base64"),
  );
  const head = Buffer.alloc(12);
  head.writeUInt32BE(magic, 0);
  head.writeUInt32BE(version, 4);
  head.writeUInt32BE(certificates.length, 8);
  const data = Buffer.concat([head, ...certificates.flatMap((der, index) => entryOf(`root-${index}`, der))]);
  const digest = createHash("sha1")
    .update(Buffer.from(password, "utf16le").swap16())
    .update(salt)
    .update(data)
    .digest();
  return Buffer.concat([data, digest]);
}

function entryOf(alias: string, der: Buffer): Buffer[] {
  // The date of its entry, which nothing reads.
  return [
    numberOf(trustedCertificate),
    textOf(alias),
    Buffer.alloc(8),
    textOf("X.509"),
    numberOf(der.length),
    der,
  ];
}

function numberOf(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** ASCII behind its length. */
function textOf(text: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return Buffer.concat([length, Buffer.from(text, "latin1")]);
}
