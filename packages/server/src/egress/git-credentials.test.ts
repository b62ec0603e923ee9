import { expect, test } from "vitest";
import type { BoundSecret } from "../egress/egress.ts";
import { gitCredentialFiles, gitFiles, gitSettings } from "./git-credentials.ts";

const bound = (
  name: string,
  hosts: readonly string[],
  as: BoundSecret["as"] = ["header", "basic"],
): BoundSecret => ({
  name,
  placeholder: `cvk_${name}_0123456789`,
  value: "value-that-stays-outside",
  hosts,
  as,
});

test("addresses of ssh lead to HTTPS for bound hosts, by their ports, and not for wildcards", () => {
  const files = gitCredentialFiles([
    bound("A", ["git.example.com", "code.example.com:8443", "*.corp.example"]),
    bound("B", ["body.example.com"], ["body"]),
  ]);
  expect(files[gitFiles.config]).toBe(
    [
      '[url "https://git.example.com/"]\n\tinsteadOf = git@git.example.com:\n\tinsteadOf = ssh://git@git.example.com/\n',
      '[url "https://code.example.com:8443/"]\n\tinsteadOf = git@code.example.com:\n\tinsteadOf = ssh://git@code.example.com/\n',
    ].join(""),
  );
  expect(JSON.stringify(files)).not.toContain("value-that-stays-outside");
});

test("the helper is named in git's settings, with one line about ssh", () => {
  expect(gitSettings("/run/x")).toContain('helper = "!sh /run/x/git-credential"');
  expect(gitSettings("/run/x")).toContain("there is no key and no agent");
});
