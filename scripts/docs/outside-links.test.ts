import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { hintAtFilesOutside } from "./outside-links.ts";

/** A token with what the rule reads and changes. */
function open(href: string) {
  const attributes = new Map([["href", href]]);
  return {
    type: "link_open",
    content: "",
    tag: "a",
    nesting: 1,
    attrGet: (name: string) => attributes.get(name) ?? null,
    attrSet: (name: string, value: string) => void attributes.set(name, value),
  };
}

function close() {
  return { ...open(""), type: "link_close", nesting: -1 };
}

test("links to files that the site leaves out become hints; pages and dead links stay links", () => {
  using root = mkdtempDisposableSync(path.join(tmpdir(), "convoke-links-"));
  const [docs, source] = [path.join(root.path, "docs"), path.join(root.path, "source")];
  for (const folder of ["docs/guides", "docs/decisions", "source/guides", "source/design"])
    mkdirSync(path.join(root.path, folder), { recursive: true });
  for (const file of ["docs/decisions/1.md", "source/guides/cli.md", "source/design/index.md"])
    writeFileSync(path.join(root.path, file), "");
  const hrefs = [
    "../decisions/1.md",
    "cli.md#run",
    "../design/README.md",
    "gone.md",
    "https://example.org",
    "#a",
  ];
  const children = hrefs.flatMap((href) => [open(href), close()]);
  const markdown = {
    core: {
      ruler: {
        push: (_name: string, rule: (state: object) => void) =>
          rule({ tokens: [{ ...open(""), children }], env: { relativePath: "guides/a.md" } }),
      },
    },
  };
  hintAtFilesOutside(markdown as never, { source, docs });
  expect(children.map((token) => token.content || token.attrGet("href"))).toEqual([
    '<span class="in-repository" title="docs/decisions/1.md">',
    "</span>",
    "cli.md#run",
    "",
    "../design/index.md",
    "",
    "gone.md",
    "",
    "https://example.org",
    "",
    "#a",
    "",
  ]);
});
