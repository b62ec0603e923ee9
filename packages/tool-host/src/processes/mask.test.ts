import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hiddenMark, maskCutText, maskText, SecretMask } from "./mask.ts";
import { maskNaively } from "./testing/naive-mask.ts";

/** By day a quarter of the cases of the longest properties; all with `CONVOKE_EVERY_CASE=1`. */
const nth = process.env["CONVOKE_EVERY_CASE"] === "1" ? 1 : 4;

const secret = { name: "TOKEN", value: "sk-canary/9+8=7&secret value" };

/** Output of the mask for `text` in chunks of `size` characters. */
function maskInChunks(
  text: string,
  size: number,
  secrets: readonly { name: string; value: string }[],
): string {
  const mask = new SecretMask(secrets);
  let masked = "";
  for (let at = 0; at < text.length; at += size) masked += mask.push(text.slice(at, at + size));
  return masked + mask.flush();
}

describe("P13: no form of a secret passes", () => {
  const { value } = secret;
  const padded = (prefix: string): string => Buffer.from(`${prefix}${value}:more text`).toString("base64");
  const forms: [string, string][] = [
    ["plain", value],
    ["in JSON", JSON.stringify({ key: `a"${value}` })],
    ["URL-encoded", encodeURIComponent(value)],
    ["form-encoded", encodeURIComponent(value).replaceAll("%20", "+")],
    ["URL-encoded in lower case", encodeURIComponent(value).toLowerCase()],
    ["base64", Buffer.from(value).toString("base64")],
    ["base64 with a newline", Buffer.from(`${value}\n`).toString("base64")],
    ["base64 for URLs", Buffer.from(value).toString("base64url")],
  ];

  test.each(forms)("P13: %s", (_name, text) => {
    expect(maskText(`before ${text} after`, [secret])).toContain(hiddenMark);
    expect(maskText(`before ${text} after`, [secret])).not.toContain(text);
  });

  test.each(["", "u", "us", "user:"])("P13: inside a base64 text that begins with %j", (prefix) => {
    const masked = maskText(padded(prefix), [secret]);
    expect(masked).toContain(hiddenMark);
    expect(Buffer.from(masked.replace(hiddenMark, ""), "base64").toString()).not.toContain(
      value.slice(4, -4),
    );
  });

  test("P13: base64 in lines of 76 characters", () => {
    const long = { name: "KEY", value: "0123456789abcdef".repeat(12) };
    const wrapped = Buffer.from(long.value).toString("base64").replace(/.{76}/g, "$&\n");
    expect(maskText(wrapped, [long])).toBe(hiddenMark);
  });

  test("P13: values with quotes as the shell prints them", () => {
    const quoted = { name: "Q", value: `pa$s"wor'd\\x` };
    expect(maskText(String.raw`declare -x Q="pa\$s\"wor'd\\x"`, [quoted])).toBe(
      `declare -x Q="${hiddenMark}"`,
    );
  });

  test("P13: the result is the same for any chunks", () => {
    const text = `start ${value} mid ${Buffer.from(value).toString("base64")}\n${value.slice(0, 9)} end ${value}`;
    const whole = maskText(text, [secret]);
    expect(whole).toBe(`start ${hiddenMark} mid ${hiddenMark}\n${value.slice(0, 9)} end ${hiddenMark}`);
    for (let size = 1; size < 40; size += 1) expect(maskInChunks(text, size, [secret])).toBe(whole);
  });

  test("P13: no chunk ever shows the beginning of a value that continues", () => {
    const mask = new SecretMask([secret]);
    expect(mask.push(`x ${value.slice(0, 12)}`)).toBe("x ");
    expect(mask.held).toBe(value.slice(0, 12));
    expect(mask.push(value.slice(12))).toBe(hiddenMark);
  });

  test("P13: a longer secret wins over one it contains", () => {
    const secrets = [
      { name: "A", value: "password1" },
      { name: "B", value: "password1-and-more" },
    ];
    expect(maskInChunks("password1-and-more, password1.", 3, secrets)).toBe(`${hiddenMark}, ${hiddenMark}.`);
  });
});

describe("P13: a text that was cut off", () => {
  const { value } = secret;
  const third = Math.ceil(value.length / 3);

  test("P13: a partial secret at its end is masked from a third of it on, for any chunks", () => {
    for (let length = 1; length <= value.length; length += 1) {
      const text = `it is ${value.slice(0, length)}`;
      const expected = length < third ? text : `it is ${hiddenMark}`;
      expect(maskCutText(text, [secret])).toBe(expected);
      const mask = new SecretMask([secret]);
      const pushed = text.replaceAll(/./gu, (character) => mask.push(character));
      expect(mask.endsInside("")).toBe(length >= third && length < value.length);
      expect(pushed + mask.cut()).toBe(expected);
      expect(maskText(text, [secret])).toBe(length < value.length ? text : expected);
    }
  });

  test("P13: so is the beginning of another form, and of a short secret as a token of its own", () => {
    const encoded = Buffer.from(value).toString("base64");
    expect(maskCutText(`x ${encoded.slice(0, 20)}`, [secret])).toBe(`x ${hiddenMark}`);
    const short = [{ name: "PIN", value: "4711471" }];
    expect(maskCutText("pin 471147", short)).toBe(`pin ${hiddenMark}`);
    expect(maskCutText("pin9471147", short)).toBe("pin9471147");
    expect(maskCutText("pin 4711", short)).toBe("pin 4711");
  });

  test("P56: nothing else of it is changed, whatever it ends with", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.string({ minLength: 8, maxLength: 30 }), (text, word) => {
        const secrets = [{ name: "S", value: word }];
        const cut = maskCutText(text, secrets);
        if (cut !== maskText(text, secrets)) expect(cut.endsWith(hiddenMark)).toBe(true);
        const mask = new SecretMask(secrets);
        if (!mask.endsInside(text)) expect(cut).toBe(maskText(text, secrets));
      }),
    );
  });
});

describe("P56: masking leaves unrelated text alone", () => {
  test("P56: a short value counts only as a whole token", () => {
    const short = [{ name: "PIN", value: "1234" }];
    expect(maskText("pin 1234, not 91234 or 12345 or a1234", short)).toBe(
      `pin ${hiddenMark}, not 91234 or 12345 or a1234`,
    );
    expect(maskInChunks("pin 1234, not 91234 or 12345 or a1234", 1, short)).toBe(
      `pin ${hiddenMark}, not 91234 or 12345 or a1234`,
    );
  });

  test("P56: values below four characters and blanks are never masked", () => {
    const values = ["a", "yes", "   ", ""].map((value) => ({ name: "S", value }));
    expect(maskText("a yes    no", values)).toBe("a yes    no");
  });

  test("P56: random bytes as base64 come out unchanged", () => {
    const secrets = ["abcd", "12345", "token77", "hunter22"].map((value) => ({ name: "S", value }));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 1, max: 50 }), (bytes, size) => {
        const text = Buffer.from(bytes).toString("base64");
        expect(maskInChunks(text, size, secrets)).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  test("P56: any text is masked the same in any chunks as in one", () => {
    const chunks = fc.array(fc.constantFrom("abcd", "ab", "cd", " ", "abcdefgh", "é", "\n", "x", "YWJjZA=="));
    const secrets = [
      { name: "A", value: "abcd" },
      { name: "B", value: "abcdefgh" },
    ];
    fc.assert(
      fc.property(chunks, fc.integer({ min: 1, max: 7 }), (parts, size) => {
        const text = parts.join("");
        expect(maskInChunks(text, size, secrets)).toBe(maskText(text, secrets));
      }),
    );
  });

  test("P56: the cost of masking is bounded", () => {
    const secrets = Array.from({ length: 30 }, (_, index) => ({
      name: `S${index}`,
      value: `value-${index}-`.repeat(20),
    }));
    const text = "value-1-value-2-".repeat(20_000);
    const mask = new SecretMask(secrets);
    const start = process.cpuUsage();
    for (let at = 0; at < text.length; at += 8192) mask.push(text.slice(at, at + 8192));
    expect(process.cpuUsage(start).user).toBeLessThan(4_000_000);
  });
});

describe("P13, S04: lines of a secret that has several", () => {
  const body = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj", "AgEAAoIBAQC7VJTUt9Us8cKjMzEfYyjiWA4R4"];
  const pem = ["-----BEGIN PRIVATE KEY-----", ...body, "-----END PRIVATE KEY-----"].join("\n");
  const secrets = [{ name: "PEM", value: pem }];

  test("P13, S04: each line of eight characters or more is hidden by itself, numbered, in a diff and in base64", () => {
    for (const line of body) {
      expect(maskText(line, secrets)).toBe(hiddenMark);
      expect(maskText(`     2\t${line}\n+${line}\n`, secrets)).toBe(
        `     2\t${hiddenMark}\n+${hiddenMark}\n`,
      );
      expect(maskText(Buffer.from(line).toString("base64"), secrets)).toBe(hiddenMark);
    }
    expect(maskText(pem, secrets)).toBe(hiddenMark);
  });

  test("P56, S04: the frame of a key and plain settings are no secret; a setting with a secret is", () => {
    const config = "apiVersion: v1\nkind: Config\ntoken: 8hQ2vLq0-xyz\npassword: hunter\nab\n";
    const lines = [{ name: "KUBE", value: config }];
    expect(maskText("-----BEGIN PRIVATE KEY-----", secrets)).toBe("-----BEGIN PRIVATE KEY-----");
    expect(maskText("apiVersion: v1\nkind: Config\nname: x", lines)).toBe(
      "apiVersion: v1\nkind: Config\nname: x",
    );
    expect(maskText("a\ntoken: 8hQ2vLq0-xyz\npassword: hunter\n", lines)).toBe(
      `a\n${hiddenMark}\n${hiddenMark}\n`,
    );
  });
});

describe("P56: everyday words and paths that somebody made a secret", () => {
  const words = ["test", "production", "Password"].map((value) => ({ name: "W", value }));

  test.each([
    "testing attest tests 2test",
    "/srv/production/app.ts, productions, pre-production, production.yaml",
    "src/test/main.ts my_test test-key Passwords PasswordField",
  ])("P56: %j stays as it is", (text) => {
    expect(maskText(text, words)).toBe(text);
    expect(maskInChunks(text, 1, words)).toBe(text);
  });

  test.each([
    ["run the test, then production.", `run the ${hiddenMark}, then ${hiddenMark}.`],
    ['{"a":"test\\nproduction"}', `{"a":"${hiddenMark}\\n${hiddenMark}"}`],
    ["https://me:production@host/?key=Password&b", `https://me:${hiddenMark}@host/?key=${hiddenMark}&b`],
  ])("P13: %j is hidden where it stands alone", (text, expected) => {
    expect(maskText(text, words)).toBe(expected);
    for (const size of [1, 2, 7]) expect(maskInChunks(text, size, words)).toBe(expected);
  });

  test("P56: a path of words hides itself and no path below it", () => {
    const secrets = [{ name: "DIR", value: "/workspace/project" }];
    const text = "cd /workspace/project; cat /workspace/project/a.ts /mnt/workspace/project";
    expect(maskText(text, secrets)).toBe(
      `cd ${hiddenMark}; cat /workspace/project/a.ts /mnt/workspace/project`,
    );
  });
});

describe("P56: texts that the configuration says", () => {
  const secrets = [{ name: "S", value: "project-77" }];
  const spared = ["/home/me/project-77/src", "/home/me/project-77"];

  test("P56: a value inside a spared text stays, everywhere else it is masked, in any chunks", () => {
    const text = "at /home/me/project-77/src/a.ts:1 project-77 /tmp/project-77 /home/me/project-77";
    const expected = `at /home/me/project-77/src/a.ts:1 ${hiddenMark} /tmp/${hiddenMark} /home/me/project-77`;
    expect(maskText(text, secrets, spared)).toBe(expected);
    for (let size = 1; size < 30; size += 1) {
      const mask = new SecretMask(secrets, spared);
      let masked = "";
      for (let at = 0; at < text.length; at += size) masked += mask.push(text.slice(at, at + size));
      expect(masked + mask.flush()).toBe(expected);
    }
  });

  test("P13: a secret that begins inside of a spared text and ends outside is hidden", () => {
    const long = [...secrets, { name: "L", value: "me/project-77?key=8hQ2vLq0" }];
    const text = "get /home/me/project-77?key=8hQ2vLq0 now";
    for (const size of [1, 5, 100]) {
      const mask = new SecretMask(long, spared);
      let masked = "";
      for (let at = 0; at < text.length; at += size) masked += mask.push(text.slice(at, at + size));
      expect(masked + mask.flush()).toBe(`get /home/${hiddenMark} now`);
    }
  });

  test("P13, P56: for any text, secrets and spared texts, chunks give the same result as the whole", () => {
    const part = fc.constantFrom("ab", "abcd", "/ab", "/abcd/", "efgh1234", ".", "abcd.", "\\n", " ", "x");
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 12 }),
        fc.subarray(["abcd", "efgh1234", "abcdx1", "/abcd/efgh1234x", "abcd efgh"], { minLength: 1 }),
        fc.subarray(["/ab/abcd", "/abcd/efgh1234", "abcd."]),
        fc.integer({ min: 1, max: 6 }),
        (parts, values, texts, size) => {
          const text = parts.join("");
          const given = values.map((value) => ({ name: "S", value }));
          const mask = new SecretMask(given, texts);
          let masked = "";
          for (let at = 0; at < text.length; at += size) masked += mask.push(text.slice(at, at + size));
          expect(masked + mask.flush()).toBe(maskText(text, given, texts));
        },
      ),
      { numRuns: 2_000 / nth },
    );
  });

  test("P56: other text is unchanged: the sections between the marks occur in the text in their order", () => {
    const value = fc.oneof(
      fc.constantFrom("test", "production", "/workspace", "1234", "abc"),
      fc.string({ minLength: 1, maxLength: 12 }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(value, fc.string({ maxLength: 9 }), fc.constantFrom("/", "-", ".ts", "\n")), {
          maxLength: 10,
        }),
        fc.array(value, { maxLength: 4 }),
        (parts, values) => {
          const text = parts.join("").replaceAll("<", "");
          const masked = maskText(
            text,
            values.map((item) => ({ name: "S", value: item })),
          );
          let at = 0;
          for (const section of masked.split(hiddenMark)) {
            const found = text.indexOf(section, at);
            expect(found).toBeGreaterThanOrEqual(at);
            at = found + section.length;
          }
          // A long value that is not an everyday word never occurs in the output.
          for (const item of values) {
            const isRecognisable = item.trim() === item && item.length >= 8 && /\d/.test(item);
            if (isRecognisable) expect(masked.replaceAll(hiddenMark, "\0")).not.toContain(item);
          }
        },
      ),
      { numRuns: 1_000 / nth },
    );
  });
});

test("P13: a placeholder stays readable, a secret with the same text does not", () => {
  const placeholder = { name: "TOKEN", value: "cvk_TOKEN_0123456789", isPlaceholder: true } as const;
  const secret = { name: "KEY", value: "hunter2-secret" };
  const text = "cvk_TOKEN_0123456789 hunter2-secret";
  expect(maskText(text, [placeholder, secret])).toBe(`cvk_TOKEN_0123456789 ${hiddenMark}`);
  expect(maskText(text, [placeholder])).toBe(text);
  expect(maskText(text, [placeholder, { ...secret, value: placeholder.value }])).toBe(
    `${hiddenMark} hunter2-secret`,
  );
});

test("P13, P56: for any secrets, text and chunks, the result is that of the naive implementation", () => {
  const letters = fc.constantFrom(
    "a",
    "b",
    "ab",
    "/",
    ".",
    "-",
    " ",
    "1",
    "\n",
    "\\n",
    "é",
    "𝕏",
    "YWFh",
    "aaaa",
  );
  const texts = (maxLength: number) => fc.array(letters, { maxLength }).map((parts) => parts.join(""));
  const values = fc.array(
    fc.oneof(texts(6), texts(14), fc.constantFrom("aaaa", "/a/ab", "abab", "aaaaaaaab", "test")),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(
      values,
      fc.array(texts(8), { maxLength: 3 }),
      texts(30),
      fc.array(fc.nat(), { maxLength: 6 }),
      fc.integer({ min: 1, max: 9 }),
      (given, spared, filling, picks, size) => {
        const secrets = given.map((value) => ({ name: "S", value }));
        // Most texts contain secrets: whole, cut off or joined to others.
        const text = picks.reduce((made, pick) => {
          const value = given[pick % given.length]!;
          return (
            made +
            filling.slice(0, pick % 7) +
            value.slice(0, 1 + (pick % 5 === 0 ? value.length >> 1 : value.length))
          );
        }, filling);
        const naive = maskNaively(text, secrets, spared);
        expect(maskText(text, secrets, spared)).toBe(naive);
        const mask = new SecretMask(secrets, spared);
        let masked = "";
        for (let at = 0; at < text.length; at += size) masked += mask.push(text.slice(at, at + size));
        expect(masked + mask.flush()).toBe(naive);
        // The next text is unrelated.
        expect(mask.push(text) + mask.flush()).toBe(naive);
      },
    ),
    { numRuns: 1_500 / nth },
  );
});
