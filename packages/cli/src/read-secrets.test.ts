import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { parseSecret, readSecrets } from "./read-secrets.ts";

const output = new PassThrough();

test("values come from variables of the names, and the others from lines of standard input", async () => {
  const input = Readable.from(["line-one\n", "line-two\n"]) as unknown as NodeJS.ReadableStream;
  const environment = { TOKEN: "of-the-variable", EMPTY: "" };
  const given = ["TOKEN@git.example.com", "EMPTY@a.example,*.b.example:8443", "OTHER@c.example"];
  expect(await readSecrets(given, { environment, input, output })).toEqual({
    TOKEN: { kind: "StaticSecret", value: "of-the-variable", hosts: ["git.example.com"] },
    EMPTY: { kind: "StaticSecret", value: "line-one", hosts: ["a.example", "*.b.example:8443"] },
    OTHER: { kind: "StaticSecret", value: "line-two", hosts: ["c.example"] },
  });
});

test("a missing value and another form are usage errors that repeat nothing of what was given", async () => {
  const input = Readable.from([]) as unknown as NodeJS.ReadableStream;
  await expect(readSecrets(["TOKEN@a.example"], { environment: {}, input, output })).rejects.toThrow(
    "There is no value for the secret TOKEN.",
  );
  for (const text of ["TOKEN", "TOKEN=ghp_value", "TOKEN@", "TOKEN@a.example,", "ghp_value@b@c"]) {
    expect(() => parseSecret(text)).toThrow("--secret must be NAME@host");
    expect(() => parseSecret(text)).not.toThrow("ghp_value");
  }
});
