import { describe, expect, test } from "vitest";
import { isDataLiteral } from "./data-literal.ts";
import { namedSecrets } from "./named-secrets.ts";
import { specialKey } from "./special-keys.ts";

describe("tools 20.2.12: special keys", () => {
  test.each([
    ["ENTER", "\n"],
    ["tab", "\t"],
    ["BS", "\x7f"],
    ["Esc", "\x1b"],
    ["UP", "\x1b[A"],
    ["DOWN", "\x1b[B"],
    ["RIGHT", "\x1b[C"],
    ["LEFT", "\x1b[D"],
    ["HOME", "\x1b[H"],
    ["END", "\x1b[F"],
    ["PGUP", "\x1b[5~"],
    ["PGDN", "\x1b[6~"],
    ["C-c", "\x03"],
    ["c-Z", "\x1a"],
    ["CTRL-d", "\x04"],
    ["ctrl+l", "\x0c"],
    [" C-c ", "\x03"],
  ])("%j", (name, bytes) => {
    expect(specialKey(name)).toBe(bytes);
  });

  test.each(["", "C-", "C-cc", "C-1", "CTRLc", "ls", "endd", "C c"])("%j is text", (text) => {
    expect(specialKey(text)).toBeUndefined();
  });
});

describe("tools 20.2.10: data literals", () => {
  test.each(['[{"a": 1}]', '["a"]', "['a']", "[[1, 2]]", '  {"a": 1}', "{'a': 1}", "[[]]"])(
    "%j is data",
    (text) => {
      expect(isDataLiteral(text)).toBe(true);
    },
  );

  test.each(["[ -f x ]", "[[ -f x ]]", "{ ls; }", "[[\t-n $a ]]", "echo []", "{a,b}", "[1]"])(
    "%j runs",
    (text) => {
      expect(isDataLiteral(text)).toBe(false);
    },
  );
});

describe("tools 19.18: which secrets a command names", () => {
  const secrets = ["id", "TOKEN", "API_KEY", "bad-name"].map((name) => ({ name, value: "v" }));
  test.each([
    ["echo $TOKEN", ["TOKEN"]],
    ["echo ${TOKEN}", ["TOKEN"]],
    ["env | grep TOKEN", ["TOKEN"]],
    ["python -c 'os.environ[\"API_KEY\"]'", ["API_KEY"]],
    ["echo $token $TOKENS MY_TOKEN hidden", []],
    ["echo bad-name", []],
    ["id -u", ["id"]],
  ])("%s", (command, names) => {
    expect(namedSecrets(command, secrets).map((secret) => secret.name)).toEqual(names);
  });
});
